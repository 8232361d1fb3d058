-- expect: tests/fail/forbid_part.lua:4: forbid 'forbid-1': 'w' wants {wm, wn}
space "forbid_part" { format = 1, template = "simt.cu" }
param "w" { {1, 2}, as = {"wm", "wn"} }
forbid { w = 1, why = "x" }
