-- expect: tests/fail/expr_two.lua:4: let 'a': unexpected 'N' in 'M N' at column 3
space "expr_two" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "M N"
