-- mutate_random: edits drawn by lot, towards what was fast.
--
-- A mutator has m:propose(state, rng) -> {{op =, name =, hypothesis =}...}. Here each edit is a typed
-- move on the domain of one parameter: widen it beside its best value, draw values that shipped
-- spaces of the same template have for it (the vocabulary), stretch it by arithmetic, drop a value
-- that is clearly worse, settle on one that dominates. Parameters with values that nobody has tried come
-- first; values that only ever failed, or are slow beside the best, do not come back.

local dsl = require "dsl"
local space = require "space"

local mutate_random = {}

local index_of = dsl.row_index

local SLOW, SLOW_ROWS = 0.93, 2 -- a value is slow below this share of the best, after so many rows
local FAILED = 2                -- rows after which a value that never worked is given up

-- ------------------------------------------------------------------------------- what is known

local function holds(param, row, cand)
  for i, name in ipairs(param.names) do
    if cand[name] ~= row[i] then return false end
  end
  return true
end

-- Of the measured rows with this value: the best ratio, how many worked, how many failed.
local function evidence(rows, param, row)
  local best, worked, failed = 0.0, 0, 0
  for _, r in ipairs(rows) do
    if holds(param, row, r.cand) then
      if r.ratio then best, worked = math.max(best, r.ratio), worked + 1 else failed = failed + 1 end
    end
  end
  return best, worked, failed
end

