-- climb: good points of a space that is too large to walk, by a cost: steepest descent from several starts.
--
-- A move gives one parameter another value. What a rule refuses because of it is mended where the rule stands: the
-- parameter there takes its nearest value that passes, or the last one before it that the rule reads a lower one (a
-- wider tile, fewer stages), so that a move may change several parameters. The deepest parameter that was ever mended
-- is also tried at its largest value. The starts are the space's seeds and some points drawn from the top down, which
-- is cheap but not uniform. Nothing is counted or listed, and the same space and problem give the same points in the
-- same order.
--
-- Of points that cost the same the plainest is kept: the one with most parameters at their defaults. A cost errs for
-- what is alike in the same way: so what lies around the best of every family is looked at too, not of the first alone.

local bound = require "bound"
local points = require "points"
local rng_ = require "rng"

local climb = {
  starts = 6, drawn = 2, steps = 12, widened = 12, each = 3,
  share = 3, -- points of one family that are let ahead of the others: a cost errs for a family as a whole
}

local MENDS = 3 -- parameters that follow a changed one

local Climb = {}
Climb.__index = Climb

-- What a point is like: its tile, which every space has.
function climb.family(cand)
  return string.format("%sx%s", cand.tile_m, cand.tile_n)
end

-- `cost(full)`: a number, the less the better, of all names of a point.
function climb.new(b, cost)
  local V = {}
  for name, value in pairs(b.base) do V[name] = value end -- order does not matter: a copy
  return setmetatable({ b = b, sp = b.space, V = V, cost = cost, found = {}, known = {}, dead = {}, companion = 0 },
                      Climb)
end

-- ------------------------------------------------------------------------------- points

-- Binds parameter d to row r; false and the rule where one of those there refuses.
local function enter(self, d, r)
  local param, V = self.sp.params[d], self.V
  if param then
    local row, names = param.rows[r], param.names
    for i = 1, #names do V[names[i]] = row[i] end
  end
  for _, step in ipairs(self.sp.steps[d]) do
    if step.let then
      V[step.let] = step.run(V)
    elseif not step.run(V) then
      return false, step.rule
    end
  end
  return true
end

local function pinned(self, d)
  local param = self.sp.params[d]
  return param.when and not param.when.run(self.V) and param.default_at
end

-- The row of parameter d nearest to what `rows` has that passes, the lower one first; nil where none does, which is
-- remembered of the rows before d.
local function nearest(self, rows, d)
  local before = table.concat(rows, ",", 1, d - 1)
  if self.dead[before] then return nil end
  local from, last = rows[d], #self.sp.params[d].rows
  for away = 1, last do
    if from - away >= 1 and enter(self, d, from - away) then return from - away end
    if from + away <= last and enter(self, d, from + away) then return from + away end
  end
  self.dead[before] = true
end

local settle

