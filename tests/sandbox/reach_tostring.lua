-- words | loads | 3: a space file cannot use 'tostring'
space "reach_tostring" { format = 1, template = "simt.cu" }
local address = tostring({})
