-- expect: tests/fail/when_type.lua:4: param 'a': 'M + 1' is an integer, not a boolean
space "when_type" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, default = 1, when = "M + 1" }
