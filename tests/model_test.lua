-- model_test.lua -- what is predicted of wgmma.cu, and the climb that looks for the best prediction.

local climb = require "climb"
local device = require "device"
local model = require "model"
local select_ = require "select"
local space = require "space"

local H200 = device.get "h200"

local function problem(M, N, K)
  return { M = M, N = N, K = K, layout = "tn", dtype = "f16", acc = "f32" }
end

-- The predicted time of hopper's first seed, changed so, at a problem. No rule is asked.
local hopper
local function ns(M, N, K, changes)
  hopper = hopper or space.load "hopper"
  local b = space.bind(hopper, problem(M, N, K), H200)
  local cand = {}
  for _, param in ipairs(hopper.params) do
    for i, name in ipairs(param.names) do cand[name] = (param.default or param.rows[1])[i] end
  end
  for _, part in ipairs { { schedule = "pingpong", consumers = 2, tile_m = 128, tile_n = 128, stages = 5 }, changes } do
    for name, value in pairs(part) do cand[name] = value end -- order does not matter: a copy
  end
  return model.predict(b, b:full(cand))
end

-- A space of more than bound.walked points, made for the test; its template has no model of its own.
local function planted(rules)
  local text = 'space "planted" { format = 1, base = "common", template = "none.cu" }\n'
    .. 'param "tile_m" { range = {8, 512, 8} }\nparam "tile_n" { range = {8, 512, 8} }\n'
    .. 'param "kind" { "a", "b", "c", default = "a" }\nparam "tick" { range = {1, 64}, default = 1 }\n'
    .. 'param "depth" { range = {1, 16} }\nparam "last" { 1, 2, default = 1, pin = 1 }\n' -- which cannot make room itself
    .. 'must "room" { "last * depth * (tile_m + tile_n) <= 2048", why = "x" }\n' .. rules
  return space.bind(space.load_text(host.root .. "/out/planted.lua", text), problem(4096, 4096, 4096), H200)
end

-- Best at 256 x 192 with kind b, tick 40 and as deep as it goes, which is 4: no way there by one parameter at a time.
local function cost(full)
  return math.abs(full.tile_m - 256) + 2 * math.abs(full.tile_n - 192) + (full.kind == "b" and 0 or 50)
    + math.abs(full.tick - 40) + 400 // full.depth
end

local function listed(found)
  local out = {}
  for i, entry in ipairs(found) do out[i] = entry.cost .. " " .. entry.id end
  return table.concat(out, "\n")
end

return {
  { name = "predicted: full waves are faster than one tile too many", run = function()
    -- 132 tiles by SM, then a column of them more for nothing
    assert(ns(128 * 132, 256, 4096, {}) < ns(128 * 133, 256, 4096, {}))
    -- eight waves of 128 columns; seven of 160, the last one half empty
    local full, spoilt = ns(4224, 4096, 4096, {}), ns(4224, 4096, 4096, { tile_n = 160 })
    assert(full < spoilt, full .. " " .. spoilt)
  end },
  { name = "predicted: where storing C is all, neighbours in a row and evict_first win; else the hint is no gain", run = function()
    local thin = { group_m = 1, c_hint = "evict_first", stages = 4 }
    local best = ns(16384, 16384, 64, thin)
    assert(best < ns(16384, 16384, 64, { group_m = 8, c_hint = "evict_first", stages = 4 }))
    assert(best < ns(16384, 16384, 64, { group_m = 1, stages = 4 }))
    assert(ns(8192, 8192, 8192, { group_m = 8 }) <= ns(8192, 8192, 8192, { group_m = 8, c_hint = "evict_first" }))
  end },
  { name = "predicted: a longer ring is no slower, and a short one costs much", run = function()
    local last = ns(4096, 4096, 4096, { stages = 2 })
    assert(last > 1.2 * ns(4096, 4096, 4096, { stages = 6 }))
    for stages = 3, 6 do
      local time = ns(4096, 4096, 4096, { stages = stages })
      assert(time < last)
      last = time
    end
  end },
  { name = "predicted: pingpong hides stores; a cluster without a second tile is half idle; K can be shared", run = function()
    local pingpong, cooperative = ns(4096, 4096, 1024, {}), ns(4096, 4096, 1024, { schedule = "cooperative" })
    assert(pingpong < cooperative)
    assert(ns(12288, 128, 4096, { cluster = "n" }) > 1.5 * ns(12288, 128, 4096, {}))
    local one = { schedule = "cooperative", consumers = 1, tile_n = 64, grid = "tiles" }
    local four = { schedule = "cooperative", consumers = 1, tile_n = 64, grid = "tiles", split_k = 4 }
    assert(ns(128, 1024, 16384, four) < ns(128, 1024, 16384, one))
  end },
  { name = "a climb comes by a planted optimum that changes of one parameter alone do not reach", run = function()
    local b = planted 'seed { tile_m = 64, tile_n = 64 }\n'
    local found = climb.new(b, cost):points()
    local best = found[1].cand
    assert(best.tile_m == 256 and best.tile_n == 192 and best.kind == "b" and best.tick == 40 and best.depth == 4,
      b:key(best))
    for _, entry in ipairs(found) do assert(b:check(entry.cand)) end
  end },
  { name = "a climb without seeds draws its starts, and two climbs are alike", run = function()
    local one, two = climb.new(planted "", cost):points(), climb.new(planted "", cost):points()
    assert(one[1].cost == 100 and listed(one) == listed(two))
    local none = climb.new(planted 'must "no" { "tile_m > 4096", why = "x" }\n', cost):points()
    assert(#none == 0)
  end },
  { name = "of points that cost the same a climb keeps the plainest", run = function()
    local found = climb.new(planted "", function(full) return full.tile_m + full.tile_n end):points()
    assert(found[1].cand.tick == 1 and found[1].cand.kind == "a")
    for i = 2, #found do assert(found[i - 1].cost < found[i].cost) end
  end },
  { name = "what is picked of hopper passes its rules and has several tiles among its first", run = function()
    local function keys()
      local out, tiles, count = {}, {}, 0
      for i, item in ipairs(select_.pick(problem(4096, 4096, 4096), H200, { n = 8, space = { "hopper" } })) do
        assert(item.b:check(item.cand))
        local tile = climb.family(item.cand)
        if not tiles[tile] then count = count + 1 end
        tiles[tile], out[i] = true, item.key
      end
      assert(#out == 8 and count >= 3, count)
      return table.concat(out, "\n")
    end
    assert(keys() == keys())
  end },
}
