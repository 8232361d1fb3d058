-- SIGKILL at 100 random moments of a bench: it loses at most the measurement in flight, and goes on. A slow machine
-- sees fewer of them.

local kill = require "kill_kit"
local sh = require "tests_sh"

local SECONDS = 70

return {
  { name = "kills of a bench lose at most the measurement in flight each", run = function()
    local began = host.now()
    local said, kills = kill.run(sh.tmpdir "kill", 100, math.random, SECONDS)
    host.out(string.format("%s in %.0f s\n", said, host.now() - began))
    assert(kills >= 20, "too few")
  end },
}
