-- expect: tests/fail/name_number.lua:4: param: 12 is not a name of letters, digits and '_'
space "name_number" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param(12) { 1 }
