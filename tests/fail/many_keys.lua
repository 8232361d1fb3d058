-- expect: tests/fail/many_keys.lua:5: param 'a': more than 1000 keys in one table
space "many_keys" { format = 1, template = "simt.cu" }
local t = { 1 }
for i = 1, 2000 do t["k" .. i] = 1 end
param "a" (t)
