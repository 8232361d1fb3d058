-- expect: tests/fail/forbid_unknown.lua:4: forbid 'forbid-1': unknown name 'tile_n' (did you mean 'tile_m'?)
space "forbid_unknown" { format = 1, template = "simt.cu" }
param "tile_m" { 1, 2 }
forbid { tile_n = 1, why = "x" }
