-- expect: tests/fail/expr_idiom_open.lua:4: let 'a': 'M > 1 and 2' lacks its 'or': it would be false in 'M > 1 and 2' at column 1
space "expr_idiom_open" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "M > 1 and 2"
