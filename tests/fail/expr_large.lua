-- expect: tests/fail/expr_large.lua:4: let 'a': '9223372036854775808' does not fit into 64 bits in '9223372036854775808' at column 1
space "expr_large" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "9223372036854775808"
