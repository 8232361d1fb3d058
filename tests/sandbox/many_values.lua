-- values | loads | 3: param 'x': range has more than 65536 values
space "many_values" { format = 1, template = "simt.cu" }
param "x" { range = { 0, 70000 } }
