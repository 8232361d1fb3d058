-- expect: tests/fail/tied_keyword.lua:3: param 'end': the name 'end' is taken: it belongs to the language
space "tied_keyword" { format = 1, template = "simt.cu" }
param "end" { {1, 2}, as = {"wm", "wn"} }
