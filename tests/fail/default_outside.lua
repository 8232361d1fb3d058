-- expect: tests/fail/default_outside.lua:4: param 'a': default 1 is not among its values
space "default_outside" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 2, 4, default = 1 }
