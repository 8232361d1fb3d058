-- value | loads | 3: param 'x': value 'a\0b' has other characters than letters, digits, '_', '.', '+', '-'
space "value_nul" { format = 1, template = "simt.cu" }
param "x" { "a\0b" }
