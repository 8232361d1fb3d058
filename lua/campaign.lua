-- campaign: a bench of a file of problems (SHAPES=), in as many calls as it takes.
--
-- BUDGET ends a call after the measurement in flight; the same command goes on. What is done is asked of
-- the store (done.lua), down to the single candidate, so that nothing is measured twice; FRESH=1 asks
-- nobody. Rows that complete a problem join the run that began it: its rows still compare, as those of one
-- device and one set of versions. What stopped its worker twice stays in quarantine, also in later calls.

local bench = require "bench"
local done = require "done"
local measure = require "measure"
local outdir = require "outdir"
local picks = require "picks"
local progress = require "progress"
local rank = require "rank"
local select_ = require "select"
local tab = require "tab"

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

-- How long the rest takes if it takes as long as what this call has measured; and what is left of BUDGET.
local function time_left(c)
  local out, now = nil, host.now()
  if c.measured > 0 then
    out = campaign.span((now - c.started) / c.measured * (#c.problems - c.count - #c.lost)) .. " left"
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

-- ------------------------------------------------------------------------------- one problem

local function new(opt, ctx)
  local c = {
    opt = opt, ctx = ctx, problems = select_.problems(opt), picks = picks.open(opt), store = done.open(ctx),
    run = ctx.common.run, rows = {}, best = {}, lost = {}, count = 0, measured = 0, failed = 0,
    finalists = not ctx.backend.run and bench.passes[2].best or nil,
  }
  c.few = #c.problems <= FEW
  c.line = progress.new("bench", #c.problems)
  ctx.campaign, ctx.progress = true, steps_of(c)
  return c
end

-- All rows of the i-th problem are there: its best one is part of what is shown.
local function settle(c, i, rows)
  local best = rank.sort(rows).ranked[1]
  c.count, c.best[i] = c.count + 1, best
  c.line.count = c.count
  c.rows[i] = c.few and rows or true
  if best and best.ratio and (not c.top or best.ratio > c.top.ratio) then c.top = best end
  for _, row in ipairs(rows) do
    if row.status ~= "ok" and row.status ~= "same" then c.failed = c.failed + 1 end
  end
end

-- Finds the problems that are done already. Only candidates that are remembered are looked for here.
local function review(c)
  if c.opt.fresh then return end
  for i, problem in ipairs(c.problems) do
    local candidates = c.picks:recall(problem)
    local rows = candidates and c.store:problem(problem):all(candidates, c.finalists)
    if rows then settle(c, i, rows) end
    if host.interrupted() then return end
  end
  for _, row in ipairs(c.store:quarantined()) do c.ctx.session.quarantine[row.cubin] = row.why or "no reason given" end
  if c.count > 0 then
    host.err(fmt("note: %d of %d problems are done already; FRESH=1 measures them again\n", c.count, #c.problems))
  end
end

local function show(c, i)
  if not c.few then return end
  c.line:clear()
  rank.print(c.problems[i], c.rows[i])
end

-- The builds of a problem are steps of it.
local function build_steps(c, problem)
  return function(kernels)
    c.kernels = kernels
    c.ctx.opt.progress = c.ctx.progress.new("build " .. rank.title(problem), #kernels)
  end
end

-- Measures what the i-th problem lacks: "done", "stopped", "lost" or "interrupted".
local function measure_one(c, i)
  local ctx, problem, before = c.ctx, c.problems[i], c.ctx.rows
  ctx.known = not c.opt.fresh and c.store:problem(problem) or nil
  ctx.common.run = ctx.known and ctx.known.run or c.run
  local rows, ok, why = bench.problem(ctx, problem, build_steps(c, problem))
  if ok == false then return "interrupted" end
  if ctx.stopped then return "stopped" end
  if ctx.rows > before then c.measured = c.measured + 1 end
  if ok == nil then
    c.lost[#c.lost + 1] = problem
    c.line:clear()
    host.err(fmt("loom: %s: %s\n", rank.title(problem), why))
    return "lost"
  end
  c.picks:keep(problem, c.kernels)
  settle(c, i, rows)
  show(c, i)
  c.line:note(status(c, ""))
  return "done"
end

-- All problems in their order, until BUDGET is spent.
local function measure_all(c)
  local ctx = c.ctx
  for i in ipairs(c.problems) do
    if host.interrupted() then return "interrupted" end
    if c.rows[i] then
      show(c, i)
    else
      if ctx.deadline and host.now() > ctx.deadline and ctx.rows > 0 then return "stopped" end
      local how = measure_one(c, i)
      if how == "stopped" or how == "interrupted" then return how end
    end
  end
  return "done"
end

-- ------------------------------------------------------------------------------- results

local function interval(v, lo, hi)
  return v and fmt("%.3f [%.3f,%.3f]", v, lo, hi) or "-"
end

local function microseconds(v)
  return v and fmt("%.2f", v) or "-"
end

local timed_columns = { "problem", "layout", "ratio", "ratio pdl", "us", "us pdl", "cuBLAS nn", "tn", "key" }
local cpu_columns = { "problem", "layout", "predicted us", "verified at", "key" }

local function cells(problem, row)
  return {
    problem = fmt("%dx%dx%d", problem.M, problem.N, problem.K), layout = problem.layout,
    ratio = interval(row.ratio, row.ratio_lo, row.ratio_hi),
    ["ratio pdl"] = interval(row.ratio_pdl, row.ratio_pdl_lo, row.ratio_pdl_hi),
    us = microseconds(row.us), ["us pdl"] = microseconds(row.us_pdl), ["cuBLAS nn"] = microseconds(row.cublas_nn_us),
    tn = microseconds(row.cublas_tn_us), ["predicted us"] = microseconds(row.predicted_us),
    ["verified at"] = row.verified or "-", key = row.key or "-",
  }
end

-- The best kernel of every problem that is done, a line each, and the figures over all of them. While some
-- are left the figures are of those that are done.
local function overview(c, count)
  local list, best = {}, {}
  for i, problem in ipairs(c.problems) do
    local row = c.best[i]
    if row then best[#best + 1] = row end
    if c.rows[i] then list[#list + 1] = cells(problem, row or {}) end
  end
  if #list > 0 then
    host.out("\n" .. tab.format(list, c.ctx.backend.run and cpu_columns or timed_columns))
  end
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
  local ctx = measure.start(opt)
  if not ctx then
    host.err("loom: interrupted: nothing was measured\n")
    return 1
  end
  local c = new(opt, ctx)
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
