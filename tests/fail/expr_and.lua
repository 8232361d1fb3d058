-- expect: tests/fail/expr_and.lua:4: must 'r': 'and' wants a boolean, 'M' is an integer in 'M and N > 1' at column 1
space "expr_and" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "M and N > 1", why = "x" }
