// A Lua function whose body holds text is a macro.
//@ local function load(slot, k)
  a[$slot] = A[$k];
  b[$slot] = B[$k];
//@ end
//@ local function twice(f, ...)
//@   for _ = 1, 2 do f(...) end
//@ end
//@ load(0, "k + 1")
between
//@ twice(load, n, n * n)
//@ local function tree(d)
//@   if d == 0 then return end
//@   tree(d - 1)
  depth $d
//@   tree(d - 1)
//@ end
//@ tree(3)
