a value with line ends keeps the map right
$("one\ntwo\n")three
$n
//@ do return end
never reached
