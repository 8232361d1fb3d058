-- expect: tests/fail/param_named_rule.lua:4: must 'r': the name 'r' is already declared at tests/fail/param_named_rule.lua:5
space "param_named_rule" { format = 1, base = "simt" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "M > 0", why = "x" }
let "r" "1"
