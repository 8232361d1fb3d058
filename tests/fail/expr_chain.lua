-- expect: tests/fail/expr_chain.lua:4: must 'r': '<' between a boolean and an integer in '1 < M < 10' at column 1
space "expr_chain" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "1 < M < 10", why = "x" }
