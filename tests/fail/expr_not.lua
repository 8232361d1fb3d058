-- expect: tests/fail/expr_not.lua:4: must 'r': 'not' wants a boolean, 'M' is an integer in 'not M' at column 5
space "expr_not" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "not M", why = "x" }
