-- expect: tests/fail/float_quotient.lua:5: param 'a': 64.0 is a float; values are integers or strings
space "float_quotient" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local n = 128
param "a" { n / 2 }
