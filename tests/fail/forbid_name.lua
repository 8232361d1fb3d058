-- expect: tests/fail/forbid_name.lua:4: must 'forbid-1': the name 'forbid-1' is taken: forbid statements are counted so
space "forbid_name" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
must "forbid-1" { "a == 1", why = "x" }
