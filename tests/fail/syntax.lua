-- expect: tests/fail/syntax.lua:5: '}' expected (to close '{' at line 4) near 'let'
space "syntax" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2
let "b" "a"
