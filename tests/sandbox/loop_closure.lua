-- hook | time | 3: more than 10000000 instructions: does it end?
space "loop_closure" { format = 1, template = "simt.cu" }
for x in function() return 1 end do local y = x end
