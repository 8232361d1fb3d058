-- words | loads | 3: a space file cannot use 'getmetatable'
space "reach_getmetatable" { format = 1, template = "simt.cu" }
local m = getmetatable({})
