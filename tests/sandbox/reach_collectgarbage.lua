-- words | loads | 3: a space file cannot use 'collectgarbage'
space "reach_collectgarbage" { format = 1, template = "simt.cu" }
collectgarbage("stop")
