-- Writes tests/gpu/narrow/hopper.lua anew: what tests/narrow_kit.lua makes of spaces/hopper.lua.

local kit = require "narrow_kit"

return {
  { name = "tests/gpu/narrow/hopper.lua is written", run = function() assert(host.write(kit.path, kit.text()) ~= nil) end },
}
