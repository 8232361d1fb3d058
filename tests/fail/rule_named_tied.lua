-- expect: tests/fail/rule_named_tied.lua:4: must 'w': the name 'w' is already declared at tests/fail/rule_named_tied.lua:3
space "rule_named_tied" { format = 1, template = "simt.cu" }
param "w" { {1, 2}, as = {"wm", "wn"} }
must "w" { "wm == 1", why = "x" }
