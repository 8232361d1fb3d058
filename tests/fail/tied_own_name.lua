-- expect: tests/fail/tied_own_name.lua:3: param 'w': one of its tied names is its own
space "tied_own_name" { format = 1, template = "simt.cu" }
param "w" { {1, 2}, as = {"w", "wn"} }
