-- words | loads | 3: a space file cannot use 'string'
space "reach_string" { format = 1, template = "simt.cu" }
local s = string.rep("x", 100)
