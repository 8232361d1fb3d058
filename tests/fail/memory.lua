-- expect: tests/fail/memory.lua:6: more than 64 MiB of memory
space "memory" { format = 1, template = "simt.cu" }
given { "M", "N", "K", "layout", "dtype", "acc" }
local s = "0123456789abcdef"
for _ = 1, 1 << 40 do
  s = s .. s
end
