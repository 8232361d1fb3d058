-- expect: tests/fail/extend_unknown.lua:3: extend 'tile_mm': no parameter 'tile_mm' is inherited (did you mean 'tile_m'?)
space "extend_unknown" { format = 1, base = "simt" }
extend "tile_mm" { 4 }
