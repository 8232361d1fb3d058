-- expect: tests/fail/overflow_stack.lua:5: stack overflow
space "overflow_stack" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local function f(n)
  return 1 + f(n + 1)
end
f(1)
