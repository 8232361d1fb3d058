-- plain | fault | 3: unknown statement '\27]0;title\7'
space "message_name" { format = 1, template = "simt.cu" }
local x = _ENV["\27]0;title\7"]
