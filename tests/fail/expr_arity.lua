-- expect: tests/fail/expr_arity.lua:4: let 'a': 'ceildiv' takes 2 values, not 1 in 'ceildiv(M)' at column 1
space "expr_arity" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "ceildiv(M)"
