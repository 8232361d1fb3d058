-- expect: tests/fail/extend_none.lua:3: extend 'tile_m': has no values
space "extend_none" { format = 1, base = "simt" }
extend "tile_m" { default = 64 }
