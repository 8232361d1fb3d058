-- expect: tests/fail/given_never.lua:4: must 'r': 'layout' is never 'nm': it is one of nn, tn, nt, tt
space "given_never" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "r" { "layout == 'nm'", why = "x" }
