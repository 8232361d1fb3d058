-- reserved | loads | 3: param 'math': the name 'math' is taken: it belongs to the language
space "name_library" { format = 1, template = "simt.cu" }
param "math" { 1 }
