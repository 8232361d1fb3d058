-- clock | time | 5: more than 1 s: does it end?
space "slow_concat" { format = 1, template = "simt.cu" }
local s = '0'
for _ = 1, 24 do s = s .. s end
for i = 1, 1 << 30 do local x = s .. i end
