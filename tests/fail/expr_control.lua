-- expect: tests/fail/expr_control.lua:3: let 'a': the expression has a control character
space "expr_control" { format = 1, template = "simt.cu" }
let "a" "1 + \0012"
