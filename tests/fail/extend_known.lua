-- expect: tests/fail/extend_known.lua:3: extend 'tile_m': has the value 64 already, from spaces/simt.lua:7
space "extend_known" { format = 1, base = "simt" }
extend "tile_m" { 256, 64 }
