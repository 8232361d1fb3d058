-- hook | time | 4: more than 10000000 instructions: does it end?
space "loop_tail_calls" { format = 1, template = "simt.cu" }
local ping
local function pong(n) return ping(n + 1) end function ping(n) return pong(n - 1) end ping(1)
