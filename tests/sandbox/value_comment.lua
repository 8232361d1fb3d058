-- value | loads | 3: param 'x': value '*/' has other characters than letters, digits, '_', '.', '+', '-'
space "value_comment" { format = 1, template = "simt.cu" }
param "x" { "*/" }
