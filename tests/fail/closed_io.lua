-- expect: tests/fail/closed_io.lua:4: a space file cannot use 'io'
space "closed_io" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local f = io.open("/etc/passwd")
