-- The build of a kernel whose waits give up (templates/lib/loom_stuck.cuh), by nvcc: every kernel of tests/cheats
-- has one; the ordinary build has nothing of it, and would be refused if it had.

local build = require "build"
local cubin = require "cubin"
local device = require "device"
local sh = require "tests_sh"

local kit = dofile(host.root .. "/tests/plant_kit.lua")
local list = dofile(host.root .. "/tests/cheats/list.lua")

local function both_builds()
  local opt = { out = sh.tmpdir "stuck", device = device.get "h200" }
  local kernels = {}
  for i, base in ipairs(list.bases) do
    local k = kit.render(base)
    kernels[i] = { text = k.text, key = k.key, stem = base.name, cu = opt.out .. "/" .. base.name .. ".cu", name = base.name }
  end
  local err = host.err
  host.err = function() end
  local done = build.run(kernels, opt)
  host.err = err
  assert(done)
  for _, kernel in ipairs(kernels) do
    assert(not kernel.built.error, kernel.built.error)
    local path = assert(build.bounded(kernel.built.cubin, opt), kernel.name .. ": no build whose waits give up")
    local plain, bounded = host.read(kernel.built.cubin), host.read(path)
    assert(not plain:find("loom_stuck", 1, true) and #cubin.refusals(plain) == 0)
    assert(bounded:find("loom_stuck", 1, true), kernel.name .. ": the host would not find its record")
    local why = table.concat(cubin.refusals(bounded), "; ")
    assert(why:find("memory that outlives a launch", 1, true), why)
    local waits = kernel.text:find("mbar_wait", 1, true) or kernel.text:find("ld_acquire", 1, true)
    assert(not waits or why:find("reads %globaltimer", 1, true), kernel.name .. ": no wait of it has a limit")
    assert(build.bounded(kernel.built.cubin, opt) == path, "the second time it comes from the cache")
  end
  sh.remove(opt.out)
end

return {
  { name = "kernels have a build whose waits give up, and the ordinary build has nothing of it", run = both_builds },
}
