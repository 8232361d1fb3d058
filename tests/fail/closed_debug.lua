-- expect: tests/fail/closed_debug.lua:4: a space file cannot use 'debug'
space "closed_debug" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
debug.getinfo(1)
