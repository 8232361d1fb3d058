-- hook | time | 3: more than 10000000 instructions: does it end?
space "loop_for" { format = 1, template = "simt.cu" }
for i = 1, 1 << 62 do local x = i end
