-- expect: tests/fail/given_never_reversed.lua:4: let 'r': 'acc' is never 'f64': it is one of f32, f16
space "given_never_reversed" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "r" "'f64' ~= acc"
