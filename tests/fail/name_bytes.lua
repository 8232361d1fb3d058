-- expect: tests/fail/name_bytes.lua:3: param: '\233\155' is not a name of letters, digits and '_'
space "name_bytes" { format = 1, template = "simt.cu" }
param "\xe9\x9b" { 1 }
