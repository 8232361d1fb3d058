-- expect: tests/fail/forbid_rule.lua:4: forbid: wants name = value pairs, then why = "..."
space "forbid_rule" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { "a == 1", why = "x" }
