-- expect: tests/fail/expr_empty.lua:4: let 'a': unexpected end in '' at column 1
space "expr_empty" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" ""
