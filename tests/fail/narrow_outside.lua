-- expect: tests/fail/narrow_outside.lua:3: narrow 'tile_m': has no value 100; it has 16, 32, 64, 128
space "narrow_outside" { format = 1, base = "simt" }
narrow "tile_m" { 64, 100 }
