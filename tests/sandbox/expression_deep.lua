-- depth | fault | 4: let 'x': more than 64 levels in '...
space "expression_deep" { format = 1, template = "simt.cu" }
local s = '1' for _ = 1, 300 do s = '(' .. s .. ')+1' end
let 'x' (s)
