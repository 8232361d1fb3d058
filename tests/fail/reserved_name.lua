-- expect: tests/fail/reserved_name.lua:4: param 'key': the name 'key' is taken: it belongs to the language
space "reserved_name" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "key" { 1 }
