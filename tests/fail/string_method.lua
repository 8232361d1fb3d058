-- expect: tests/fail/string_method.lua:4: attempt to index a string value (constant 'x')
space "string_method" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local s = ("x"):rep(1000000000)
