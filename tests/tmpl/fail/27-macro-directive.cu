//@ local function f(x)
//@   local y = x.a
//@ end
more
//@ f(nil)
//@ f(1)
