-- expect: tests/fail/param_twice.lua:6: param 'a': already declared at line 4
space "param_twice" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1 }

param "a" { 2 }
