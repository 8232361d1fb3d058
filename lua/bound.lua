-- bound: a space bound to a problem and a device, which is what the rest works with: valid
-- candidates in a fixed order, counts, keys, reasons. A candidate is a flat table {tile_m = 128, ...,
-- layout =, dtype =, acc =}; everything else about it is a function of it and the problem. Walking
-- points is points.lua's part; counting, drawing and ranking them diagram.lua's and tally.lua's.

local device = require "device"
local diagram = require "diagram"
local dsl = require "dsl"
local expr = require "expr"
local fail = require "fail"
local plan = require "plan"
local points = require "points"
local resolve = require "resolve"
local rng_ = require "rng"
local tally = require "tally"
local why = require "why"

local bound = {}

local fmt = string.format

-- Combinations that survey() walks through at most.
bound.walked = 1000000

-- Part of every key, in this order, whether a spec names them or not.
bound.key_givens = { "layout", "dtype", "acc" }

local KEY_GIVENS = bound.key_givens
local PROBLEM_FIELDS = { "M", "N", "K", "layout", "dtype", "acc" }

local methods = {}
local meta = { __index = methods }

-- One function that copies the candidate's fields out of V: faster than a loop.
local function copier(sp)
  local fields = {}
  for _, name in ipairs(KEY_GIVENS) do fields[#fields + 1] = fmt("%s=V.%s", name, name) end
  for _, param in ipairs(sp.params) do
    for _, name in ipairs(param.names) do fields[#fields + 1] = fmt("%s=V.%s", name, name) end
  end
  return load("return function(V) return {" .. table.concat(fields, ",") .. "} end", "=copy", "t")()
end

function bound.new(sp, problem, dev)
  if not sp.template then
    fail(fmt("space '%s' is a base for others: it has no template, so no kernels", sp.name))
  end
  if sp.missing then fail(sp.missing) end
  if not device.runs(dev, sp.arch) then
    fail(fmt("space '%s' is for %s, '%s' is %s", sp.name, sp.arch, dev.name, dev.arch))
  end
  local b = setmetatable({ space = sp, problem = problem, device = dev, copy = copier(sp) }, meta)
  b.base = {}
  for _, name in ipairs(PROBLEM_FIELDS) do b.base[name] = problem[name] end
  for name, field in pairs(sp.device_names) do b.base[name] = dev[field] end
  return b
end

-- A fresh table of values with the problem's and the device's.
local function values(b)
  local V = {}
  for name, value in pairs(b.base) do V[name] = value end
  return V
end

-- Iterator over the valid candidates: cand, then the table of all values as b:full would give it,
-- which the next step overwrites.
function methods:each()
  local V = values(self)
  local step, copy = points.each(self.space, V), self.copy
  return function()
    if step() then return copy(V), V end
  end
end

local function pin_reason(param)
  return fmt("pinned to %s unless %s", table.concat(param.default, ","), param.st.when)
end

-- {product, valid, removed = {{name, kind ("when", "must", ...), why, count, alone}...}} in declared
-- order: each `when`, then the rules. `count` is what the rule removes of the points that those before
-- it let pass, so that all counts and `valid` make the product; `alone` what it refuses of the product,
-- nil where it cannot be evaluated alone.
function methods:count()
  local sp, total = self.space, self:total() -- first: it says quickly when there is too much to count
  local removers = plan.removers(sp)
  local counts = tally.in_order(sp, removers, values(self))
  local known, removed = values(self), {}
  for i, r in ipairs(removers) do
    local text = r.param and pin_reason(r.param) or r.rule.why
    -- a rule that removed nothing keeps its bare text: filled in, it would state what is not so
    if r.rule and counts[i] > 0 then text = resolve.why(r.rule, known) end
    removed[i] = { name = r.name, kind = r.kind, why = text, count = counts[i], rule = r.rule, param = r.param,
      alone = tally.alone(sp, r, values(self)) }
  end
  return { product = points.product(sp), valid = total, removed = removed }
end

-- The rule that removes most points, {name, why, count}; nil where none removes any.
function methods:killer()
  local worst
  for _, r in ipairs(self:count().removed) do
    if r.count > 0 and (not worst or r.count > worst.count) then worst = r end
  end
  return worst
end

local function diagram_of(b)
  b.diagram = b.diagram or diagram.new(b.space, values(b))
  return b.diagram
end

-- How many points are valid: an integer, or a float where that does not fit into 64 bits.
function methods:total()
  return diagram_of(self).total
end

-- Iterator like each() for who looks for good points, and whether it comes by all of them. Where a walk
-- would take long and there are more than `most` points, it draws so many: the same ones every time.
function methods:survey(most)
  if points.product(self.space) <= bound.walked then return self:each(), true end
  local total, i = self:total(), 0
  local whole = math.type(total) == "integer" and total <= most
  local p = self.problem
  local draw = rng_.new(fmt("survey %s %dx%dx%d %s", self.space.name, p.M, p.N, p.K, p.layout))
  return function()
    i = i + 1
    if i > (whole and total or most) then return nil end
    local cand = whole and self:at(i) or self:draw(draw)
    return cand, self:full(cand)
  end, whole
end

-- Row numbers of a candidate's parameters; false for one that is not among the values.
local function rows_at(b, cand)
  b.row_index = b.row_index or {}
  local at = {}
  for d, param in ipairs(b.space.params) do
    local index = b.row_index[d]
    if not index then
      index = {}
      for r, row in ipairs(param.rows) do
        local t = index
        for i = 1, #row - 1 do
          t[row[i]] = t[row[i]] or {}
          t = t[row[i]]
        end
        t[row[#row]] = r
      end
      b.row_index[d] = index
    end
    for _, name in ipairs(param.names) do
      local value = cand[name]
      if value == nil then fail(fmt("space '%s': the candidate lacks '%s'", b.space.name, name)) end
      index = index and index[value]
    end
    at[d] = index or false
  end
  return at
end

-- One function that makes a candidate of row numbers.
local function maker(b)
  local fields, rows = {}, {}
  for _, name in ipairs(KEY_GIVENS) do fields[#fields + 1] = fmt("%s=%q", name, b.problem[name]) end
  for d, param in ipairs(b.space.params) do
    rows[d] = param.rows
    for i, name in ipairs(param.names) do fields[#fields + 1] = fmt("%s=X[%d][at[%d]][%d]", name, d, d, i) end
  end
  return load("local X=... return function(at) return {" .. table.concat(fields, ",") .. "} end", "=make", "t")(rows)
end

local function made(b, at)
  b.make = b.make or maker(b)
  return b.make(at)
end

local function countable(b)
  local g = diagram_of(b)
  if math.type(g.total) == "integer" then return g end
  fail(fmt("space '%s': its %s points are too many to number", b.space.name, diagram.text(g.total)))
end

-- The i-th valid candidate in the order of each(), from 1 on; nil beyond the last.
function methods:at(i)
  local g = countable(self)
  if i < 1 or i > g.total then return nil end
  return made(self, g:unrank(i, {}))
end

-- Where each() comes by the candidate; nil when it is not valid.
function methods:index(cand)
  return countable(self):rank(rows_at(self, cand))
end

-- A valid candidate, each as likely as the other; nil when there is none.
function methods:draw(rng)
  local g = diagram_of(self)
  if g.total == 0 then return nil end
  return made(self, g:draw(rng, {}))
end

-- n of them, drawn with replacement; none when there is none.
function methods:sample(n, rng)
  local list = {}
  for i = 1, n do list[i] = self:draw(rng) end
  return list
end

-- Calls take() for the valid candidates that differ from `cand` in one to k free parameters, in declared
-- order. A parameter that `when` pins for them is not free: it follows at no cost.
function methods:near(cand, k, take)
  diagram_of(self):near(rows_at(self, cand), k, function(at) take(made(self, at)) end)
end

-- The same as a list; k is 1 when it is left out.
function methods:neighbours(cand, k)
  local list = {}
  self:near(cand, k or 1, function(near) list[#list + 1] = near end)
  return list
end

-- Values of a candidate before its lets; refuses one that lacks a parameter.
local function start(b, cand)
  local V = values(b)
  for _, param in ipairs(b.space.params) do
    for _, name in ipairs(param.names) do
      if cand[name] == nil then
        fail(fmt("space '%s': the candidate lacks '%s'", b.space.name, name))
      end
      V[name] = cand[name]
    end
  end
  return V
end

-- All names of the candidate: the problem's, parameters, lets (and device.* as flat names).
function methods:full(cand)
  local V, sp = start(self, cand), self.space
  for d = 0, #sp.params do
    for _, step in ipairs(sp.steps[d]) do
      if step.let then V[step.let] = step.run(V) end
    end
  end
  return V
end

local function row_of(param, V)
  local row = {}
  for i, name in ipairs(param.names) do row[i] = V[name] end
  return row
end

local function pinned_away(param, V)
  return param.when and not param.when.run(V) and not dsl.same_row(row_of(param, V), param.default)
end

local function pin_text(param, V)
  return fmt("pinned to %s: %s is false", dsl.row_text(param.default), expr.show(param.when.tree, V))
end

-- true, or nil, the name of what refuses the candidate, and why with its numbers filled in.
function methods:check(cand)
  local V, sp = start(self, cand), self.space
  for _, name in ipairs(KEY_GIVENS) do
    if cand[name] ~= nil and cand[name] ~= self.problem[name] then
      return nil, name, fmt("the candidate has %s, the problem %s", cand[name], self.problem[name])
    end
  end
  for d = 0, #sp.params do
    local param = sp.params[d]
    if param and not dsl.row_index(param.rows, row_of(param, V)) then
      return nil, param.name, fmt("%s is not among its values", dsl.row_text(row_of(param, V)))
    elseif param and pinned_away(param, V) then
      return nil, param.name .. " when", pin_text(param, V)
    end
    for _, step in ipairs(sp.steps[d]) do
      if step.let then
        V[step.let] = step.run(V)
      elseif not step.run(V) then
        return nil, step.rule.name, resolve.why(step.rule, V)
      end
    end
  end
  return true
end

local function known_all(e, V)
  for _, name in ipairs(e.names) do
    if V[name] == nil then return false end
  end
  return true
end

local function explain_rule(rule, V)
  local row = { rule = rule.name, kind = rule.kind, expr = rule.expr.text, place = rule.st,
    filled = expr.show(rule.expr.tree, V), why = resolve.why(rule, V) }
  if known_all(rule.expr, V) then
    local ok, result = pcall(rule.expr.run, V)
    if ok then row.ok = result else row.error = fail.text(result) or error(result, 0) end
  end
  return row
end

local function explain_when(param, V)
  local row = { rule = param.name .. " when", kind = "when", expr = param.st.when, place = param.st,
    filled = expr.show(param.when.tree, V),
    why = fmt("pinned to %s where this is false", dsl.row_text(param.default)) }
  if known_all(param.when, V) then
    local ok, away = pcall(pinned_away, param, V)
    if ok then row.ok = not away else row.error = fail.text(away) or error(away, 0) end
  end
  return row
end

-- Rows {rule, kind ("must", "when" or "prefer"), ok, expr, filled, why} in the order they are tried,
-- and lets as rows {name, value or error}. ok is nil where a let failed that the rule needs.
function methods:explain(cand)
  local V, sp, rows, lets = start(self, cand), self.space, {}, {}
  local function let(step)
    if not known_all(step.expr, V) then return end
    local ok, value = pcall(step.run, V)
    if ok then V[step.let] = value else lets[step.let] = fail.text(value) or error(value, 0) end
  end
  for d = 0, #sp.params do
    local param = sp.params[d]
    if param and param.when then rows[#rows + 1] = explain_when(param, V) end
    for _, step in ipairs(sp.steps[d]) do
      if step.let then let(step) else rows[#rows + 1] = explain_rule(step.rule, V) end
    end
  end
  for _, rule in ipairs(sp.prefers) do rows[#rows + 1] = explain_rule(rule, V) end
  local list = {}
  for i, entry in ipairs(sp.lets) do
    list[i] = { name = entry.name, value = V[entry.name], error = lets[entry.name], expr = entry.expr.text,
      filled = expr.show(entry.expr.tree, V), doc = entry.st }
  end
  return rows, list
end

-- Why there is no valid point: {rules = {{name, why}...}, cand, key}: the smallest set of rules without
-- which there would be points, and the point that violates no other. Where finding them takes too long,
-- the rule alone that removes most. Nil where there is a valid point.
function methods:why_empty()
  if self:total() > 0 then return nil end
  local at = why.closest(self.space, values(self))
  if not at then
    return { rules = { self:killer() } }
  end
  local empty, failed = { rules = {}, cand = made(self, at) }, {}
  empty.key = self:key(empty.cand)
  for _, row in ipairs(self:explain(empty.cand)) do
    if not row.ok and row.kind ~= "prefer" then failed[row.rule] = row end
  end
  for _, r in ipairs(plan.removers(self.space)) do
    local row = failed[r.name]
    if row then table.insert(empty.rules, { name = r.name, why = r.param and pin_reason(r.param) or row.why }) end
  end
  return empty
end

-- How many prefer rules the candidate violates, and their names.
function methods:soft(cand)
  local V, names = self:full(cand), {}
  for _, rule in ipairs(self.space.prefers) do
    if not rule.expr.run(V) then names[#names + 1] = rule.name end
  end
  return #names, names
end

-- The seed as a candidate of this problem, nil where a rule refuses it. What it leaves out takes the
-- default or the first value; what `when` pins takes the default.
local function plant(b, seed)
  local V, sp = values(b), b.space
  for d = 0, #sp.params do
    local param = sp.params[d]
    if param then
      local row = param.rows[seed.rows[d]] or param.default or param.rows[1]
      if param.when and not param.when.run(V) then row = param.default end
      for i, name in ipairs(param.names) do V[name] = row[i] end
    end
    for _, step in ipairs(sp.steps[d]) do
      if step.let then
        V[step.let] = step.run(V)
      elseif not step.run(V) then
        return nil
      end
    end
  end
  return b.copy(V)
end

-- The valid seeds as candidates, in declared order, each once.
function methods:seeds()
  local cands, seen = {}, {}
  for _, seed in ipairs(self.space.seeds) do
    local cand = plant(self, seed)
    local key = cand and self:key(cand)
    if cand and not seen[key] then
      seen[key] = true
      cands[#cands + 1] = cand
    end
  end
  return cands
end

function methods:key(cand)
  local out = {}
  for i, name in ipairs(KEY_GIVENS) do out[i] = name .. "=" .. self.problem[name] end
  for _, param in ipairs(self.space.params) do
    for _, name in ipairs(param.names) do out[#out + 1] = name .. "=" .. cand[name] end
  end
  return self.space.name .. ":" .. table.concat(out, ",")
end

return bound
