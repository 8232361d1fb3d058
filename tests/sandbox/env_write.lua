-- env-keys | fault | 3: the globals take no table
space "env_write" { format = 1, template = "simt.cu" }
_ENV[{}] = 1
