-- expect: tests/fail/extend_twice.lua:3: extend 'tile_m': value 256 stands twice
space "extend_twice" { format = 1, base = "simt" }
extend "tile_m" { 256, 256 }
