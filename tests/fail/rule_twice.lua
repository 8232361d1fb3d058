-- expect: tests/fail/rule_twice.lua:5: prefer 'r': already declared at line 4
space "rule_twice" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "M > 0", why = "x" }
prefer "r" { "M > 1", why = "y" }
