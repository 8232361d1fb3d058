-- clock | time | 7: more than 1 s: does it end?
space "slow_compare" { format = 1, template = "simt.cu" }
local s = '0'
for _ = 1, 24 do s = s .. s end
local a, b = s .. '1', s .. '2'
local n = 0
for i = 1, 1 << 30 do n = a < b and i or 0 end
