-- expect: tests/fail/hole.lua:4: param 'a': index 7 in a list of 2
space "hole" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, [7] = 3 }
