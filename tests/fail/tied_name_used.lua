-- expect: tests/fail/tied_name_used.lua:5: let 't': 'w' is the name of tied parameters: use 'wm' or 'wn'
space "tied_name_used" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "w" { {2, 2}, as = {"wm", "wn"} }
let "t" "32 * w"