-- What the last parameter behind d that a refusing rule of depth e reads needs to be, at most, for all to pass: put
-- into `rows`; false where nothing helps.
local function lowered(self, rows, d, e, rule)
  local f = 0
  for _, name in ipairs(rule.expr.roots) do
    local depth = self.sp.names[name].depth
    if depth > math.max(d, f) and depth < e and #self.sp.params[depth].rows > 1 then f = depth end
  end
  for r = f > 0 and rows[f] - 1 or 0, 1, -1 do
    local less = table.move(rows, 1, #rows, 1, {})
    less[f] = r
    if settle(self, less, f, 0) then
      table.move(less, 1, #less, 1, rows)
      self.companion = math.max(self.companion, f)
      return true
    end
  end
  return false
end

-- Binds the parameters from d on as `rows` says, which is changed where a `when` pins one or where up to `mends` of
-- those behind d must follow. Those before d are bound already.
function settle(self, rows, d, mends)
  for e = d, #rows do
    local pin = pinned(self, e)
    if pin and e == d and pin ~= rows[e] then return false end
    if pin then rows[e] = pin end
    local ok, rule = enter(self, e, rows[e])
    if not ok then
      local r = not pin and e > d and mends > 0 and nearest(self, rows, e)
      if not r then return mends > 0 and lowered(self, rows, d, e, rule) end
      rows[e], mends = r, mends - 1
      self.companion = math.max(self.companion, e)
    end
  end
  return true
end

-- The entry {rows, id, cost, odd, cand} of the point that is bound; odd: how many parameters are not at their defaults.
local function entry_of(self, rows)
  local id = table.concat(rows, ",")
  local entry = self.known[id]
  if entry then return entry end
  local odd = 0
  for d, param in ipairs(self.sp.params) do
    if param.default_at and param.default_at ~= rows[d] then odd = odd + 1 end
  end
  entry = { rows = rows, id = id, cost = self.cost(self.V), odd = odd, cand = self.b.copy(self.V) }
  entry.family = climb.family(entry.cand)
  self.known[id] = entry
  self.found[#self.found + 1] = entry
  return entry
end

local function better(x, y)
  if x.cost ~= y.cost then return x.cost < y.cost end
  if x.odd ~= y.odd then return x.odd < y.odd end
  return x.id < y.id
end

-- ------------------------------------------------------------------------------- moves

-- The companion at its largest value, where that is more than it has now.
local function grown(self, rows)
  local e = self.companion
  for r = #self.sp.params[e].rows, rows[e] + 1, -1 do
    local more = table.move(rows, 1, #rows, 1, {})
    more[e] = r
    if settle(self, more, e, 0) then return entry_of(self, more) end
  end
end

-- The best point one move away from an entry; all that are met are kept.
local function best_move(self, from)
  local best = from
  local function meet(entry)
    if entry and better(entry, best) then best = entry end
  end
  settle(self, table.move(from.rows, 1, #from.rows, 1, {}), 1, 0)
  for d = #from.rows, 1, -1 do -- from the last on, so that those before d stay bound
    for r = 1, pinned(self, d) and 0 or #self.sp.params[d].rows do
      local rows = table.move(from.rows, 1, #from.rows, 1, {})
      rows[d] = r
      if r ~= from.rows[d] and settle(self, rows, d, MENDS) then
        meet(entry_of(self, rows))
        if self.companion > d then meet(grown(self, rows)) end
      end
    end
  end
  from.spread = true
  return best
end

local function descend(self, from)
  for _ = 1, climb.steps do
    if from.spread then return end
    local to = best_move(self, from)
    if to == from then return end
    from = to
  end
end

-- ------------------------------------------------------------------------------- starts

-- The first value of a parameter that the rules let pass, from its default or a drawn one on, round about; nil where
-- none does.
local function draw_row(self, d, rng)
  local pin = pinned(self, d)
  if pin then return enter(self, d, pin) and pin or nil end
  local n = #self.sp.params[d].rows
  local from = self.sp.params[d].default_at or rng:int(n)
  for i = 0, n - 1 do
    local r = (from + i - 1) % n + 1
    if enter(self, d, r) then return r end
  end
end

-- A point drawn from the top down, an entry; a dead end is left by drawing anew, some times.
function Climb:draw(rng)
  if not enter(self, 0) then return nil end
  for _ = 1, 30 do
    local rows = {}
    for d = 1, #self.sp.params do
      rows[d] = draw_row(self, d, rng)
      if not rows[d] then break end
    end
    if #rows == #self.sp.params then return entry_of(self, rows) end
  end
end

-- Row numbers of a candidate.
local function rows_of(self, cand)
  local rows = {}
  for d, param in ipairs(self.sp.params) do
    for r, row in ipairs(param.rows) do
      local same = true
      for i, name in ipairs(param.names) do same = same and row[i] == cand[name] end
      if same then rows[d] = r end
    end
  end
  return rows
end

local function start_points(self)
  local list = {}
  if not enter(self, 0) then return list end
  for _, cand in ipairs(self.b:seeds()) do
    local rows = rows_of(self, cand)
    if settle(self, rows, 1, 0) then list[#list + 1] = entry_of(self, rows) end
  end
  table.sort(list, better)
  for i = #list, climb.starts + 1, -1 do list[i] = nil end
  local p = self.b.problem
  local rng = rng_.new(string.format("climb %s %dx%dx%d %s", self.sp.name, p.M, p.N, p.K, p.layout))
  for _ = 1, climb.drawn do list[#list + 1] = self:draw(rng) end
  return list
end

-- ------------------------------------------------------------------------------- all of it

-- Looks around the best points that nobody looked around yet, some of each family.
local function widen(self)
  local looked = {}
  for _ = 1, climb.widened do
    local best
    for _, entry in ipairs(self.found) do
      if not entry.spread and (looked[entry.family] or 0) < climb.each and (not best or better(entry, best)) then
        best = entry
      end
    end
    if not best then return end
    looked[best.family] = (looked[best.family] or 0) + 1
    best_move(self, best)
  end
end

-- The valid points met, as entries {cand, cost, family}, the best first. None where no start was found, which does
-- not mean that there is no point.
function Climb:points()
  for _, start in ipairs(start_points(self)) do descend(self, start) end
  widen(self)
  table.sort(self.found, better)
  if self.found[1] then descend(self, self.found[1]) end
  table.sort(self.found, better)
  local out = {}
  for _, entry in ipairs(self.found) do
    if not out[1] or out[#out].cost ~= entry.cost then out[#out + 1] = entry end
  end
  return out
end

-- The first `limit` of points(): at most `most` of a family, then the others.
function climb.mixed(found, limit, most)
  local front, behind, count = {}, {}, {}
  for _, entry in ipairs(found) do
    count[entry.family] = (count[entry.family] or 0) + 1
    local list = count[entry.family] <= most and front or behind
    if #list < limit then list[#list + 1] = entry end
  end
  return table.move(behind, 1, limit - #front, #front + 1, front)
end

-- Whether a space is one to climb: too large to walk.
function climb.wanted(b)
  return points.product(b.space) > bound.walked
end

return climb
