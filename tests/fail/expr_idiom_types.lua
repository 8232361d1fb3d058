-- expect: tests/fail/expr_idiom_types.lua:4: let 'a': 'or' between an integer and a string in 'M > 1 and 2 or 'two'' at column 1
space "expr_idiom_types" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "M > 1 and 2 or 'two'"
