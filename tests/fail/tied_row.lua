-- expect: tests/fail/tied_row.lua:4: param 'w': each value wants {wm, wn}
space "tied_row" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "w" { {2, 2}, {4}, as = {"wm", "wn"} }
