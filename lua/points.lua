-- points: walks the points of a bound space. V is the one table of values that expressions read;
-- parameters are bound in declared order, and what a depth's steps refuse is never descended into.
-- `each` lists the valid points; `count` counts them without listing the product: the subtree below
-- a depth depends only on the names its steps still read, so it is counted once for each
-- combination of their values.

local points = {}

local HUGE = math.maxinteger -- stands for "this or more"
local MEMO = 200000 -- subtrees remembered at most; the rest is counted again

-- Saturating arithmetic of counts (never negative).
local function add(a, b)
  local sum = a + b
  return sum < 0 and HUGE or sum
end

local function mul(a, b)
  if a ~= 0 and b > HUGE // a then return HUGE end
  return a * b
end

points.HUGE = HUGE

-- below[d]: raw number of points under one value of parameter d.
local function sizes(params)
  local below = { [#params] = 1 }
  for d = #params, 1, -1 do below[d - 1] = mul(below[d], #params[d].rows) end
  return below
end

function points.product(sp)
  return sizes(sp.params)[0]
end

-- Where the value of parameter d starts and ends: its default alone when `when` says no.
local function span(param, V)
  if param.when and not param.when.run(V) then
    return param.pin, param.pin, true
  end
  return 1, #param.rows, false
end

local function set(param, i, V)
  local names, row = param.names, param.rows[i]
  for k = 1, #names do V[names[k]] = row[k] end
end

-- Runs one depth's steps; returns the rule that refuses, nil when none does.
local function enter(steps, V)
  for i = 1, #steps do
    local step = steps[i]
    if step.let then
      V[step.let] = step.run(V)
    elseif not step.run(V) then
      return step.rule
    end
  end
end

-- Iterator over the valid points: each step leaves V complete and returns true.
function points.each(sp, V)
  local params, steps, n = sp.params, sp.steps, #sp.params
  local at, last, d = {}, {}, 0
  local function open(depth) -- one parameter further down
    local from, to = span(params[depth], V)
    at[depth], last[depth] = from - 1, to
    return depth
  end
  local started = false
  return function()
    if not started then
      started = true
      if enter(steps[0], V) then return nil end
      if n == 0 then return true end
      d = open(1)
    end
    while d > 0 do
      local i = at[d] + 1
      if i > last[d] then
        d = d - 1
      else
        at[d] = i
        set(params[d], i, V)
        if not enter(steps[d], V) then
          if d == n then return true end
          d = open(d + 1)
        end
      end
    end
  end
end

-- Counting -----------------------------------------------------------------------------------------

-- live[d]: names bound at depth 1..d that the steps below d read, in declared order; false when a
-- memo cannot help because every parameter so far is among them.
local function live_names(sp)
  local live, reads = {}, {}
  local function read(e)
    for _, name in ipairs(e.names) do reads[name] = true end
  end
  for d = #sp.params, 0, -1 do
    local names, columns, total = {}, 0, 0
    for _, name in ipairs(sp.order) do
      local entry = sp.names[name]
      if entry.depth >= 1 and entry.depth <= d then
        if entry.kind == "param" then total = total + 1 end
        if reads[name] then
          names[#names + 1] = name
          if entry.kind == "param" then columns = columns + 1 end
        end
      end
    end
    live[d] = (columns < total or total == 0) and names or false
    for _, step in ipairs(sp.count_steps[d]) do read(step.expr) end
    if d > 0 and sp.params[d].when then read(sp.params[d].when) end
  end
  return live
end

local function memo_key(names, V)
  local out = {}
  for i = 1, #names do out[i] = tostring(V[names[i]]) end
  return table.concat(out, ",")
end

-- Adds sub's counts into acc: valid, and removed by rule or by `when` (keys of sp.removers).
local function add_all(acc, sub, removers)
  acc.valid = add(acc.valid, sub.valid)
  for i = 1, #removers do
    local gone = sub[i]
    if gone then acc[i] = add(acc[i] or 0, gone) end
  end
end

-- What can remove points, in the order they are tried: rules by depth, and each `when`.
local function removers_of(sp)
  local list, index = {}, {}
  for d = 0, #sp.params do
    local param = sp.params[d]
    if param and param.when then
      list[#list + 1] = { name = param.name .. " when", param = param,
        why = string.format("pinned to %s unless %s", table.concat(param.default, ","), param.st.when) }
      index[param] = #list
    end
    for _, step in ipairs(sp.count_steps[d]) do
      if step.rule then
        list[#list + 1] = { name = step.rule.name, rule = step.rule, why = step.rule.why }
        index[step.rule] = #list
      end
    end
  end
  return list, index
end

-- {product, valid, removed = {{name, why, count, rule or param}...}}: product is their sum.
function points.count(sp, V)
  local params, steps, n = sp.params, sp.count_steps, #sp.params
  local below, live = sizes(params), live_names(sp)
  local removers, index = removers_of(sp)
  local memo, stored = {}, 0
  for d = 0, n do memo[d] = {} end

  local walk

  local function remembered(d, acc)
    local key = memo_key(live[d], V)
    local sub = memo[d][key]
    if not sub then
      sub = { valid = 0 }
      walk(d, sub)
      if stored < MEMO then memo[d][key], stored = sub, stored + 1 end
    end
    add_all(acc, sub, removers)
  end

  function walk(d, acc) -- the subtree below depth d, whose steps have passed
    if d == n then
      acc.valid = add(acc.valid, 1)
      return
    end
    local param = params[d + 1]
    local from, to, pinned = span(param, V)
    if pinned then
      local i = index[param]
      acc[i] = add(acc[i] or 0, mul(#param.rows - 1, below[d + 1]))
    end
    for k = from, to do
      set(param, k, V)
      local rule = enter(steps[d + 1], V)
      if rule then
        local i = index[rule]
        acc[i] = add(acc[i] or 0, below[d + 1])
      elseif live[d + 1] and d + 1 < n then
        remembered(d + 1, acc)
      else
        walk(d + 1, acc)
      end
    end
  end

  local acc = { valid = 0 }
  local rule = enter(steps[0], V)
  if rule then acc[index[rule]] = below[0] else walk(0, acc) end
  for i, remover in ipairs(removers) do remover.count = acc[i] or 0 end
  return { product = below[0], valid = acc.valid, removed = removers }
end

return points
