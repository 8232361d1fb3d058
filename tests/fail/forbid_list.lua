-- expect: tests/fail/forbid_list.lua:4: forbid 'forbid-1': 'a' wants one value
space "forbid_list" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
forbid { a = {1, 2}, why = "x" }
