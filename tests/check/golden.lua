-- All golden kernels (tests/golden_kit.lua) on the CPU device; LIMIT=n for fewer.

local cpu_kit = require "cpu_kit"
local kit = require "golden_kit"
local sh = require "tests_sh"

return {
  { name = "every golden kernel is right in every shape and schedule, and counts what it counted", run = function()
    assert(cpu_kit.real(), "no loom-cpu: `make loom-cpu` builds it")
    kit.check(sh.tmpdir "golden all", nil)
  end },
}
