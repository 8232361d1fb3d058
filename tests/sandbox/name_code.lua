-- name | loads | 3: param: 'x; int y' is not a name of letters, digits and '_'
space "name_code" { format = 1, template = "simt.cu" }
param "x; int y" { 1 }
