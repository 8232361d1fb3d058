-- bench_gen: `loom bench-gen`, how fast candidates are listed and rendered.

local emit = require "emit"
local fail = require "fail"
local model = require "model"
local select_ = require "select"
local space = require "space"

local verbs = {}

local shapes = { { 4096, 4096, 4096 }, { 512, 1024, 2048 }, { 128, 8192, 512 } }

-- Adds candidates of one bound space, new keys only, until `quota` more are in `items`.
local function collect(b, quota, items, seen)
  for cand in b:each() do
    local key = b:key(cand)
    if not seen[key] then
      seen[key] = true
      items[#items + 1] = { b = b, cand = cand, full = b:full(cand), key = key }
      quota = quota - 1
    end
    if quota <= 0 then return end
  end
end

-- `count` distinct candidates, the same share of each space, layout and shape as far as they go.
local function sample(opt, count)
  local spaces, items, seen = select_.spaces(opt.device, opt), {}, {}
  local layouts = { "nn", "tn", "nt", "tt" }
  for round = 1, 4 do
    local parts = #spaces * #layouts * #shapes
    for _, size in ipairs(shapes) do
      for _, layout in ipairs(layouts) do
        for _, sp in ipairs(spaces) do
          local problem = { M = size[1], N = size[2], K = size[3], layout = layout, dtype = "f16",
                            acc = "f32" }
          local share = math.min(count - #items, math.max(1, round * round * count // parts))
          if share > 0 then collect(space.bind(sp, problem, opt.device), share, items, seen) end
        end
      end
    end
  end
  return items
end

-- Renders 1,000 candidates (text and descriptor) and says how many a second.
verbs["bench-gen"] = function(opt)
  local items = sample(opt, opt.n or 1000)
  if #items == 0 then fail(string.format("no space runs on '%s'", opt.device.name)) end
  emit.render(items[1])
  local started, bytes = host.now(), 0
  for _, item in ipairs(items) do bytes = bytes + #emit.render(item).text end
  local seconds = host.now() - started
  started = host.now()
  for _, item in ipairs(items) do model.predict(item.b, item.full) end
  local predicting = host.now() - started
  host.out(string.format("%d distinct candidates, %d bytes of CUDA in %.3f s\n", #items, bytes,
                         seconds))
  host.out(string.format("predict: %.0f candidates/s\n", #items / predicting))
  host.out(string.format("render: %.0f kernels/s\n", #items / seconds))
  return 0
end

return verbs
