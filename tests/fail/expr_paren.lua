-- expect: tests/fail/expr_paren.lua:4: let 'a': unexpected end in '(M + 1' at column 7
space "expr_paren" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "(M + 1"
