-- value | loads | 3: param 'x': value 'a b' has other characters than letters, digits, '_', '.', '+', '-'
space "value_blank" { format = 1, template = "simt.cu" }
param "x" { "a b" }
