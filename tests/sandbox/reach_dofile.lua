-- words | loads | 3: a space file cannot use 'dofile'
space "reach_dofile" { format = 1, template = "simt.cu" }
local f = dofile
