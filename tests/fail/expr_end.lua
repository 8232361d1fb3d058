-- expect: tests/fail/expr_end.lua:4: let 'a': unexpected end in 'M +' at column 4
space "expr_end" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "M +"
