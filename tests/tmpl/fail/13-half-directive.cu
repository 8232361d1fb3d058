a
//@ local x =
b
