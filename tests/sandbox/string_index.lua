-- methods | loads | 3: attempt to index a string value (constant 'x')
space "string_index" { format = 1, template = "simt.cu" }
local f = ("x").len
