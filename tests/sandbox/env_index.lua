-- env-keys | fault | 3: the globals have no table in them
space "env_index" { format = 1, template = "simt.cu" }
local x = _ENV[{}]
