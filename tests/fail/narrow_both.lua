-- expect: tests/fail/narrow_both.lua:3: narrow 'tile_m': has both a range and a list of values
space "narrow_both" { format = 1, base = "simt" }
narrow "tile_m" { 64, range = {1, 2} }
