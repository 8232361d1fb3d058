-- value | loads | 3: param 'w': value '\10' has other characters than letters, digits, '_', '.', '+', '-'
space "value_tied" { format = 1, template = "simt.cu" }
param "w" { { 1, "\n" }, as = { "a", "b" } }
