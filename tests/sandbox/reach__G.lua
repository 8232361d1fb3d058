-- words | loads | 3: a space file cannot use '_G'
space "reach__G" { format = 1, template = "simt.cu" }
local g = _G._VERSION
