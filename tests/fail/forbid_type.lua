-- expect: tests/fail/forbid_type.lua:4: forbid 'forbid-1': 'a' is an integer, not 'one'
space "forbid_type" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { a = "one", why = "x" }
