-- expect: tests/fail/float_value.lua:4: param 'a': 2.0 is a float; values are integers or strings
space "float_value" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2.0 }
