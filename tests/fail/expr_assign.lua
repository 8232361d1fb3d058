-- expect: tests/fail/expr_assign.lua:4: must 'r': unexpected '=': write '==' in 'M = 1' at column 3
space "expr_assign" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "M = 1", why = "x" }
