-- expect: tests/fail/expr_function.lua:4: let 'a': unknown function 'pow2' in 'pow2(M)' at column 1
space "expr_function" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "pow2(M)"
