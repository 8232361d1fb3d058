//@ local function f(x)
text
  q = $x;
//@ end
more
//@ f(nil)
