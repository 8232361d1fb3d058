-- expect: tests/fail/narrow_dropped.lua:4: narrow 'tile_m': 'tile_m' is gone since line 3
space "narrow_dropped" { format = 1, base = "simt" }
drop "tile_m"
narrow "tile_m" { 64 }
