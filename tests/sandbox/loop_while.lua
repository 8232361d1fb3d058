-- hook | time | 3: more than 10000000 instructions: does it end?
space "loop_while" { format = 1, template = "simt.cu" }
while true do end
