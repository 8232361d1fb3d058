-- memory | memory | 5: more than 64 MiB of memory
space "memory_concat" { format = 1, template = "simt.cu" }
local s = 'x'
for _ = 1, 23 do s = s .. s end
local all = s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s .. s
