-- expect: tests/fail/param_key.lua:4: param 'a': unknown key 'defualt' (did you mean 'default'?)
space "param_key" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, defualt = 1 }
