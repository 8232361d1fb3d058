-- lua | - | 3: stack overflow
space "lua_recursion" { format = 1, template = "simt.cu" }
local function f(n) return 1 + f(n + 1) end f(1)
