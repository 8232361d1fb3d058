-- expect: tests/fail/let_takes_param.lua:5: let 'a': already declared at line 4
space "let_takes_param" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1 }
let "a" "2"
