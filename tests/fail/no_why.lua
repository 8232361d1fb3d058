-- expect: tests/fail/no_why.lua:4: must 'fits': lacks a 'why'
space "no_why" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
must "fits" { "M > 0" }
