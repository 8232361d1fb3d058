-- expect: tests/fail/when_itself.lua:4: param 'a': 'when' uses 'a', which is not known before this parameter
space "when_itself" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, default = 1, when = "a > 1" }
