-- words | loads | 3: a space file cannot use 'require'
space "reach_require" { format = 1, template = "simt.cu" }
require("fail").near = nil
