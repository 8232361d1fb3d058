-- words | loads | 3: a space file cannot use 'host'
space "reach_host" { format = 1, template = "simt.cu" }
local text = host.read(host.exe)
