-- expect: tests/fail/expr_add_string.lua:4: let 'a': '+' wants an integer, 'layout' is a string in 'layout + 1' at column 1
space "expr_add_string" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "layout + 1"
