-- methods | loads | 3: attempt to index a string value (constant '%5d')
space "string_format" { format = 1, template = "simt.cu" }
local s = ("%5d").format("%d", 7)
