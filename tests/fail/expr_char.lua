-- expect: tests/fail/expr_char.lua:4: let 'a': unexpected '&': write 'and' in 'M & 1' at column 3
space "expr_char" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "M & 1"
