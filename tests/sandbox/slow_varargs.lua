-- clock | time | 4: more than 1 s: does it end?
space "slow_varargs" { format = 1, template = "simt.cu" }
local function grow(n, ...)
  if n > 0 then return grow(n - 1, n, ...) end
  return ...
end
for i = 1, 1 << 30 do local x = { grow(20000 + i % 2) } end
