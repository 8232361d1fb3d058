-- expect: tests/fail/tied_types.lua:4: param 'w': 'wm' mixes integers and strings
space "tied_types" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
param "w" { {2, 2}, {"a", 2}, as = {"wm", "wn"} }
