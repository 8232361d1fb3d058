-- words | loads | 3: a space file cannot use 'debug'
space "reach_debug" { format = 1, template = "simt.cu" }
debug.getregistry().broken = true
