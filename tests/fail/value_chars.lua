-- expect: tests/fail/value_chars.lua:4: param 'a': value 'x,y=1' has other characters than letters, digits, '_', '.', '+', '-'
space "value_chars" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "a" { "x,y=1" }
