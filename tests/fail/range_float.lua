-- expect: tests/fail/range_float.lua:4: param 'a': range wants integers, not 4.5
space "range_float" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { range = {2, 4.5} }
