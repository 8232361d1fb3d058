-- expect: tests/fail/closed_string.lua:4: a space file cannot use 'string'
space "closed_string" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local s = string.rep("x", 10)
