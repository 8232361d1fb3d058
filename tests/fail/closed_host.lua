-- expect: tests/fail/closed_host.lua:4: a space file cannot use 'host'
space "closed_host" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
host.remove("x")
