-- hook | time | 4: more than 10000000 instructions: does it end?
space "loop_ipairs" { format = 1, template = "simt.cu" }
local list = { 1, 2, 3 }
while true do for _, x in ipairs(list) do list[1] = x end end
