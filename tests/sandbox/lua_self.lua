-- lua | - | 5: param 'x': range wants {low, high} or {low, high, step}
space "lua_self" { format = 1, template = "simt.cu" }
local t = { 1, 2 }
t.range, t[1] = t, t
param "x" { range = t }
