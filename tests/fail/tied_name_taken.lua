-- expect: tests/fail/tied_name_taken.lua:4: param 'w': the name 'w' is already declared at tests/fail/tied_name_taken.lua:5
space "tied_name_taken" { format = 1, template = "simt.cu" }
param "a" { 1 }
param "w" { {1, 2}, as = {"a2", "wn"} }
param "v" { {1, 2}, as = {"w", "vn"} }
