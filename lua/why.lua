-- why: why a bound space has no valid point. The point of the product that violates the fewest rules
-- names them: take these away and there are points, no smaller set does it. Of several such points it
-- is the one that comes closest (gap.lua), then the first in declared order.
--
-- A pass forward over the layers of plan.lua, once for no violation, once for one, and so on: a state
-- keeps the best way to it. Components are solved apart. `x when` counts as a rule.

local gap = require "gap"
local plan = require "plan"

local fmt = string.format

local why = { limits = { nodes = 150000, tries = 800000, most = 8 } }

-- step(I, P, most): the best ways from the states of layer I, in their order, to those of layer P.
local function stepper(t, d, V)
  local write, out = plan.writer()
  local p, param, runs, gaps = t.plan, t.sp.params[d], {}, {}
  local when = p.whens[d]
  write("local V, S, D, X, when, full, LIMIT, RAISED = ...")
  write("return function(I, P, most)")
  write("local C, id, t, u, k = I.col")
  write("for o = 1, I.n do local node = I.order and I.order[o] or o")
  plan.restore(write, p, d)
  write("local free = %s", when and "when(V)" or "true")
  write("for r = 1, %d do local bad, far = I.bad[node], I.far[node]", #param.rows)
  plan.bind(write, param)
  if when then
    write("if free == RAISED or not free and r ~= %d then bad, far = bad + 1, far + 1 end", when.pin)
  end
  for i, step in ipairs(p.steps[d]) do
    runs[i] = step.run
    if step.let then
      write("V[%q] = S[%d](V)", step.let, i)
    else
      gaps[i] = gap.compile(step.node)
      write("k = S[%d](V) if not k or k == RAISED then bad = bad + 1 if bad > most then goto skip end", i)
      write("far = far + (k and 1 or D[%d](V)) end", i)
    end
  end
  write("if bad > most then goto skip end")
  plan.insert(write, "P", p.live[d], p.key[d], "P.bad[id], P.far[id] = most + 1, 0")
  write("if bad < P.bad[id] or bad == P.bad[id] and far < P.far[id] - 1e-9 then")
  write("P.moved = P.moved or P.bad[id] <= most")
  write("P.bad[id], P.far[id], P.from[id], P.rank[id] = bad, far, node << 17 | r - 1, o << 17 | r - 1 end")
  write("::skip:: end end end")
  return plan.load(out, "step", V, runs, gaps, plan.columns(param), when and when.run, t.full, t.limits.nodes,
    plan.RAISED)
end

local function new_layer(live)
  local layer = plan.layer(live)
  layer.bad, layer.far, layer.from, layer.rank = {}, {}, {}, {}
  return layer
end

-- States come in the order of the best ways to them, so that of equals the first in declared order wins.
local function settle(layer)
  layer.root = nil
  if not layer.moved then return end
  layer.order = {}
  for id = 1, layer.n do layer.order[id] = id end
  table.sort(layer.order, function(a, b) return layer.rank[a] < layer.rank[b] end)
end

-- Rows of the component's best point with at most `most` violations into `at`; false without one.
local function solve(t, comp, most, V, at)
  local layers = { [0] = { n = 1, col = {}, bad = { 0 }, far = { 0 } } }
  for i, d in ipairs(comp.depths) do
    layers[i] = new_layer(t.plan.live[d])
    t.tries = t.tries + layers[i - 1].n * #t.sp.params[d].rows
    if t.tries > t.limits.tries then t.full() end
    t.steps[d] = t.steps[d] or stepper(t, d, V)
    t.steps[d](layers[i - 1], layers[i], most)
    if layers[i].n == 0 then return false end
    settle(layers[i])
  end
  local node = 1
  for i = #comp.depths, 1, -1 do
    local from = layers[i].from[node]
    at[comp.depths[i]], node = (from & 0x1ffff) + 1, from >> 17
  end
  return true
end

local function search(t, V)
  local at = {}
  for _, step in ipairs(t.plan.steps[0]) do
    local value = step.run(V)
    if step.let then V[step.let] = value end
  end
  for _, comp in ipairs(t.plan.comps) do
    local most = 0
    while not solve(t, comp, most, V, at) do
      most = most + 1
      if most > t.limits.most then t.full() end
    end
  end
  return at
end

-- Row numbers of the point that violates the fewest rules; nil where finding it would take too long.
local function closest(sp, V, hoist)
  local t = { sp = sp, limits = why.limits, steps = {}, tries = 0 }
  function t.full() error({ too_large = true }, 0) end
  local opts = { hoist = hoist }
  if not hoist then opts.guard = plan.RAISED end -- what cannot be evaluated counts as violated, by far
  t.plan = plan.new(sp, plan.removers(sp), opts)
  local ok, at = pcall(search, t, V)
  if ok then return at end
  if type(at) == "table" and at.too_large then return nil end
  if hoist then return closest(sp, V, nil) end
  error(at, 0)
end

-- Row numbers of the point that comes closest to being valid; nil where finding it takes too long.
function why.closest(sp, V)
  return closest(sp, V, "integers")
end

local function named(rules, reasons)
  local out = {}
  for i, r in ipairs(rules) do out[i] = fmt(reasons and "'%s' (%s)" or "'%s'", r.name, r.why) end
  return fmt("rule%s %s", #rules > 1 and "s" or "", table.concat(out, ", "))
end

-- "without rule 'a' (why) there would be points; closest: key", of what bound.lua's why_empty says.
function why.text(empty)
  if empty.key then
    return fmt("without %s there would be points; closest: %s", named(empty.rules, true), empty.key)
  end
  return fmt("%s removes most", named(empty.rules, true))
end

-- The same in short: "without rule 'a' there would be points".
function why.brief(empty)
  if empty.key then return fmt("without %s there would be points", named(empty.rules)) end
  return named(empty.rules) .. " removes most"
end

return why
