-- candidates: which points of a spec a search measures next.
--
-- Four sources, none of which repeats what was measured: probes put each value that an edit brought
-- into the best kernels so far; then, in turn, the best predicted points, neighbours of the best
-- measured ones, and points drawn uniformly. A probe tests the edit's hypothesis, the model knows
-- the hardware, neighbours climb where the model is wrong, and the draw keeps the door open.

local climb = require "climb"
local dsl = require "dsl"
local model = require "model"

local candidates = {}

local BASES = 6 -- best measured rows that probes and neighbours start from

local function item_of(b, cand)
  return { b = b, cand = cand, key = b:key(cand) }
end

-- `cand` with parameter `param` at `row`; nil where a rule or an earlier measurement says no.
local function changed(b, cand, param, row, known)
  local out = {}
  for name, value in pairs(cand) do out[name] = value end -- order does not matter: a copy
  for i, name in ipairs(param.names) do out[name] = row[i] end
  if known[b:key(out)] or not b:check(out) then return nil end
  return out
end

-- The best predicted point with parameter `param` at `row` and one other change from `base`: some
-- values need company (a wider tile, more warps).
local function in_company(b, base, param, row, known)
  local with, best, best_ns = {}, nil, nil
  for name, value in pairs(base) do with[name] = value end -- order does not matter: a copy
  for i, name in ipairs(param.names) do with[name] = row[i] end
  for _, other in ipairs(b.space.params) do
    for _, value in ipairs(other == param and {} or other.rows) do
      local cand = changed(b, with, other, value, known)
      local ns = cand and model.predict(b, b:full(cand))
      if cand and (not best or ns < best_ns) then best, best_ns = cand, ns end
    end
  end
  return best
end

-- A point with the new value: in the best row that takes it, else with one more change.
local function probe(b, bases, param, row, known)
  for _, base in ipairs(bases) do
    local cand = changed(b, base.cand, param, row, known)
    if cand then return cand end
  end
  return bases[1] and in_company(b, bases[1].cand, param, row, known)
end

-- A probe for each value that the parent's space lacks.
local function probes(b, before, bases, known)
  local out = {}
  for i, param in ipairs(b.space.params) do
    local had = before.space.params[i].rows
    for _, row in ipairs(param.rows) do
      local cand = not dsl.row_index(had, row) and probe(b, bases, param, row, known)
      if cand then out[#out + 1] = item_of(b, cand) end
    end
  end
  return out
end

-- What differs from one of the best measured points in one parameter, in random order, the best
-- point's first.
local function neighbours(b, bases, known, rng)
  local out = {}
  for _, base in ipairs(bases) do
    local around = {}
    for _, param in ipairs(b.space.params) do
      for _, row in ipairs(param.rows) do
        local cand = changed(b, base.cand, param, row, known)
        if cand then around[#around + 1] = item_of(b, cand) end
      end
    end
    around = rng:shuffled(around)
    table.move(around, 1, #around, #out + 1, out)
  end
  return out
end

local function by_score(x, y)
  if x.score ~= y.score then return x.score < y.score end
  return x.key < y.key
end

local DRAWN = 5000 -- points that a survey looks at where neither a walk nor a climb will do

-- One walk over the space: the `n` best predicted of its new points, and `n` drawn uniformly.
local function walked(b, known, n, rng)
  local front, drawn, seen = {}, {}, 0
  for cand, full in b:survey(DRAWN) do
    local key = b:key(cand)
    if not known[key] then
      seen = seen + 1
      local ns = model.predict(b, full)
      if #front < n or ns < front[#front].score then
        local at = #front + 1
        while at > 1 and ns < front[at - 1].score do at = at - 1 end
        table.insert(front, at, { b = b, cand = cand, key = key, score = ns })
        front[n + 1] = nil
      end
      local slot = seen <= n and seen or rng:int(seen)
      if slot <= n then drawn[slot] = { b = b, cand = cand, key = key } end
    end
  end
  return front, rng:shuffled(drawn)
end

-- The same of a space that is too large for a walk, with points drawn as a climb draws them; nil where it finds none.
local function climbed(b, known, n, rng)
  local c = climb.new(b, function(full) return model.predict(b, full) end)
  local new, front, drawn = {}, {}, {}
  for _, entry in ipairs(c:points()) do
    entry.key = b:key(entry.cand)
    if not known[entry.key] then new[#new + 1] = entry end
  end
  if not new[1] then return nil end
  for i, entry in ipairs(climb.mixed(new, n, climb.share)) do
    front[i] = { b = b, cand = entry.cand, key = entry.key, score = entry.cost }
  end
  for _ = 1, n do
    local entry = c:draw(rng)
    local item = entry and item_of(b, entry.cand)
    if item and not known[item.key] then drawn[#drawn + 1] = item end
  end
  return front, drawn
end

-- The best predicted of the new points, by score, and others by lot.
local function survey(b, known, n, rng)
  local front, drawn
  if climb.wanted(b) then front, drawn = climbed(b, known, n, rng) end
  if not front then front, drawn = walked(b, known, n, rng) end
  for _, item in ipairs(front) do
    item.score = model.score(b, item.cand, item.score)
  end
  table.sort(front, by_score)
  return front, drawn
end

-- Takes from `lists` in turn until `out` has `n` items, each key once.
local function take(out, n, taken, lists)
  local at, idle = {}, 0
  for i = 1, #lists do at[i] = 1 end
  local turn = 0
  while #out < n and idle < #lists do
    turn = turn % #lists + 1
    local list, i = lists[turn], at[turn]
    while list[i] and taken[list[i].key] do i = i + 1 end
    if list[i] then
      taken[list[i].key], out[#out + 1], idle = true, list[i], 0
    else
      idle = idle + 1
    end
    at[turn] = i + 1
  end
end

-- At most `n` new points of bound space `b` as items {b, cand, full, key}. `before` is the parent's
-- bound space, nil for the first spec; `rows` what was measured, best first; `known` its keys.
function candidates.pick(b, before, rows, known, n, rng)
  local bases, out, taken = {}, {}, {}
  for _, row in ipairs(rows) do
    if row.ratio and #bases < BASES and (before or b):check(row.cand) then
      bases[#bases + 1] = row
    end
  end
  if before then take(out, n // 2, taken, { rng:shuffled(probes(b, before, bases, known)) }) end
  local front, drawn = survey(b, known, n, rng)
  take(out, n, taken, { front, neighbours(b, bases, known, rng), drawn })
  for _, item in ipairs(out) do item.full = b:full(item.cand) end
  return out
end

return candidates
