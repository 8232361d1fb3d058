-- campaign: a bench of a file of problems (SHAPES=), in as many calls as it takes.
--
-- BUDGET ends a call after the measurement in flight; the same command goes on. What is done is asked of
-- the store (done.lua), down to the single candidate, so that nothing is measured twice; FRESH=1 asks
-- nobody. Rows that complete a problem join the run that began it: its rows still compare, as those of one
-- device and one set of versions. What stopped its worker twice stays in quarantine, also in later calls.
--
-- A fresh worker costs a second or two, so the finals are those of a group of problems: the heats of each, one
-- after the other, then the processes of all. Where BUDGET is near its end the group is closed early, so that
-- what was raced becomes a result in the same call.

local bench = require "bench"
local clocks = require "clocks"
local done = require "done"
local measure = require "measure"
local outdir = require "outdir"
local picks = require "picks"
local progress = require "progress"
local race = require "race"
local rank = require "rank"
local select_ = require "select"

local campaign = {}

local FEW = 20 -- problems up to which every problem's table is shown

local fmt = string.format

-- ------------------------------------------------------------------------------- progress

-- Seconds as one reads them: "35 s", "12 min", "3 h 20 min".
function campaign.span(seconds)
  local s = math.max(0, math.ceil(seconds))
  if s < 60 then return fmt("%d s", s) end
  local minutes = (s + 59) // 60
  return minutes < 60 and fmt("%d min", minutes) or fmt("%d h %d min", minutes // 60, minutes % 60)
end

-- How long the rest takes if it takes as long as what this call has measured, heats being half of a problem; and
-- what is left of BUDGET.
local function time_left(c)
  local out, now = nil, host.now()
  local raced = #c.group / 2
  if c.measured + raced > 0 then
    local rest = #c.problems - c.count - #c.lost - raced
    out = campaign.span((now - c.started) / (c.measured + raced) * rest) .. " left"
  end
  if not c.ctx.deadline then return out end
  return (out and out .. ", " or "") .. "BUDGET " .. campaign.span(c.ctx.deadline - now)
end

local function best_ratio(c)
  local top = c.top
  return top and top.ratio and fmt("best ratio %.3f at %dx%dx%d %s", top.ratio, top.m, top.n, top.k, top.layout)
end

-- What the progress line says behind the number of problems: time, best ratio, the step at hand.
local function status(c, step)
  local parts = {}
  for _, part in ipairs { time_left(c) or "", best_ratio(c) or "", step } do
    if part ~= "" then parts[#parts + 1] = part end
  end
  return table.concat(parts, "; ")
end

-- Progress lines of a problem's own steps become the end of the campaign's line.
local function steps_of(c)
  local function new(label, total)
    local step = { count = 0 }
    function step.step()
      step.count = step.count + 1
      c.line:note(status(c, fmt("%s %d/%d", label, step.count, total)))
    end
    function step.clear() c.line:clear() end
    function step.done() end
    return step
  end
  return { new = new }
end

-- ------------------------------------------------------------------------------- problems

local function new(opt, ctx, problems)
  local c = {
    opt = opt, ctx = ctx, problems = problems, picks = picks.open(opt), store = done.open(ctx),
    run = ctx.common.run, rows = {}, best = {}, lost = {}, shown = 0, group = {}, count = 0, measured = 0, failed = 0,
    final_seconds = 0.0, final_heats = 0.0,
  }
  c.few = #c.problems <= FEW
  c.line = progress.new("bench", #c.problems)
  ctx.campaign, ctx.progress = true, steps_of(c)
  return c
end

-- Shows the tables of all problems up to the first that is neither done nor lost.
local function show(c)
  while c.rows[c.shown + 1] ~= nil do
    c.shown = c.shown + 1
    if c.few and c.rows[c.shown] then
      c.line:clear()
      rank.print(c.problems[c.shown], c.rows[c.shown])
    end
  end
end

-- All rows of the i-th problem are there: its best one is part of what is shown.
local function settle(c, i, rows)
  local best = rank.sort(rows).ranked[1]
  c.count, c.best[i] = c.count + 1, best
  c.line.count = c.count
  c.rows[i] = c.few and rows or {}
  if best and best.ratio and (not c.top or best.ratio > c.top.ratio) then c.top = best end
  for _, row in ipairs(rows) do
    if row.status ~= "ok" and row.status ~= "same" then c.failed = c.failed + 1 end
  end
end

-- A problem that cannot be measured.
local function lose(c, i, why)
  c.lost[#c.lost + 1] = c.problems[i]
  c.rows[i] = false
  c.line:clear()
  host.err(fmt("loom: %s: %s\n", rank.title(c.problems[i]), why))
  show(c)
end

-- Has the best of these rows all that the user wants to follow it?
local function followed(c, problem, rows)
  local opt, best = c.opt, rank.sort(rows).ranked[1]
  if not best or not bench.more(opt) then return true end
  if opt.sanitize and not best.sanitizer then return false end
  best.clocks = opt.clocks and clocks.known(c.ctx, problem, best) or nil
  return not opt.clocks or best.clocks ~= nil and not clocks.wrong(best.clocks)
end

-- The rows of a problem whose candidates are remembered, nil while one is missing.
local function remembered(c, problem)
  local candidates = c.picks:recall(problem)
  if not candidates then return nil end
  local known = c.store:problem(problem)
  if c.ctx.backend.run then return known:all(candidates) end
  local rows = race.settled(known, candidates, c.opt)
  return rows and followed(c, problem, rows) and rows or nil
end

-- Finds the problems that are done already. Only candidates that are remembered are looked for here.
local function review(c)
  if c.opt.fresh then return end
  for i, problem in ipairs(c.problems) do
    local rows = remembered(c, problem)
    if rows then settle(c, i, rows) end
    if host.interrupted() then return end
  end
  for _, row in ipairs(c.store:quarantined()) do c.ctx.session.quarantine[row.cubin] = row.why or "no reason given" end
  if c.count > 0 then
    host.err(fmt("note: %d of %d problems are done already; FRESH=1 measures them again\n", c.count, #c.problems))
  end
  show(c)
end

-- The builds of a problem are steps of it.
local function build_steps(c, problem, e)
  return function(kernels)
    e.kernels = kernels
    c.ctx.opt.progress = c.ctx.progress.new("build " .. rank.title(problem), #kernels)
  end
end

-- The heats of the i-th problem, which then waits for its finals: "done", "stopped", "lost" or "interrupted".
local function race_one(c, i)
  local ctx, problem = c.ctx, c.problems[i]
  local known = not c.opt.fresh and c.store:problem(problem) or nil
  local e = { i = i, before = ctx.rows }
  local r, ok, why
  r, why = bench.open(ctx, problem, known, known and known.run or c.run, build_steps(c, problem, e))
  if r == false then return "interrupted" end
  if r then ok, why = bench.heat(ctx, r) end
  if ok == false then return "interrupted" end
  if ctx.stopped then return "stopped" end
  if ok == nil then
    lose(c, i, why)
    return "lost"
  end
  e.race, e.measured = r, ctx.rows > e.before
  c.group[#c.group + 1] = e
  return "done"
end

-- What the heats of the group took in this call.
local function heat_seconds(c)
  local sum = 0.0
  for _, e in ipairs(c.group) do sum = sum + math.max(1.0, e.race.seconds) end
  return sum
end

-- The finals of the problems that wait for them: "done", "stopped" or "interrupted".
local function finish(c)
  local races, from, before = {}, host.now(), c.ctx.rows
  for j, e in ipairs(c.group) do races[j] = e.race end
  local ok = bench.finals(c.ctx, races)
  if ok == false then return "interrupted" end
  if c.ctx.stopped then return "stopped" end
  c.final_seconds, c.final_heats = c.final_seconds + host.now() - from, c.final_heats + heat_seconds(c)
  local group, anew = c.group, c.ctx.rows > before
  c.group = {}
  for _, e in ipairs(group) do
    if e.measured or anew then c.measured = c.measured + 1 end
    if e.race.why then
      lose(c, e.i, e.race.why)
    else
      c.picks:keep(c.problems[e.i], e.kernels)
      settle(c, e.i, e.race.rows)
    end
  end
  show(c)
  c.line:note(status(c, ""))
  return "done"
end

-- Is it time for the finals? A full group, or what is left of BUDGET may just do for them: they take as long as
-- finals did so far, by the time of their heats; before the first ones, as long as those.
local function full(c)
  if #c.group == 0 then return false end
  if #c.group >= (c.ctx.backend.run and 1 or race.group) then return true end
  local per_heat = c.final_heats > 0 and c.final_seconds / c.final_heats or 1.0
  return c.ctx.deadline ~= nil and host.now() + 1.25 * per_heat * heat_seconds(c) > c.ctx.deadline
end

-- All problems in their order, until BUDGET is spent.
local function measure_all(c)
  local ctx = c.ctx
  for i in ipairs(c.problems) do
    if host.interrupted() then return "interrupted" end
    if c.rows[i] == nil then
      if ctx.deadline and host.now() > ctx.deadline and ctx.rows > 0 then return "stopped" end
      local how = race_one(c, i)
      if (how == "done" or how == "lost") and full(c) then how = finish(c) end
      if how == "stopped" or how == "interrupted" then return how end
    end
  end
  return finish(c)
end

-- ------------------------------------------------------------------------------- results

-- The best kernel of every problem that is done, a line each, and the figures over all of them. While some
-- are left the figures are of those that are done.
local function overview(c, count)
  local list, best = {}, {}
  for i, problem in ipairs(c.problems) do
    local row = c.best[i]
    if row then best[#best + 1] = row end
    if c.rows[i] then list[#list + 1] = { problem, row or {} } end
  end
  rank.overview(list, not c.ctx.backend.run)
  rank.summary(best, count)
  return #best
end

local function interrupted(c)
  c.ctx.session:drop()
  host.err(fmt("loom: interrupted: %d of %d problems done, %d rows of this call are in %s; the same command goes on\n",
               c.count, #c.problems, c.ctx.rows, outdir.shown(c.ctx.store.path)))
  return 1
end

-- What BUDGET left for later is no failure.
local function stopped(c)
  overview(c, c.count)
  host.out(fmt("%d of %d problems done; the same command %sgoes on\n", c.count, #c.problems,
               c.opt.fresh and "without FRESH=1 " or ""))
  return 0
end

-- Every problem was looked at; exit code as bench.run's.
local function finished(c)
  local kernels = overview(c, #c.problems)
  if c.failed > 0 then
    host.err(fmt("loom: %d kernel%s failed%s\n", c.failed, c.failed == 1 and "" or "s",
                 c.few and ", see above" or "; `make rank SHAPE=...` says why"))
  end
  return kernels == #c.problems and c.failed == 0 and 0 or 1
end

-- The problems of opt's file; exit code 0 also where BUDGET ended the call.
function campaign.run(opt)
  local problems = select_.problems(opt) -- first: what is wrong with the knobs is said before a worker starts
  local ctx = measure.start(opt)
  if not ctx then
    host.err("loom: interrupted: nothing was measured\n")
    return 1
  end
  local c = new(opt, ctx, problems)
  c.started = host.now()
  ctx.deadline = opt.budget and c.started + opt.budget
  host.out(rank.device_line(ctx.common) .. "\n")
  review(c)
  local how = measure_all(c)
  c.line:done()
  if how == "interrupted" then return interrupted(c) end
  ctx.session:stop()
  local code = (how == "stopped" and stopped or finished)(c)
  ctx.store:close()
  return code
end

return campaign
