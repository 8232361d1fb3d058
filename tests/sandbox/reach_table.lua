-- words | loads | 3: a space file cannot use 'table'
space "reach_table" { format = 1, template = "simt.cu" }
local s = table.concat({}, ",")
