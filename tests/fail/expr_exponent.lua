-- expect: tests/fail/expr_exponent.lua:4: let 'a': '1e3' is not an integer in '1e3' at column 1
space "expr_exponent" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "1e3"
