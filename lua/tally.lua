-- tally: how many points of the product each rule removes, in declared order (what all earlier ones
-- let pass) and alone. A pass forward over the layers of plan.lua, which counts the points that reach
-- a state; states are kept apart by the first remover, in declared order, that refuses them: behind it
-- only the removers before it still matter, and only the names that these read.

local diagram = require "diagram"
local fail = require "fail"
local plan = require "plan"

-- Limits of counting one rule alone.
local tally = { limits = { nodes = 100000, edges = 0, tries = 2000000 } }

local add, mul = diagram.add, diagram.mul

-- The plan for the removers before the j-th, in the whole's components.
local function before(t, j)
  t.plans[j] = t.plans[j] or plan.new(t.sp, table.move(t.removers, 1, j - 1, 1, {}),
    { hoist = t.hoist, guard = t.guard, whole = t.whole })
  return t.plans[j]
end

-- Does a remover before the j-th still run in the component, below depth d?
local function open_below(t, comp, j, d)
  for i = 1, j - 1 do
    local r = t.removers[i]
    local depth = r.param and r.param.index or r.expr.depth
    if depth > d and t.whole.comp[depth] == comp then return true end
  end
  return false
end

-- Lua text: V's point goes to the states whose first remover is the j-th.
local function enter(write, t, j, d)
  if not open_below(t, t.whole.comp[d], j, d) then
    write("H[%d] = add(H[%d] or 0, mul(count, BELOW))", j, j)
    return
  end
  local p = before(t, j)
  write("P = G[%d]", j)
  plan.insert(write, "P", p.live[d], p.key[d], "P.count[id] = 0")
  write("u = P.count k = u[id] + count if k < 0 then k = u[id] + 0.0 + count end u[id] = k")
  t.targets[j] = true
end

