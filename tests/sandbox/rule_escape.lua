-- control | loads | 3: must 'r': the expression has a control character
space "rule_escape" { format = 1, template = "simt.cu" }
must "r" { "1 > 0 or '\27[2J' == 'x'", why = "rule" }
