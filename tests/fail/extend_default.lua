-- expect: tests/fail/extend_default.lua:3: extend 'tile_m': default 512 is not among its values
space "extend_default" { format = 1, base = "simt" }
extend "tile_m" { 256, default = 512 }
