-- expect: tests/fail/seed_list.lua:4: seed: wants name = value pairs
space "seed_list" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
seed { 1, 2 }
