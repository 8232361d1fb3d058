-- words | loads | 3: a space file cannot use 'load'
space "reach_load" { format = 1, template = "simt.cu" }
local n = load("return 1")()
