a
//@ while true do