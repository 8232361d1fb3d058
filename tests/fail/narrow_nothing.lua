-- expect: tests/fail/narrow_nothing.lua:3: narrow 'tile_m': keeps none of its values 16, 32, 64, 128
space "narrow_nothing" { format = 1, base = "simt" }
narrow "tile_m" { range = {65, 127} }
