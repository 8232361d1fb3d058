-- expect: tests/fail/range_step.lua:4: param 'a': range has step 0
space "range_step" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { range = {2, 4, 0} }
