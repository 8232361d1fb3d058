-- expect: tests/fail/no_body.lua:4: param 'a': wants { ... } after its name
space "no_body" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a"
let "b" "1"
