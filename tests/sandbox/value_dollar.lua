-- value | loads | 3: param 'x': value '$(host)' has other characters than letters, digits, '_', '.', '+', '-'
space "value_dollar" { format = 1, template = "simt.cu" }
param "x" { "$(host)" }
