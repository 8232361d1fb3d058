-- expect: tests/fail/expr_excerpt.lua:4: let 'a': unexpected ')' in '..., first, first, first, first, first, first, first, frist) + )' at column 434
space "expr_excerpt" { format = 1, template = "simt.cu" }
param "first" { 1 }
let "a" "max(first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, first, frist) + )"
