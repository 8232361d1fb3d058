-- race: from many candidates of a problem to few, and what is said of those few.
--
-- Of many noisy figures the best one is too good: who wins a race was also lucky in it. So a race only
-- chooses. Heats thin the field out: all at few blocks, the best quarter at more; one from which everybody would
-- go on is left out. The finalists are measured again, by fresh worker processes one after the other, on other
-- data, and what these say together is the result (pooled.lua). The finals of a group of problems share their
-- processes, since a start costs a second or two.
--
-- Rows: passes 1 and 2 are the heats, 3 a finalist in one process, 4 its result. A race takes what is known
-- already (done.lua) and measures what is not; race.settled plays it with what is known alone.

local measure = require "measure"

local race = {
  -- `share` of the field goes on, but at least as many as there are finalists and `spare` more.
  heats = { { blocks = 8, share = 0.25, spare = 1 }, { blocks = 32, share = 0.0, spare = 0 } },
  finals = { finalists = 3, blocks = 32, processes = 3 },
  final_pass = 3, result_pass = 4,
  group = 16, -- problems whose finals share their processes
  -- A heat looks for no more than cublasGemmEx: who wins does not depend on it, and each problem is
  -- prepared a second sooner.
  heat_baselines = nil,
}

-- ------------------------------------------------------------------------------- what is asked for

function race.finalists(opt)
  return opt.finalists or race.finals.finalists
end

-- Blocks of a finalist in one process.
function race.blocks(opt)
  return opt.blocks or race.finals.blocks
end

function race.processes(opt)
  return opt.processes or race.finals.processes
end

-- ------------------------------------------------------------------------------- heats

-- How many of `count` go on from a heat, where so many are to be finalists.
local function goes_on(heat, count, finalists)
  return math.max(finalists + heat.spare, math.ceil(count * heat.share))
end

local function faster(x, y)
  if x.row.ratio ~= y.row.ratio then return x.row.ratio > y.row.ratio end
  return x.row.key < y.row.key
end

