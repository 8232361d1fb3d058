-- name | loads | 3: must: 'r\10x' is not a name of letters, digits and '_' or '-'
space "name_rule" { format = 1, template = "simt.cu" }
must "r\nx" { "1 > 0", why = "rule" }
