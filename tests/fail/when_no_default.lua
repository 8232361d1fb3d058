-- expect: tests/fail/when_no_default.lua:4: param 'a': has 'when' and no 'default'
space "when_no_default" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, when = "M > 1" }
