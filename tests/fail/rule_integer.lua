-- expect: tests/fail/rule_integer.lua:4: must 'fits': 'M + 1' is an integer, not a boolean
space "rule_integer" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "fits" { "M + 1", why = "x" }
