-- words | loads | 3: a space file cannot use 'setmetatable'
space "reach_setmetatable" { format = 1, template = "simt.cu" }
local t = setmetatable({}, { __gc = function() while false do end end })
