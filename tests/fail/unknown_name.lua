-- expect: tests/fail/unknown_name.lua:5: must 'fits': unknown name 'tile_q' (did you mean 'tile_n'?)
space "unknown_name" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "tile_n" { 64 }
must "fits" { "tile_q <= 64", why = "no" }
