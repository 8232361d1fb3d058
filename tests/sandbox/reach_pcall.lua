-- words | time | 3: a space file cannot use 'pcall'
space "reach_pcall" { format = 1, template = "simt.cu" }
local function forever() while true do pcall(forever) end end
forever()
