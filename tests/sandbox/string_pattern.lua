-- methods | time | 4: attempt to index a string value (local 's')
space "string_pattern" { format = 1, template = "simt.cu" }
local s = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
local x = s:find(".-.-.-.-.-.-.-.-.-.-.-.-.-.-.-b")
