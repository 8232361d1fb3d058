-- expect: tests/fail/let_number.lua:4: let 'a': wants an expression in quotes, not 12
space "let_number" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" (12)
