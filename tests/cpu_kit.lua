-- cpu_kit.lua -- what the tests of the CPU device's Lua side share: tests/fake-cpu in the place of g++ and of
-- loom-cpu, and calls whose output is caught.

local device = require "device"
local keys = require "key_kit"
local sh = require "tests_sh"

local kit = { fake = host.root .. "/tests/fake-cpu" }

kit.hopper = keys.key "hopper:tile_m=128,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=1,stages=4"

-- Knobs of a run with the stand-ins told `words`; files lie in `dir`.
function kit.opt(dir, words, more)
  local opt = { device = device.get "h200", out = dir, cxx = kit.fake, cpu_worker = kit.fake, timeout = 5, jobs = 2,
    problems = {}, layout = { "nn", "tn" }, dtype = "f16", acc = "f32", given = {},
    env = { "LOOM_FAKE_CPU=" .. (words or ""), "LOOM_FAKE_CPU_COUNT=" .. dir .. "/count" } }
  for name, value in pairs(more or {}) do opt[name] = value end
  return opt
end

-- f(...) with stdout and stderr caught: its result, what it said, its notes.
function kit.caught(f, ...)
  local out, err, said, notes = host.out, host.err, {}, {}
  host.out = function(text) said[#said + 1] = text end
  host.err = function(text) notes[#notes + 1] = text end
  local ok, result = pcall(f, ...)
  host.out, host.err = out, err
  if not ok then error(result, 0) end
  return result, table.concat(said), table.concat(notes)
end

-- How often the stand-ins wrote a line that starts with `what`.
function kit.count(dir, what)
  local n = 0
  for line in (host.read(dir .. "/count") or ""):gmatch("[^\n]+") do
    if line:sub(1, #what) == what then n = n + 1 end
  end
  return n
end

-- Is the real CPU device here? Tests that want it are skipped without.
function kit.real()
  local path = host.root .. "/out/build/loom-cpu"
  return host.stat(path) and sh.run({ "sh", "-c", "command -v g++" }).code == 0 and path or nil
end

return kit
