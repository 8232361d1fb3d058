-- expect: tests/fail/rule_named_let.lua:3: prefer 'threads': the name 'threads' is already declared at spaces/simt.lua:13
space "rule_named_let" { format = 1, base = "simt" }
prefer "threads" { "threads == 64", why = "x" }
