-- words | fault | 3: a space file cannot use 'error'
space "reach_error" { format = 1, template = "simt.cu" }
error({ user = "no place", code = 0 })
