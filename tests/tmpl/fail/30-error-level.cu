//@ local function f() error("wrong use", 2) end
a
//@ f()
