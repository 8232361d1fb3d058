-- plain | fault | 4: attempt to call a nil value (field '\27[2J\10gone')
space "message_escape" { format = 1, template = "simt.cu" }
local t = {}
t["\27[2J\ngone"]()
