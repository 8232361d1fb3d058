a
//@ local s = "abc
b
