-- expect: tests/fail/forbid_all.lua:4: forbid: names no parameter: it would forbid all
space "forbid_all" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { why = "all of it" }
