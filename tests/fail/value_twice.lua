-- expect: tests/fail/value_twice.lua:4: param 'a': value 1 stands twice
space "value_twice" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, 1 }
