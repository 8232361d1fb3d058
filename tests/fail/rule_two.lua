-- expect: tests/fail/rule_two.lua:4: must 'fits': wants one expression in quotes, then why = "..."
space "rule_two" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "fits" { "M > 0", "N > 0", why = "x" }
