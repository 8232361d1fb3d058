-- expect: tests/fail/seed_half_tied.lua:5: seed: 'wm', 'wn' are tied: give all of them or none
space "seed_half_tied" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "w" { {2, 2}, as = {"wm", "wn"} }
seed { wm = 2 }
