-- expect: tests/fail/drop_forbid.lua:3: drop 'forbid-1': a forbid has no name to drop it by: edit the base
space "drop_forbid" { format = 1, base = "simt" }
drop "forbid-1"
