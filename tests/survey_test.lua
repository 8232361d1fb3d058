-- survey_test.lua -- looking for good points where there are too many to go through.

local bound = require "bound"
local device = require "device"
local select_ = require "select"
local sh = require "tests_sh"
local space = require "space"

local H200 = device.get "h200"
local PROBLEM = { M = 512, N = 2048, K = 4096, layout = "tn", dtype = "f16", acc = "f32" }

local function keys(b, most)
  local next_point, whole = b:survey(most)
  local out = {}
  for cand, full in next_point do
    assert(b:check(cand) and full.smem == b:full(cand).smem)
    out[#out + 1] = b:key(cand)
  end
  return out, whole
end

-- f() where a survey walks through no space.
local function without_walks(f)
  local walked = bound.walked
  bound.walked = 0
  local ok, err = pcall(f)
  bound.walked = walked
  assert(ok, err)
end

return {
  { name = "a survey of a large space draws valid points, the same ones every time", run = function()
    local path = host.root .. "/tests/spaces/large.lua"
    local b = space.bind(space.load(path), PROBLEM, H200)
    local one, whole = keys(b, 200)
    assert(#one == 200 and not whole)
    local two = keys(space.bind(space.load(path), PROBLEM, H200), 200)
    assert(table.concat(one, "\n") == table.concat(two, "\n"))
  end },
  { name = "a survey of a space that is not walked comes by all points in their order where they are few", run = function()
    local b = space.bind(space.load(host.root .. "/tests/spaces/ring.lua"), PROBLEM, H200)
    local walked, drawn = keys(b, 10), nil
    without_walks(function()
      local whole
      drawn, whole = keys(b, 100000)
      assert(whole)
    end)
    assert(#walked > 100 and table.concat(walked, "\n") == table.concat(drawn, "\n"))
  end },
  { name = "candidates of a large space are found, and none stands twice", run = function()
    local path = host.root .. "/tests/spaces/large.lua"
    local items = select_.pick(PROBLEM, H200, { n = 16, space = { path } })
    local seen = {}
    for i, item in ipairs(items) do
      assert(item.b:check(item.cand) and not seen[item.key])
      seen[item.key] = true
      assert(i == 1 or items[i - 1].ns <= item.ns)
    end
    assert(#items == 16)
  end },
  { name = "Ctrl-C ends the counting of what takes long", run = function()
    local path = host.root .. "/out/build/test/survey/slow.lua"
    assert(host.write(path, 'space "slow" { format = 1, template = "simt.cu" }\nparam "a" { range = {1, 24000} }\n'
      .. 'param "b" { range = {1, 2000} }\nmust "r" { "a * b % 7 == 3 and a // 3 ~= b", why = "x" }\n') ~= nil)
    local run = sh.run { "timeout", "-s", "INT", "1", sh.loom, "count", "SHAPE=64x64x64", "LAYOUT=nn", "SPACE=" .. path }
    assert(run.output:find("interrupted while counting points", 1, true), run.output)
  end },
}
