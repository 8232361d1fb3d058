-- expect: tests/fail/range_huge.lua:4: param 'a': range has more than 65536 values
space "range_huge" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { range = {-9223372036854775807, 9223372036854775807} }
