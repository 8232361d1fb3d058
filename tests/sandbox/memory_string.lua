-- memory | memory | 4: more than 64 MiB of memory
space "memory_string" { format = 1, template = "simt.cu" }
local s = 'x'
for _ = 1, 33 do s = s .. s end
