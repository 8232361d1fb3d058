-- verbs_points: the verbs that look at the points of a space without making kernels: count, explain,
-- sample, neighbours.

local diagram = require "diagram"
local fail = require "fail"
local rank = require "rank"
local rng = require "rng"
local space = require "space"
local tab = require "tab"
local why = require "why"

local verbs = {}

local fmt = string.format

-- count --------------------------------------------------------------------------------------------

local count_text = diagram.text

local COUNT_COLUMNS = { { title = "rule", key = 1, align = "left" }, { title = "removed", key = 2, align = "right" },
  { title = "alone", key = 3, align = "right" }, { title = "why", key = 4, align = "left" } }

-- Prints one count; returns what is wrong with it, nil when a point is left.
local function count_one(sp, problem, dev)
  local b = space.bind(sp, problem, dev)
  local result = b:count()
  local rows = {}
  for i, r in ipairs(result.removed) do
    rows[i] = { r.name, count_text(r.count), r.alone and count_text(r.alone) or "-", r.why }
  end
  host.out(fmt("space %s, %s, %s\n", sp.name, rank.title(problem), dev.name))
  host.out(fmt("product  %s\nvalid    %s\n", count_text(result.product), count_text(result.valid)))
  if #rows > 0 then host.out("\n" .. tab.format(rows, COUNT_COLUMNS)) end
  if result.valid == 0 then
    return fmt("space '%s' has no valid point for %s on %s: %s", sp.name, rank.title(problem), dev.name,
      why.text(b:why_empty()))
  end
end

-- Without SPACE every space of the device is counted, and one that serves the problem is enough.
function verbs.count(opt)
  local empty, served, first = {}, {}, true
  for _, name in ipairs(opt.space or space.list(opt.device)) do
    local sp = space.load(name)
    for i, problem in ipairs(opt.problems) do
      if not first then host.out("\n") end
      first = false
      local text = count_one(sp, problem, opt.device)
      empty[#empty + 1] = text
      served[i] = served[i] or not text
    end
  end
  for _, text in ipairs(empty) do host.err("loom: " .. text .. "\n") end
  if opt.space then return #empty > 0 and 1 or 0 end
  for i = 1, #opt.problems do
    if not served[i] then return 1 end
  end
  return 0
end

-- explain ------------------------------------------------------------------------------------------

local function verdict(row)
  if row.ok == nil then return row.error and "error" or "-" end
  return row.ok and "ok" or (row.kind == "prefer" and "soft" or "NO")
end

local function explain_one(b, key, cand)
  local rules, lets = b:explain(cand)
  local rows = {}
  for i, r in ipairs(rules) do
    local reason = verdict(r) ~= "ok" and (r.error or r.why) or ""
    rows[i] = { r.kind == "when" and r.rule or r.kind .. " " .. r.rule, verdict(r), r.expr, r.filled, reason }
  end
  local values = {}
  for i, l in ipairs(lets) do
    local value = l.value
    values[i] = { l.name, value == nil and (l.error or "-") or tostring(value), l.expr, l.filled }
  end
  local function left(...)
    local columns = {}
    for i, title in ipairs { ... } do columns[i] = { title = title, key = i, align = "left" } end
    return columns
  end
  host.out(fmt("key %s\n%s, %s\n\n", key, rank.title(b.problem), b.device.name))
  host.out(tab.format(values, left("let", "value", "expression", "with numbers")))
  host.out("\n" .. tab.format(rows, left("rule", "", "expression", "with numbers", "why")))
end

function verbs.explain(opt)
  if not opt.key then fail.usage("verb 'explain' wants KEY=space:name=value,...") end
  local _, _, cand, sp = space.parse_key(opt.key, space.of_key(opt.key, opt.space))
  for i, problem in ipairs(opt.problems) do
    if i > 1 then host.out("\n") end
    explain_one(space.bind(sp, problem, opt.device), opt.key, cand)
  end
  return 0
end

-- sample, neighbours -------------------------------------------------------------------------------

-- N keys drawn from each space and problem, one a line; every valid point is as likely as the other.
-- Without SPACE a space that has no point for a problem is passed over.
function verbs.sample(opt)
  local status = 0
  for _, name in ipairs(opt.space or space.list(opt.device)) do
    local sp = space.load(name)
    for _, problem in ipairs(opt.problems) do
      local b = space.bind(sp, problem, opt.device)
      local draw = rng.new(fmt("%d sample %s %s", opt.seed or 1, sp.name, rank.title(problem)))
      local some = b:total() > 0
      for _ = 1, some and (opt.n or 10) or 0 do host.out(b:key(b:draw(draw)) .. "\n") end
      if not some and opt.space then
        host.err(fmt("loom: space '%s' has no valid point for %s on %s: %s\n", sp.name, rank.title(problem),
          opt.device.name, why.text(b:why_empty())))
        status = 1
      end
    end
  end
  return status
end

-- The keys of the valid points that differ from KEY in one parameter (N: in up to N), one a line.
function verbs.neighbours(opt)
  if not opt.key then fail.usage("verb 'neighbours' wants KEY=space:name=value,...") end
  local _, _, cand, sp = space.parse_key(opt.key, space.of_key(opt.key, opt.space))
  local status = 0
  for _, problem in ipairs(opt.problems) do
    local b, count = space.bind(sp, problem, opt.device), 0
    b:near(cand, opt.n or 1, function(near)
      host.out(b:key(near) .. "\n")
      count = count + 1
    end)
    if count == 0 then
      local ok, rule, reason = b:check(cand)
      host.err(fmt("loom: no valid point for %s on %s within N=%d of the key%s\n", rank.title(problem), opt.device.name,
        opt.n or 1, ok and "" or fmt(", which breaks '%s': %s", rule, reason)))
      status = 1
    end
  end
  return status
end

return verbs