-- pass(I, G): the points of layer I, whose first remover so far is the j-th, into the layers G[i] or,
-- where nothing is left to ask of them, into the sums t.H.
local function passer(t, j, d, V, below)
  local write, out = plan.writer()
  local p, param, runs = before(t, j), t.sp.params[d], {}
  local when = p.whens[d]
  t.targets = {}
  write("local V, S, X, when, H, add, mul, BELOW, full, LIMIT, TRIES = ...")
  write("return function(I, G)")
  write("local C, counts, tries, id, t, u, k, P = I.col, I.count, 0")
  write("for node = 1, I.n do local count = counts[node] if node %% 1024 == 0 then full(true) end")
  plan.restore(write, p, d)
  write("local low, high = 1, %d", #param.rows)
  if when then
    local w = t.index[when.remover]
    write("if not when(V) then low, high = %d, %d", when.pin, when.pin)
    write("H[%d] = add(H[%d] or 0, mul(mul(count, %d), BELOW)) end", w, w, #param.rows - 1)
  end
  write("tries = tries + high - low + 1 if tries > TRIES then full() end")
  write("for r = low, high do")
  plan.bind(write, param)
  local done = {}
  local function let(step)
    if done[step.let] then return end
    runs[#runs + 1] = step.run
    write("V[%q] = S[%d](V)", step.let, #runs)
  end
  for _, step in ipairs(p.steps[d]) do
    if step.let then
      let(step)
      done[step.let] = true
    else
      local i = t.index[step.remover]
      runs[#runs + 1] = step.run
      write("if not S[%d](V) then", #runs)
      for _, other in ipairs(before(t, i).steps[d]) do
        if other.let then let(other) end
      end
      enter(write, t, i, d)
      write("goto skip end")
    end
  end
  enter(write, t, j, d)
  write("::skip:: end end return tries end")
  return plan.load(out, "pass", V, runs, plan.columns(param), when and when.run, t.H, add, mul, below,
    t.full, t.limits.nodes, t.limits.tries)
end

-- The layers below one depth's groups, by first remover.
local function descend(t, groups, d, V, below)
  local deeper, nodes = {}, 0
  for j = 1, #t.removers + 1 do
    if groups[j] then
      local pass = passer(t, j, d, V, below)
      for target = 1, j do
        if t.targets[target] and not deeper[target] then
          deeper[target] = plan.layer(before(t, target).live[d])
          deeper[target].count = {}
        end
      end
      t.tries = t.tries + pass(groups[j], deeper)
    end
  end
  for j = 1, #t.removers + 1 do
    if deeper[j] then nodes, deeper[j].root = nodes + deeper[j].n, nil end
  end
  if nodes > t.limits.nodes or t.tries > t.limits.tries then t.full() end
  return deeper
end

-- H[j] for one component: how many of its points the j-th remover is the first to refuse; beyond the
-- last, how many none does. No point gets past the top-th.
local function component(t, comp, top, V)
  local below = { [#comp.depths] = 1 }
  for i = #comp.depths, 1, -1 do below[i - 1] = mul(below[i], #t.sp.params[comp.depths[i]].rows) end
  if not open_below(t, comp, top, 0) then return { [top] = below[0] } end
  t.H = {}
  local groups = { [top] = { n = 1, col = {}, count = { 1 } } }
  for i, d in ipairs(comp.depths) do
    t.depth = d
    groups = descend(t, groups, d, V, below[i])
  end
  return t.H
end

-- The components' sums put together: a point's first remover is the first of its components'. Without
-- differences of large numbers: by the first component whose remover it is.
local function combine(parts, top)
  local out, from = {}, {} -- from[c]: points of component c that get as far as the j-th or further
  for c = 1, #parts do from[c] = parts[c][top] or 0 end
  for j = top, 1, -1 do
    local later = {} -- later[c]: points of component c that get past the j-th
    if j < top then
      for c = 1, #parts do later[c], from[c] = from[c], add(from[c], parts[c][j] or 0) end
    end
    local behind = { [#parts] = 1 }
    for c = #parts, 1, -1 do behind[c - 1] = mul(behind[c], from[c]) end
    if j == top then
      out[j] = behind[0]
    else
      local sum, ahead = 0, 1
      for c = 1, #parts do
        sum = add(sum, mul(mul(ahead, parts[c][j] or 0), behind[c]))
        ahead = mul(ahead, later[c])
      end
      out[j] = sum
    end
  end
  return out
end

local function run(t, V)
  t.whole = plan.new(t.sp, t.removers, { hoist = t.hoist, guard = t.guard })
  t.plans[#t.removers + 1] = t.whole
  local refused, top = plan.enter(t.whole, V), #t.removers + 1
  if refused then
    top = t.index[refused]
    for _, step in ipairs(before(t, top).steps[0]) do
      if step.let then V[step.let] = step.run(V) end
    end
  end
  local parts = {}
  for c, comp in ipairs(t.whole.comps) do parts[c] = component(t, comp, top, V) end
  return combine(parts, top)
end

local function attempt(sp, removers, V, limits, hoist)
  local t = { sp = sp, removers = removers, limits = limits, hoist = hoist, index = {}, plans = {}, tries = 0 }
  if not hoist then t.guard = true end
  for i, r in ipairs(removers) do t.index[r] = i end
  function t.full(only_looks)
    if not only_looks then error({ too_large = t.depth }, 0) end
    plan.look()
  end
  local ok, result = pcall(run, t, V)
  if not ok and type(result) == "table" and result.too_large then return nil, t end
  if not ok and hoist then return attempt(sp, removers, V, limits, nil) end
  if not ok then error(result, 0) end
  for j = 1, #removers + 1 do t.raised = t.raised or (t.plans[j] and t.plans[j].raised) end
  return result, t
end

-- counts[i]: points that all removers before the i-th let pass and the i-th refuses; a rule that cannot
-- be evaluated at a point lets it pass. counts[#removers + 1]: what none refuses. V holds the values of
-- the problem and the device.
function tally.in_order(sp, removers, V)
  local counts, t = attempt(sp, removers, V, plan.limits, "all")
  if not counts then fail(diagram.too_large(t.whole, t.depth)) end
  for i = 1, #removers + 1 do counts[i] = counts[i] or 0 end
  return counts
end

-- How many points of the product a remover refuses; nil where it cannot be evaluated at all of them, or
-- where that takes long.
function tally.alone(sp, remover, V)
  local counts, t = attempt(sp, { remover }, V, tally.limits, "all")
  return counts and not t.raised and (counts[1] or 0) or nil
end

return tally
