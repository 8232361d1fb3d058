-- expect: tests/fail/seed_name.lua:5: seed: unknown parameter 'tile_n' (did you mean 'tile_m'?)
space "seed_name" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "tile_m" { 64 }
seed { tile_n = 64 }
