-- methods | loads | 3: attempt to perform arithmetic on a string value (constant '10')
space "string_arithmetic" { format = 1, template = "simt.cu" }
local n = "10" + 1
