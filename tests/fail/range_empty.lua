-- expect: tests/fail/range_empty.lua:4: param 'a': range {4, 2} is empty
space "range_empty" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { range = {4, 2} }
