-- words | loads | 3: a space file cannot use 'rawset'
space "reach_rawset" { format = 1, template = "simt.cu" }
rawset(_ENV, "ipairs", 1)
