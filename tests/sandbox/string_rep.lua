-- methods | loads | 3: attempt to index a string value (constant 'x')
space "string_rep" { format = 1, template = "simt.cu" }
local s = ("x"):rep(100)
