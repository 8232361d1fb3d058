-- expect: tests/fail/seed_value.lua:5: seed: 'tile_m' has no value 65
space "seed_value" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "tile_m" { 64, 128 }
seed { tile_m = 65 }
