-- lua | - | 4: attempt to index a nil value (upvalue '_ENV')
space "lua_env" { format = 1, template = "simt.cu" }
_ENV = nil
param "x" { 1 }
