-- expect: tests/fail/extend_type.lua:3: extend 'tile_m': 'tile_m' holds integers, not 'large'
space "extend_type" { format = 1, base = "simt" }
extend "tile_m" { "large" }
