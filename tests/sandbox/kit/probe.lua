-- probe: loads one space file and says what came of it: a line "loads", "refused" or "fault", a line with
-- the seconds of the processor and the MiB it took, then the message. Run by tests/sandbox_test.lua as
-- loom --script probe.lua FILE, in the folder of the lua/ that is on trial.

require "strict"

local fail = require "fail"
local space = require "space"

local function seconds()
  local ticks, fields = 0, assert(host.read "/proc/self/stat"):match("%) (.*)$")
  local n = 0
  for field in fields:gmatch("%S+") do
    n = n + 1
    if n == 12 or n == 13 then ticks = ticks + tonumber(field) end -- utime, stime
  end
  return ticks / 100
end

local function peak()
  return tonumber(assert(host.read "/proc/self/status"):match("VmHWM:%s*(%d+)")) / 1024
end

local path = ...
local ok, result = pcall(space.load, path)
local kind = ok and "loads" or fail.text(result) and "refused" or "fault"
local took, mib = seconds(), peak()
host.out(string.format("%s\n%.2f %.0f\n%s", kind, took, mib, ok and "" or tostring(result)))
