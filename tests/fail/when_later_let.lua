-- expect: tests/fail/when_later_let.lua:4: param 'a': 'when' uses 'twice', which is not known before this parameter
space "when_later_let" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 2, default = 1, when = "twice > 2" }
param "b" { 1, 2 }
let "twice" "2 * b"
