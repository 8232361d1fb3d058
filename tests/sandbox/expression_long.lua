-- prose | loads | 3: let 'x': the expression has 5006 bytes; 4096 are the most
space "expression_long" { format = 1, template = "simt.cu" }
local s = '1' for _ = 1, 2500 do s = s .. ',1' end let 'x' ('min(' .. s .. ')')
