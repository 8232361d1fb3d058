-- done: what the store knows already, for calls that go on where another one stopped.
--
-- A measurement is done when the store has its row: same problem, key, source, pass, backend, device,
-- compiler and versions. A kernel that was wrong or did not build is done too.

local rank = require "rank"

local done = {}

-- What a row must share with this run, beside its problem.
local SAME = { "backend", "preset", "device", "uuid", "driver", "cuda", "cublas", "nvcc" }

local Done = {}
Done.__index = Done

-- What the store of `ctx` (measure.start) has for runs like this one.
function done.open(ctx)
  local cond, values = {}, {}
  for i, name in ipairs(SAME) do
    local value = ctx.common[name]
    cond[i] = name .. (value == nil and " IS NULL" or " = ?")
    if value ~= nil then values[#values + 1] = value end
  end
  return setmetatable({ db = ctx.store.db, cond = table.concat(cond, " AND "), values = values }, Done)
end

function Done:rows(cond, values, what)
  local all = table.move(self.values, 1, #self.values, #values + 1, values)
  return self.db:rows(string.format("SELECT %s FROM rows WHERE %s AND %s ORDER BY rowid", what, cond, self.cond), all)
end

local function id(hash, source, pass)
  return string.format("%s %s %d", hash, source, pass)
end

local Known = {}
Known.__index = Known

-- The rows of one problem, the newest of each measurement.
function Done:problem(p)
  local known = setmetatable({ by_id = {}, run = nil }, Known)
  local rows = self:rows("m = ? AND n = ? AND k = ? AND layout = ? AND dtype = ? AND acc = ?",
                         { p.M, p.N, p.K, p.layout, p.dtype, p.acc }, "*")
  for _, row in ipairs(rows) do
    if row.hash and row.source then
      known.by_id[id(row.hash, row.source, row.pass)] = row
      known.run = row.run
    end
  end
  return known
end

-- The row of a candidate {hash, source} in a pass, or nil.
function Known:row(candidate, pass)
  return self.by_id[id(candidate.hash, candidate.source, pass)]
end

-- All rows of a problem with these candidates, nil while one is missing. `best` candidates of the first
-- pass are in a second one, where there is one.
function Known:all(candidates, best)
  local rows = {}
  for i, candidate in ipairs(candidates) do
    rows[i] = self:row(candidate, 1)
    if not rows[i] then return nil end
  end
  if not best then return rows end
  for i, row in ipairs(rank.sort(rows).ranked) do
    if i > best then break end
    rows[#rows + 1] = self:row(row, 2)
    if #rows < #candidates + i then return nil end
  end
  return rows
end

-- What stopped its worker twice the last time that it was launched: {cubin, why} of each.
function Done:quarantined()
  local last = "SELECT max(rowid) FROM rows WHERE cubin IS NOT NULL AND status NOT IN ('quarantined', 'same') "
               .. "GROUP BY cubin"
  return self:rows("status IN ('crash', 'hang', 'error') AND rowid IN (" .. last .. ")", {}, "cubin, why")
end

return done
