-- lua | - | 4: attempt to call a nil value (global 'param')
space "lua_env_local" { format = 1, template = "simt.cu" }
local _ENV = {}
param "x" { 1 }