-- Asks for everybody's row in one heat: who was right, best first. Whom `ask` has no time for stands behind
-- with the row of the heat before, if any. nil, how, why where `ask` says neither a row nor "spent".
local function heat_of(pass, field, ask)
  local met, rest = {}, #field + 1
  for i, entry in ipairs(field) do
    local row, how, why = ask(entry.of, pass, i, #field)
    if not row and how ~= "spent" then return nil, how, why end
    if not row then
      rest = i
      break
    end
    if row.status == "ok" then met[#met + 1] = { of = entry.of, row = row } end
  end
  table.sort(met, faster)
  for i = rest, #field do
    if field[i].row then met[#met + 1] = field[i] end
  end
  return met
end

-- The finalists of `list`, best first. ask(candidate, pass, i, of how many) gives a row, or nil, how, why.
local function run_heats(list, finalists, ask)
  local field = {}
  for i, candidate in ipairs(list) do field[i] = { of = candidate } end
  for pass, heat in ipairs(race.heats) do
    local on = goes_on(heat, #field, finalists)
    if on < #field then
      local met, how, why = heat_of(pass, field, ask)
      if not met then return nil, how, why end
      field = table.move(met, 1, math.min(on, #met), 1, {})
    end
  end
  local out = {}
  for i, entry in ipairs(field) do out[i] = entry.of end
  return out
end

-- ------------------------------------------------------------------------------- one problem

local Race = {}
Race.__index = Race

-- A race of built kernels, each cubin once. `rows` gets all rows that it comes to; `known` (done.lua) has
-- those that need not be measured, or is nil; `run` is the number its rows get.
function race.new(ctx, problem, kernels, rows, known, run)
  return setmetatable({ ctx = ctx, problem = problem, kernels = kernels, rows = rows, known = known, run = run,
                        met = 0, out = {}, anew = {}, finals = {}, seconds = 0.0 }, Race)
end

-- The row that is known of a kernel, nil where it has to be measured: a changed header changes the cubin alone.
function race.known(known, kernel, pass, process)
  if not known then return nil end
  local row = known:row({ hash = kernel.hash, source = host.sha256(kernel.text) }, pass, process)
  return row and row.cubin == kernel.built.cubin_sha and row or nil
end

local function enter(r, p, kernel, row)
  r.rows[#r.rows + 1] = row
  p:step(kernel.stem)
end

-- A row of one kernel: known, or measured now. nil, how, why: "spent" where over() says so.
local function row_of(r, p, kernel, pass, over, job, extra)
  local row = race.known(r.known, kernel, pass, extra and extra.process)
  if not row then
    if over() then return nil, "spent" end
    local how, why
    r.ctx.common.run = r.run
    row, how, why = measure.time(r.ctx, r.problem, kernel, pass, job, extra)
    if not row then return nil, how, why end
    if extra then r.anew[kernel] = true end
  end
  enter(r, p, kernel, row)
  if host.interrupted() then return nil, "interrupted" end
  return row
end

-- How a race stopped, as its callers are told: false when the user interrupted, true where BUDGET is spent
-- (ctx.stopped), nil and why when the problem itself fails.
local function ended(how, why)
  if how == "interrupted" then return false end
  if how == "spent" then return true end
  return nil, why
end

-- Runs the heats: true, with self.finalists unless ctx.stopped; false when interrupted; nil, why. `over(race, i,
-- count)` says whether BUDGET is spent before the i-th of so many kernels; race.met have a row already.
function Race:heat(p, over)
  local from = host.now()
  self.problem.job = measure.problem_job(self.problem, { baselines = race.heat_baselines })
  local function ask(kernel, pass, i, count)
    local job = { { "cubin", kernel.built.cubin }, { "desc", kernel.json }, { "blocks", race.heats[pass].blocks } }
    local row, how, why = row_of(self, p, kernel, pass, function() return over(self, i, count) end, job)
    self.met = self.met + 1
    if how == "spent" and self.ctx.stopped then how = "stopped" end
    return row, how, why
  end
  local list, how, why = run_heats(self.kernels, race.finalists(self.ctx.opt), ask)
  self.seconds = host.now() - from
  self.finalists = list
  if list then return true end
  return ended(how == "stopped" and "spent" or how, why)
end

-- Measurements that the heats of so many kernels are.
function race.steps(count, opt)
  local steps = 0
  for _, heat in ipairs(race.heats) do
    local on = goes_on(heat, count, race.finalists(opt))
    if on < count then steps, count = steps + count, on end
  end
  return steps
end

-- ------------------------------------------------------------------------------- finals

-- What a problem is measured beside: BASELINES=gemmex leaves the other options of the libraries out.
function race.baselines(opt)
  return opt.baselines ~= "gemmex" and "all" or nil
end

-- The job of a problem in a process of the finals: other data in each.
function race.final_problem(problem, opt, process)
  return measure.problem_job(problem, { seed = process, baselines = race.baselines(opt) })
end

-- The job of a finalist, and the columns its row has; a search has no say in its blocks.
function race.final_job(kernel, process, opt)
  local job = { { "cubin", kernel.built.cubin }, { "desc", kernel.json }, { "blocks", race.blocks(opt or {}) } }
  job[4] = { "samples", 1 }
  return job, { process = process, seed = process }
end

-- The i-th in turn of a process: there and back, so that nobody is always first.
function race.turn(list, process, i)
  return list[process % 2 == 1 and i or #list + 1 - i]
end

-- The row by which a finalist is out, however many processes are asked for: one that was not right in any process,
-- or whose result was found to be wrong later. ask(pass, process) gives a row or nil.
local function failure(known, ask)
  for process = 1, known.most do
    local row = ask(race.final_pass, process)
    if row and row.status ~= "ok" then return row end
  end
  local row = ask(race.result_pass)
  return row and row.status ~= "ok" and row or nil
end

-- Those of a race that are known to be out.
local function leave_out(r)
  for _, kernel in ipairs(r.known and r.finalists or {}) do
    local row = failure(r.known, function(pass, process) return race.known(r.known, kernel, pass, process) end)
    r.out[kernel] = row ~= nil
    r.rows[#r.rows + 1] = row
  end
end

-- One process of one problem; as Race:heat.
local function final_of(r, process, p, over)
  r.problem.job = race.final_problem(r.problem, r.ctx.opt, process)
  for i = 1, #r.finalists do
    local kernel = race.turn(r.finalists, process, i)
    if not r.out[kernel] then
      local job, extra = race.final_job(kernel, process, r.ctx.opt)
      local row, how, why = row_of(r, p, kernel, race.final_pass, over, job, extra)
      if not row then return ended(how, why) end
      r.out[kernel] = row.status ~= "ok"
      r.finals[kernel] = r.finals[kernel] or {}
      r.finals[kernel][process] = row
    end
  end
  return true
end

-- Does a process of the problem lack a row?
local function lacks(r, process)
  for _, kernel in ipairs(r.finalists) do
    if not r.out[kernel] and not race.known(r.known, kernel, race.final_pass, process) then return true end
  end
  return false
end

-- Is that a result of so many processes?
function race.whole(row, processes)
  return row ~= nil and row.processes >= processes
end

-- The results of a race whose processes are done.
local function results(r)
  local count = race.processes(r.ctx.opt)
  r.ctx.common.run, r.results = r.run, {}
  for _, kernel in ipairs(r.finalists) do
    if not r.out[kernel] then
      local row = not r.anew[kernel] and race.known(r.known, kernel, race.result_pass) or nil
      if not race.whole(row, count) then
        row = measure.result(r.ctx, r.problem, kernel, race.result_pass, r.finals[kernel])
      end
      r.rows[#r.rows + 1] = row
      r.results[#r.results + 1] = { kernel = kernel, row = row }
    end
  end
end

-- The best kernel and its result, nil where none is left.
function Race:best()
  local best
  for _, e in ipairs(self.results or {}) do
    if e.row.status == "ok" and (not best or faster(e, best)) then best = e end
  end
  if best then return best.kernel, best.row end
end

-- Runs the finals of several races, whose heats are done: true, or false when interrupted. A race whose problem
-- fails has `why`. over() says whether BUDGET is spent; ctx.stopped then says that they are not complete.
function race.run_finals(ctx, races, p, over)
  for _, r in ipairs(races) do leave_out(r) end
  for process = 1, race.processes(ctx.opt) do
    local fresh = false
    for _, r in ipairs(races) do
      if not fresh and not r.why and lacks(r, process) then
        if ctx.session.ready_for then ctx.session:stop() end -- a worker that has greeted only is a fresh one
        fresh = true
      end
      local ok, why = true, nil
      if not r.why then ok, why = final_of(r, process, p, over) end
      if ok == false then return false end
      if ctx.stopped then return true end
      if ok == nil then r.why = why end
    end
  end
  for _, r in ipairs(races) do
    if not r.why then results(r) end
  end
  return true
end

-- ------------------------------------------------------------------------------- settled

-- Those of `list` that were not kept from the start: they did not build, or equal another one.
local function starters(known, list, rows)
  local out = {}
  for _, candidate in ipairs(list) do
    local row = known:row(candidate, 1)
    if row and (row.status == "build" or row.status == "same") then
      rows[#rows + 1] = row
    else
      out[#out + 1] = candidate
    end
  end
  return out
end

-- The rows of a finalist up to its result, or to where it failed; false while one is missing.
local function final_rows(known, candidate, processes, rows)
  local bad = failure(known, function(pass, process) return known:row(candidate, pass, process) end)
  rows[#rows + 1] = bad
  if bad then return true end
  for process = 1, processes do
    local row = known:row(candidate, race.final_pass, process)
    if not row then return false end
    rows[#rows + 1] = row
  end
  local row = known:row(candidate, race.result_pass)
  if not race.whole(row, processes) then return false end
  rows[#rows + 1] = row
  return true
end

-- All rows of a problem with these candidates {hash, source} and the knobs of `opt`, nil while one is missing. Finals
-- of too few blocks are not among `known`.
function race.settled(known, candidates, opt)
  local rows, processes = {}, race.processes(opt)
  local function ask(candidate, pass)
    local row = known:row(candidate, pass)
    rows[#rows + 1] = row
    return row, "missing"
  end
  local list = run_heats(starters(known, candidates, rows), race.finalists(opt), ask)
  for _, candidate in ipairs(list or {}) do
    if not final_rows(known, candidate, processes, rows) then return nil end
  end
  return list and rows
end

return race
