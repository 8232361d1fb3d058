-- words | loads | 3: a space file cannot use 'package'
space "reach_package" { format = 1, template = "simt.cu" }
local path = package.path
