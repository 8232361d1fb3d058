-- expressions | loads | 4: let 'x66': more than 262144 bytes of expressions in one file
space "expression_total" { format = 1, template = "simt.cu" }
local s = 'a' for _ = 1, 4000 do s = s .. 'a' end
for i = 1, 80 do let('x' .. i)('"' .. s .. '"') end
