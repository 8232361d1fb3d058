-- bench_gen: `loom bench-gen`, how fast candidates are counted, drawn and rendered, and in how much
-- memory. Candidates are taken by their rank, evenly over all points, so that they are distinct
-- without a list of what was there before.

local diagram = require "diagram"
local emit = require "emit"
local fail = require "fail"
local model = require "model"
local rng = require "rng"
local select_ = require "select"
local space = require "space"

local verbs = {}

local fmt = string.format

local COUNTED = "tests/spaces/large.lua" -- a space of more than 10^12 points
local SAMPLES, PREDICTED = 10000, 2000

-- Values that make more points of the shipped spaces; every template takes any group.
local WIDER = { hopper = "group_m", mma = "group_m" }

local function wider(sp)
  local name = WIDER[sp.name]
  if not name then return sp end
  local known, values = {}, {}
  for _, param in ipairs(sp.params) do
    for _, row in ipairs(param.name == name and param.rows or {}) do known[row[1]] = true end
  end
  for x = 1, 31 do
    if not known[x] then values[#values + 1] = x end
  end
  return space.load_text(fmt("%s/spaces/%s-wide.lua", host.root, sp.name),
    fmt('space "%s-wide" { format = 1, base = "%s" }\nextend "%s" { %s }\n', sp.name, sp.name, name,
      table.concat(values, ", ")))
end

-- Every space with every layout and type, bound.
local function all_bound(opt)
  local list, size = {}, 0
  for _, sp in ipairs(select_.spaces(opt.device, opt)) do
    if not opt.space then sp = wider(sp) end
    for _, layout in ipairs { "nn", "tn", "nt", "tt" } do
      for _, dtype in ipairs { "f16", "bf16" } do
        local b = space.bind(sp, { M = 4096, N = 4096, K = 4096, layout = layout, dtype = dtype, acc = "f32" },
          opt.device)
        list[#list + 1], size = b, size + b:total()
      end
    end
  end
  return list, size
end

-- Calls take(b, cand) for `count` of the `size` points of the bound spaces, evenly spread.
local function spread(list, size, count, take)
  local before, taken = 0, 0
  for _, b in ipairs(list) do
    local total = b:total()
    before = before + total
    local share = math.floor(count * (before / size) + 0.5) - taken
    for i = 0, share - 1 do take(b, b:at(1 + i * total // share)) end
    taken, b.diagram = taken + share, nil -- done with it
  end
end

-- The most memory this process has had, as a line.
local function memory_line()
  local status = host.read("/proc/self/status")
  local kb = status and status:match("VmHWM:%s*(%d+) kB")
  return kb and fmt("memory: %d MB\n", (kb + 1023) // 1024) or ""
end

local function render(opt)
  local list, size = all_bound(opt)
  if size == 0 then fail(fmt("no space has a point on '%s'", opt.device.name)) end
  local count, bytes, items = math.min(opt.n or 10000, size), 0, {}
  local seconds = 0.0
  spread(list, size, count, function(b, cand)
    local item = { b = b, cand = cand, full = b:full(cand), key = b:key(cand) }
    local started = host.now()
    bytes = bytes + #emit.render(item).text
    seconds = seconds + host.now() - started
    if #items < PREDICTED then items[#items + 1] = item end
  end)
  local started = host.now()
  for _, item in ipairs(items) do model.predict(item.b, item.full) end
  host.out(fmt("%d distinct candidates, %d bytes of CUDA in %.3f s, ", count, bytes, seconds) .. memory_line())
  host.out(fmt("predict: %.0f candidates/s\n", #items / (host.now() - started)))
  return count / seconds
end

-- How long counting a large space takes, and drawing from it.
local function count_and_draw(opt)
  local path = host.root .. "/" .. COUNTED
  local sp = opt.space and select_.spaces(opt.device, opt)[1] or space.load(host.stat(path) and path or "hopper")
  local b = space.bind(sp, { M = 512, N = 2048, K = 4096, layout = "tn", dtype = "f16", acc = "f32" }, opt.device)
  local started = host.now()
  local total = b:total()
  local counting = host.now() - started
  local draw = rng.new("bench-gen")
  started = host.now()
  for _ = 1, total > 0 and SAMPLES or 0 do b:draw(draw) end
  return total, counting, SAMPLES / (host.now() - started)
end

-- Renders N candidates (text and descriptor), counts a large space and draws from it.
verbs["bench-gen"] = function(opt)
  local rendered = render(opt)
  local total, seconds, drawn = count_and_draw(opt)
  host.out(memory_line())
  host.out(fmt("count: %s points in %.3f s\n", diagram.text(total), seconds))
  host.out(fmt("sample: %.0f/s\n", drawn))
  host.out(fmt("render: %.0f kernels/s\n", rendered))
  return 0
end

return verbs
