-- expect: tests/fail/narrow_key.lua:3: narrow 'tile_m': unknown key 'when'
space "narrow_key" { format = 1, base = "simt" }
narrow "tile_m" { 64, when = "M > 1" }
