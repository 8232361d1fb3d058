-- expect: tests/fail/range_and_list.lua:4: param 'a': has both a range and a list of values
space "range_and_list" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, range = {2, 4} }
