-- memory | memory | 6: more than 64 MiB of memory
space "memory_keys" { format = 1, template = "simt.cu" }
local t, s = {}, 'x'
for i = 1, 1 << 20 do
  if i < 17 then s = s .. s end
  t[s .. i] = i
end
