-- expect: tests/fail/tied_collides.lua:5: param 'w': the name 'wm' is already declared at tests/fail/tied_collides.lua:4
space "tied_collides" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "wm" { 1 }
param "w" { {2, 2}, as = {"wm", "wn"} }
