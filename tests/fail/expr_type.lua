-- expect: tests/fail/expr_type.lua:4: must 'r': '==' between a string and an integer in 'layout == 1' at column 1
space "expr_type" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "layout == 1", why = "x" }
