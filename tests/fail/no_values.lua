-- expect: tests/fail/no_values.lua:4: param 'a': has no values
space "no_values" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { doc = "nothing" }
