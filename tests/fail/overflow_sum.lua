-- expect: tests/fail/overflow_sum.lua:4: let 'a': 9223372036854775807 + 64 does not fit into 64 bits at M=64
space "overflow_sum" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
let "a" "9223372036854775807 + M"
