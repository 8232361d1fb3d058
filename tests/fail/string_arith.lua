-- expect: tests/fail/string_arith.lua:4: attempt to perform arithmetic on a string value (constant '10')
space "string_arith" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local n = "10" + 1
