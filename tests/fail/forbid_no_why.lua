-- expect: tests/fail/forbid_no_why.lua:4: forbid: lacks a 'why'
space "forbid_no_why" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { a = 1 }
