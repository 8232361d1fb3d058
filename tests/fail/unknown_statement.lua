-- expect: tests/fail/unknown_statement.lua:4: unknown statement 'parm' (did you mean 'param'?)
space "unknown_statement" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
parm "a" { 1 }
