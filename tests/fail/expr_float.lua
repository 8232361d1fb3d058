-- expect: tests/fail/expr_float.lua:4: let 'a': '1.5' is not an integer in 'M * 1.5' at column 5
space "expr_float" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "M * 1.5"
