-- verbs_check: the verb `check`: a key, an emitted .cu or a spec, and whether its kernels may be launched.

local breed = require "breed"
local check = require "check"
local desc_read = require "desc_read"
local emit = require "emit"
local fail = require "fail"
local outdir = require "outdir"
local rank = require "rank"
local rng = require "rng"
local select_ = require "select"
local space = require "space"

local verbs = {}

local SAMPLE = 4 -- kernels of a spec that are checked where N says nothing
local DRAWS = 12 -- points that are looked at for each that is drawn

-- ------------------------------------------------------------------------------- words

-- The words of the command line: a key or a file may stand bare.
function verbs.words(argv)
  local out = {}
  for i, word in ipairs(argv) do
    local bare = not word:find("^[%u_]+=")
    out[i] = bare and (word:find("^[%w_][%w_.-]*:") and "KEY=" or "KERNEL=") .. word or word
  end
  return out
end

-- ------------------------------------------------------------------------------- kernels

local function rendered(item, opt)
  local kernel = emit.render(item)
  emit.write(kernel, outdir.path(opt, "kernels"))
  return kernel
end

local function of_key(opt)
  local problem = select_.problems(opt)[1]
  return { rendered(select_.pick(problem, opt.device, opt)[1], opt) }
end

-- A file's kernel is what its key gives, or somebody's own: only the first has lines of a template.
local function place_of(key, text, opt)
  local ok, kernel = pcall(function()
    local keyed = { key = key, device = opt.device, problems = {} }
    return emit.render(select_.pick(select_.problems(keyed)[1], opt.device, keyed)[1])
  end)
  return ok and kernel.text == text and kernel.place or nil
end

local function of_cu(path, opt)
  local text, err = host.read(path)
  if not text then fail(err) end
  local json = path:gsub("%.cu$", "") .. ".json"
  local id, launch, line = desc_read.file(json, outdir.shown(json))
  return { {
    text = text, desc = line, launch = launch, key = id.key, arch = id.arch, cu = path, json = json,
    stem = path:match("([^/]*)%.cu$"), place = place_of(id.key, text, opt),
  } }
end

-- Problems to choose a spec's points for, where there is no SHAPE: one for every layout.
local function probe_problems(opt)
  if #opt.problems > 0 then return opt.problems end
  local out = {}
  for _, layout in ipairs(opt.layout) do
    out[#out + 1] = { M = 4096, N = 4096, K = 4096, layout = layout, dtype = opt.dtype, acc = opt.acc }
  end
  return out
end

-- The spec bound to each problem that it has points for; where there are none, the rules in the way.
local function bound_to(sp, opt)
  local out, why = {}, nil
  for _, problem in ipairs(probe_problems(opt)) do
    local b = space.bind(sp, problem, opt.device)
    if b:total() > 0 then
      out[#out + 1] = b
    else
      why = why or string.format("space '%s', %s: %s", sp.name, rank.title(problem), breed.why_empty(b))
    end
  end
  if #out == 0 then fail(why) end
  return out
end

-- How many values of a point are not in `covered`; with `take` they are from now on.
local function unmet(cand, covered, take)
  local count = 0
  for name, value in pairs(cand) do -- order does not matter: a sum
    local mark = name .. "=" .. tostring(value)
    if not covered[mark] then count = count + 1 end
    covered[mark] = covered[mark] or take
  end
  return count
end

-- Of some points that are drawn the one with most values that no point before it has.
local function unlike(b, draw, covered)
  local best, most
  for _ = 1, DRAWS do
    local cand = b:draw(draw)
    local count = unmet(cand, covered, false)
    if not most or count > most then best, most = cand, count end
  end
  return { b = b, cand = best, full = b:full(best), key = b:key(best) }
end

-- `n` points: half of them the most promising of the spec, the others unlike what was taken before.
local function items_of(b, n, covered, opt)
  local problem = b.problem
  local items = select_.pick(problem, opt.device, { space = opt.space, n = math.max(1, n // 2) })
  for _, item in ipairs(items) do unmet(item.cand, covered, true) end
  local draw = rng.new(string.format("%d check %s %s", opt.seed or 1, b.space.name, rank.title(problem)))
  while #items < n do
    local item = unlike(b, draw, covered)
    unmet(item.cand, covered, true)
    items[#items + 1] = item
  end
  return items
end

local function of_spec(path, opt)
  opt.space = { path }
  local sp, out, seen, covered = space.load(path), {}, {}, {}
  emit.need_template(sp)
  local bounds, n = bound_to(sp, opt), opt.n or SAMPLE
  for _, b in ipairs(bounds) do
    for _, item in ipairs(items_of(b, -(-n // #bounds), covered, opt)) do
      if not seen[item.key] and #out < n then out[#out + 1] = rendered(item, opt) end
      seen[item.key] = true
    end
  end
  return out
end

local function kernels_of(opt)
  if opt.key and opt.kernel then fail.usage("KEY and KERNEL exclude each other") end
  if opt.key then return of_key(opt) end
  local path = opt.kernel or fail.usage("verb 'check' wants a key, a .cu with its .json beside it, or a spec")
  if path:find("%.cu$") then return of_cu(path, opt) end
  if path:find("%.lua$") then return of_spec(path, opt) end
  fail.usage(string.format("'%s' is neither a key nor a .cu nor a .lua file", path))
end

-- ------------------------------------------------------------------------------- output

local function say(what, text)
  host.out(string.format("%-8s %s\n", what, text))
end

local function print_report(text)
  for line in (text or ""):gmatch("[^\n]+") do say("report", line) end
end

-- Prints one kernel's check: "ok", "refused", "interrupted".
local function one(ctx, kernel, problem)
  say("kernel", string.format("%s  %s", outdir.shown(kernel.cu), kernel.key))
  local runs = check.runs(kernel, ctx.opt, problem)
  local status, why, report = check.verdict(ctx, kernel, runs, problem, say)
  if status == "interrupted" then return status end
  if status == "ok" then
    say("verdict", string.format("ok: %d runs", #runs))
    return status
  end
  print_report(report)
  say("verdict", string.format("refused: %s", why))
  return "refused"
end

local quiet = { step = function() end, done = function() end, clear = function() end }

-- Kernels are compiled as many at a time as there are processes; of a spec whose N says nothing, the
-- first that is refused ends it.
local function all(ctx, kernels, problem)
  local opt, tally = ctx.opt, { ok = 0, refused = 0 }
  local at_once = opt.jobs or host.cpus()
  opt.progress = quiet
  for from = 1, #kernels, at_once do
    local batch = table.move(kernels, from, math.min(from + at_once - 1, #kernels), 1, {})
    if not check.build(ctx, batch) then return nil end
    for _, kernel in ipairs(batch) do
      local status = one(ctx, kernel, problem)
      if status == "interrupted" then return nil end
      tally[status] = tally[status] + 1
      if status == "refused" and not opt.n then return tally end
    end
  end
  return tally
end

-- opt: key or kernel, and what check.runs reads. Exit code 0 when every kernel may be launched.
function verbs.check(opt)
  local kernels = kernels_of(opt)
  local ctx = check.start(opt)
  local tally = all(ctx, kernels, opt.problems[1])
  ctx.session:stop()
  if not tally then
    host.err("loom: interrupted\n")
    return 1
  end
  if #kernels > 1 then
    say("checked", string.format("%d kernels of %d, %d refused", tally.ok + tally.refused, #kernels, tally.refused))
  end
  return tally.refused == 0 and 0 or 1
end

return verbs
