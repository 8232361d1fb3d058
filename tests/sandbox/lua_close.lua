-- lua | - | 3: variable 'x' got a non-closable value
space "lua_close" { format = 1, template = "simt.cu" }
local x <close> = {}
