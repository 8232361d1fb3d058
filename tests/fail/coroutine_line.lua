-- expect: tests/fail/coroutine_line.lua:4: param 'b': 2.5 is a float; values are integers or strings
space "coroutine_line" { format = 1, template = "simt.cu" }
local function add(name, values)
  param(name) (values)
end
add("a", { 1, 2 })
add("b", { 1, 2.5 })
