-- reserved | loads | 3: param 'M': the name 'M' is taken: it belongs to the problem
space "name_problem" { format = 1, template = "simt.cu" }
param "M" { 1 }
