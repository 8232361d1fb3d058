-- value | loads | 3: param 'x': value 'a,tile_m=9' has other characters than letters, digits, '_', '.', '+', '-'
space "value_key" { format = 1, template = "simt.cu" }
param "x" { "a,tile_m=9" }
