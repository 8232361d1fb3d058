-- identifier | loads | 3: param 'w': tied name 'a=b' is not a name of letters, digits and '_'
space "name_tied" { format = 1, template = "simt.cu" }
param "w" { { 1, 2 }, as = { "a=b", "c" } }
