-- expect: tests/fail/forbid_why_type.lua:4: forbid: 'why' wants a string, not 4
space "forbid_why_type" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { a = 1, why = 4 }
