-- nvcc_cheats_test.lua -- every kernel of tests/cheats is one that nvcc takes, and what a cubin can show of it is found
-- there too, whatever its text says. Needs the CUDA toolkit, no GPU: a part of `make check`.

local build = require "build"
local device = require "device"
local rules = require "rules"
local sh = require "tests_sh"

local kit = dofile(host.root .. "/tests/plant_kit.lua")
local list = dofile(host.root .. "/tests/cheats/list.lua")

-- What the cubin of a cheat is refused for.
local CUBIN = {
  ["works on the first call only"] = "'.nv.global'", ["a variable in the kernel"] = "'.nv.global'",
  ["result cached by its pointer"] = "'.nv.global'", ["reads the clock"] = "%clock",
  ["reads the global timer"] = "%globaltimer", ["asm spelt in halves"] = "%globaltimer",
  ["asm behind a raw string"] = "%globaltimer", ["printf"] = "'vprintf'", ["malloc"] = "'malloc'",
}
-- What build.lua itself refuses.
local NO_CUBIN = { ["a second kernel"] = true, ["another name"] = true }

local quiet = { step = function() end, done = function() end, clear = function() end }

local function tasks_of(dir)
  local set = { name = "cheats", bases = list.bases, plants = list.cheats, work = dir }
  function set.plant(text, desc, cheat) return kit.edited(set, text, desc, cheat) end
  return kit.tasks(set, {})
end

local function judge(t, built)
  if NO_CUBIN[t.name] then
    assert(built.error and built.error:find("the launcher wants 'loom_kernel'", 1, true), t.name)
    return
  end
  assert(built.cubin, t.name .. ": " .. tostring(built.error))
  local found = table.concat(rules.cubin(assert(host.read(built.cubin))), "; ")
  local wanted = CUBIN[t.name]
  assert(wanted and found:find(wanted, 1, true) or not wanted and found == "", t.name .. ": " .. found)
end

local function all()
  if sh.run({ "sh", "-c", "command -v nvcc || test -x /usr/local/cuda/bin/nvcc" }).code ~= 0 then
    skip("no nvcc on this machine")
  end
  local dir = sh.tmpdir("nvcc cheats")
  local tasks, kernels = tasks_of(dir), {}
  for i, t in ipairs(tasks) do
    kernels[i] = { text = t.text, desc = t.desc, key = t.key, stem = t.name, cu = t.dir .. "/k.cu", json = t.dir .. "/k.json" }
  end
  assert(build.run(kernels, { device = device.get("h200"), progress = quiet }))
  for i, t in ipairs(tasks) do judge(t, kernels[i].built) end
  sh.remove(dir)
end

return { { name = "every cheat compiles, and its cubin shows what it can", run = all } }
