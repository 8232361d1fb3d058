-- points: walks the points of a bound space. V is the one table of values that expressions read;
-- parameters are bound in declared order, and what a depth's steps refuse is never descended into.

local diagram = require "diagram"

local points = {}

-- How many points there are before any rule: an integer, a float where that does not fit.
function points.product(sp)
  local product = 1
  for _, param in ipairs(sp.params) do product = diagram.mul(product, #param.rows) end
  return product
end

-- Where the value of parameter d starts and ends: its default alone when `when` says no.
local function span(param, V)
  if param.when and not param.when.run(V) then
    return param.default_at, param.default_at
  end
  return 1, #param.rows
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

return points
