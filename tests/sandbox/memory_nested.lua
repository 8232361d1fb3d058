-- memory | memory | 4: more than 64 MiB of memory
space "memory_nested" { format = 1, template = "simt.cu" }
local t, s = {}, 'abcdefgh' for _ = 1, 8 do s = s .. s end
for i = 1, 1 << 30 do t = { t, s .. i } end
