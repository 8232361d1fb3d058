-- expect: tests/fail/when_later.lua:4: param 'a': 'when' uses 'b', which is not known before this parameter
space "when_later" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, default = 1, when = "b > 1" }
param "b" { 1, 2 }
