-- expect: tests/fail/overflow_product.lua:5: let 'sq': 4000000000 * 4000000000 does not fit into 64 bits at a=4000000000
space "overflow_product" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { 1, 4000000000 }
let "sq" "a * a * 2"
