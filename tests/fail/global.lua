-- expect: tests/fail/global.lua:4: 'count' would be global: write 'local count'
space "global" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
count = 3
