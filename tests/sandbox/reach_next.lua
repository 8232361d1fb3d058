-- words | loads | 3: a space file cannot use 'next'
space "reach_next" { format = 1, template = "simt.cu" }
local k = next({ a = 1, b = 2 })
