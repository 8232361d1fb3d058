-- done: what the store knows already, for calls that go on where another one stopped.
--
-- A measurement is done when the store has its row: same problem, key, source, pass and process, backend,
-- device, compiler and versions. A kernel that was wrong or did not build is done too. Rows of another clock,
-- and those of the libraries, are not asked.

local race = require "race"

local done = {}

-- What a row must share with this run, beside its problem.
local SAME = { "backend", "preset", "device", "uuid", "driver", "cuda", "cublas", "nvcc" }

local Done = {}
Done.__index = Done

-- What the store of `ctx` (measure.start) has for runs like this one.
function done.open(ctx)
  local same = {}
  for i, name in ipairs(SAME) do same[i] = { name, ctx.common[name] } end
  local opt = ctx.opt or {}
  return setmetatable({ store = ctx.store, same = same, all = opt.baselines ~= "gemmex",
                        blocks = race.blocks(opt) }, Done)
end

local function id(hash, source, pass, process)
  return string.format("%s %s %d %d", hash, source, pass, process or 0)
end

local Known = {}
Known.__index = Known

-- A result that is older than the row of one of its processes is not theirs; that it was found to be wrong stays.
local function forget_result(by_id, row)
  local at = id(row.hash, row.source, row.pass + 1)
  if by_id[at] and by_id[at].status == "ok" then by_id[at] = nil end
end

-- Was a finalist, or its result, measured beside less than is asked for now? Then it is measured again.
local function beside_less(self, row)
  return self.all and (row.process or row.processes) and row.status == "ok" and not row.best_nv
end

-- Was a finalist measured by fewer blocks than are asked for now, or is its result made of fewer?
local function shorter(self, row)
  local asked = self.blocks * (row.process and 1 or row.processes or 0)
  return row.status == "ok" and (row.blocks or asked) < asked
end

-- The rows of one problem, the newest of each measurement; `most`: the highest number of a process.
function Done:problem(p)
  local known = setmetatable({ by_id = {}, run = nil, most = 0 }, Known)
  local same = { { "m", p.M }, { "n", p.N }, { "k", p.K },
                 { "layout", p.layout }, { "dtype", p.dtype }, { "acc", p.acc } }
  for _, row in ipairs(self.store:sharing(table.move(self.same, 1, #self.same, #same + 1, same), "*")) do
    if row.hash and row.source and not beside_less(self, row) and not shorter(self, row) then
      known.by_id[id(row.hash, row.source, row.pass, row.process)] = row
      known.run = row.run
      if row.process then
        known.most = math.max(known.most, row.process)
        forget_result(known.by_id, row)
      end
    end
  end
  return known
end

-- The row of a candidate {hash, source} in a pass, or nil; a finalist's pass has one for each process, from 1 on.
function Known:row(candidate, pass, process)
  return self.by_id[id(candidate.hash, candidate.source, pass, process)]
end

-- The row of each candidate, nil while one is missing: all that the CPU device gives. What a race lacks says
-- race.settled.
function Known:all(candidates)
  local rows = {}
  for i, candidate in ipairs(candidates) do
    rows[i] = self:row(candidate, 1)
    if not rows[i] then return nil end
  end
  return rows
end

-- What stopped its worker twice the last time that it was launched: {cubin, why} of each.
function Done:quarantined()
  local last = "SELECT max(rowid) FROM rows WHERE cubin IS NOT NULL AND clock IS NULL "
               .. "AND status NOT IN ('quarantined', 'same') GROUP BY cubin"
  local cond = "status IN ('crash', 'hang', 'error') AND rowid IN (" .. last .. ")"
  return self.store:sharing(self.same, "cubin, why", cond)
end

return done