-- Rows that differ from the best of the space in two parameters at most: what a value is worth beside
-- the best, and not in a kernel that is slow for other reasons.
local function near_best(state)
  local out = {}
  for _, r in ipairs(state.best and state.rows or {}) do
    local different = 0
    for _, param in ipairs(state.space.params) do
      local same = true
      for _, name in ipairs(param.names) do same = same and r.cand[name] == state.best.cand[name] end
      if not same then different = different + 1 end
    end
    if different <= 2 then out[#out + 1] = r end
  end
  return out
end

-- Is a value known to be slow beside the best?
local function slow(state, param, row)
  local best, worked = evidence(state.near, param, row)
  return worked >= SLOW_ROWS and best < SLOW * state.best.ratio
end

-- Is a value no good? Also: has nobody tried it beside the best?
local function hopeless(state, param, row)
  local _, worked, failed = evidence(state.rows, param, row)
  local _, near = evidence(state.near, param, row)
  return worked == 0 and failed >= FAILED or slow(state, param, row), near == 0
end

-- The parameters of shipped spaces, by template: read once, a function of spaces/ alone.
local shipped = {}
local function shipped_params(template)
  if shipped[template] then return shipped[template] end
  local list = {}
  for _, name in ipairs(space.names()) do
    local ok, sp = pcall(space.load, name)
    if ok and sp.template == template then
      for _, param in ipairs(sp.params) do list[#list + 1] = param end
    end
  end
  shipped[template] = list
  return list
end

-- Values that the parameter has in a shipped space and not here; untried ones apart.
local function vocabulary(state, param)
  local all, fresh = {}, {}
  for _, other in ipairs(shipped_params(state.space.template)) do
    local same = table.concat(other.names, ",") == table.concat(param.names, ",")
    for _, row in ipairs(same and other.rows or {}) do
      local bad, untried = hopeless(state, param, row)
      if not bad and not index_of(param.rows, row) and not index_of(all, row) then
        all[#all + 1] = row
        if untried then fresh[#fresh + 1] = row end
      end
    end
  end
  return all, fresh
end

local function is_number(param)
  return #param.names == 1 and math.type(param.rows[1][1]) == "integer"
end

-- The value of `param` in the best measured kernel of the space.
local function best_value(state, param)
  if not state.best then return nil end
  local row = {}
  for i, name in ipairs(param.names) do row[i] = state.best.cand[name] end
  return row
end

-- ------------------------------------------------------------------------------- moves

local function text_of(row)
  return table.concat(row, ",")
end

local function value_of(row)
  return #row == 1 and row[1] or row
end

local function proposal(kind, param, rows, hypothesis)
  local values, words = {}, {}
  for i, row in ipairs(rows) do values[i], words[i] = value_of(row), text_of(row) end
  return { op = { kind = kind, param = param.name, values = values },
           name = string.format("%s %s %s", kind, param.name, table.concat(words, " ")),
           hypothesis = hypothesis }
end

-- The nearest values of the vocabulary on both sides of the best value.
local function widen(state, param, rng)
  local best = best_value(state, param)
  if not best or not is_number(param) then return nil end
  local below, above
  for _, row in ipairs(vocabulary(state, param)) do
    local v = row[1]
    if v < best[1] and (not below or v > below) then below = v end
    if v > best[1] and (not above or v < above) then above = v end
  end
  local v = below and above and rng:pick { below, above } or below or above
  if not v then return nil end
  return proposal("add-value", param, { { v } },
                  string.format("the best kernel has %s %d: beside it may be better", param.name, best[1]))
end

-- One to three values of the vocabulary, untried ones if there are any.
local function draw(state, param, rng)
  local all, fresh = vocabulary(state, param)
  local words = rng:shuffled(#fresh > 0 and fresh or all)
  if #words == 0 then return nil end
  local count = math.min(#words, rng:int(3))
  return proposal("add-value", param, table.move(words, 1, count, 1, {}),
                  "values that this template is known to take")
end

-- Twice, half, one and a half times the best value, or one step from it: where no shipped space has
-- been, once there is nothing untried in the vocabulary.
local function stretch(state, param, rng)
  local best = best_value(state, param)
  local _, fresh = vocabulary(state, param)
  if not best or not is_number(param) or #fresh > 0 then return nil end
  local v, step = best[1], nil
  for i = 2, #param.rows do
    local gap = math.abs(param.rows[i][1] - param.rows[i - 1][1])
    step = math.min(step or gap, gap)
  end
  step = step or 1
  local out = {}
  for _, x in ipairs { 2 * v, v // 2, 3 * v // 2, v + step, v - step } do
    local row = { x }
    local new = x > 0 and not index_of(param.rows, row) and not index_of(out, row)
    if new and not hopeless(state, param, row) then out[#out + 1] = row end
  end
  if #out == 0 then return nil end
  return proposal("add-value", param, { rng:pick(out) },
                  string.format("the best kernel has %s %d: farther on may be better", param.name, v))
end

-- A value that is slow beside the best, or never worked; the default must stay.
local function drop(state, param, rng)
  local best, out = best_value(state, param), {}
  for _, row in ipairs(best and param.rows or {}) do
    local stays = dsl.same_row(row, best) or param.default and dsl.same_row(row, param.default)
    if not stays and hopeless(state, param, row) then out[#out + 1] = row end
  end
  if #out == 0 then return nil end
  return proposal("remove-value", param, { rng:pick(out) }, "beside the best kernel it is slow")
end

-- The best value alone, where all others are slow. A domain of one can be widened again, a pin could not.
local function settle(state, param)
  local best = best_value(state, param)
  if not best or #param.rows < 2 then return nil end
  for _, row in ipairs(param.rows) do
    if not dsl.same_row(row, best) and not slow(state, param, row) then return nil end
  end
  return proposal("set-domain", param, { best }, "every other value is slow beside it")
end

local moves = {
  { run = widen, weight = 35 }, { run = draw, weight = 42 }, { run = stretch, weight = 8 },
  { run = drop, weight = 10 }, { run = settle, weight = 5 },
}

-- ------------------------------------------------------------------------------- proposals

local function weight(move)
  return move.weight
end

-- One to three edits, each of another parameter; none where no move fits.
function mutate_random.propose(_, state, rng)
  local out, used, need = {}, {}, {}
  state.near = near_best(state)
  for _, param in ipairs(state.space.params) do
    local _, fresh = vocabulary(state, param)
    local one = #param.rows == 1 and 3 or 0
    -- what is inherited cannot be edited here; a pin is somebody's decision
    local own = param.st.file == state.space.file and not param.st.pin
    need[param] = own and 1 + one + 2 * math.min(3, #fresh) or 0
  end
  local function need_of(param) return used[param] and 0 or need[param] end
  local count = rng:pick { 1, 2, 3, 3, 3 }
  for _ = 1, 12 do
    local param = rng:weighted(state.space.params, need_of)
    local p = param and rng:weighted(moves, weight).run(state, param, rng)
    if p then out[#out + 1], used[param] = p, true end
    if #out == count then break end
  end
  return out
end

mutate_random.tries = 8 -- proposals for one child before its parent is measured further instead

function mutate_random.new()
  return mutate_random
end

return mutate_random
