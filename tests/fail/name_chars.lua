-- expect: tests/fail/name_chars.lua:4: param: 'tile-m' is not a name of letters, digits and '_'
space "name_chars" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "tile-m" { 1 }
