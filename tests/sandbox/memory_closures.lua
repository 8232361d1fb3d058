-- memory | memory | 5: more than 64 MiB of memory
space "memory_closures" { format = 1, template = "simt.cu" }
local last, s = nil, 'x' for _ = 1, 16 do s = s .. s end
for i = 1, 1 << 30 do
  local before, text = last, s .. i
  last = function() return before, text end
end
