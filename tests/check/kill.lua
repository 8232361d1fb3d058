-- SIGKILL at 100 random moments of a bench: it loses at most the measurement in flight, and goes on.

local kill = require "kill_kit"
local sh = require "tests_sh"

return {
  { name = "100 kills of a bench lose at most the measurement in flight each", run = function()
    host.out(kill.run(sh.tmpdir "kill", 100, math.random) .. "\n")
  end },
}
