-- expect: tests/fail/closed_require.lua:4: a space file cannot use 'require'
space "closed_require" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
require "os"
