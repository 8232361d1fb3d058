-- expect: tests/fail/rule_named_param.lua:4: must 'a': the name 'a' is already declared at tests/fail/rule_named_param.lua:3
space "rule_named_param" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
must "a" { "a == 1", why = "x" }
