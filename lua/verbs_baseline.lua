-- verbs_baseline: the verb `baseline`: what NVIDIA's libraries take on each problem of a file, measured and stored.
--
-- One job of the worker times all options of a problem in both layouts; its rows are stored together, so a
-- call may end anywhere and the same command goes on. A problem is done when the store has all these options
-- of it from this GPU and these versions, or when a job of no more options stopped its worker twice.

local baselines = require "baselines"
local campaign = require "campaign"
local fail = require "fail"
local measure = require "measure"
local outdir = require "outdir"
local progress = require "progress"
local store = require "store"

local verbs = {}

local fmt = string.format

local BLOCKS, SEED = 4, 1       -- rounds in which the options take turns; the seed of a problem's inputs
verbs.limit = 60 -- seconds for a job, beside its sweeps
local SWEEP_S, MOST_SWEEP_S = 20, 600 -- how long a sweep looks for algorithms, and may
local SHOWN = 10                -- failures and reasons that are listed

-- ------------------------------------------------------------------------------- what is asked

-- The words of OPTIONS in the worker's order. Every job has cublasGemmEx, which the others are compared with.
local function words_of(opt)
  local asked, out = { gemmex = true }, {}
  for _, word in ipairs(opt.options or { "gemmex", "lt" }) do asked[word] = true end
  for _, word in ipairs(baselines.words) do
    if asked[word[1]] then out[#out + 1] = word[1] end
  end
  return out
end

local function has_word(words, word)
  return (" " .. words .. " "):find(" " .. word .. " ", 1, true) ~= nil
end

-- `n` of the problems by lot. Of the same file a larger sample holds a smaller one, so it costs what is new.
local function sample(list, n, seed)
  if not n or n >= #list then return list end
  local lots, all = {}, table.move(list, 1, #list, 1, {})
  for _, p in ipairs(all) do lots[p] = host.sha256(fmt("sample %d %s", seed, baselines.name(p))) end
  table.sort(all, function(x, y) return lots[x] < lots[y] end)
  return table.move(all, 1, n, 1, {})
end

local function elements(p)
  return p.M * p.K + p.K * p.N + p.M * p.N
end

-- From small buffers to large ones: the worker keeps them from problem to problem.
local function by_size(list)
  table.sort(list, function(x, y)
    if elements(x) ~= elements(y) then return elements(x) < elements(y) end
    if x.M ~= y.M then return x.M < y.M end
    if x.N ~= y.N then return x.N < y.N end
    return x.K < y.K
  end)
  return list
end

local function problems_of(opt)
  local list = {}
  for i, dims in ipairs(opt.shape or opt.shapes) do
    list[i] = { M = dims[1], N = dims[2], K = dims[3], dtype = opt.dtype, acc = opt.acc }
  end
  return by_size(sample(list, opt.n, opt.seed or 1))
end

-- Knobs that would say nothing are refused.
local function check_knobs(opt)
  local given = opt.given or {}
  if not opt.shape and not opt.shapes then
    for _, name in ipairs { "OPTIONS", "SWEEP", "BUDGET", "FRESH", "N", "SEED", "BACKEND", "WORKER" } do
      if given[name] then
        fail.usage(fmt("%s is for measuring, which wants SHAPE=MxNxK or SHAPES=file; without, baseline shows the store",
                       name))
      end
    end
  end
  if opt.backend == "cpu" then fail.usage("BACKEND=cpu has none of NVIDIA's libraries") end
  if given.SEED and not given.N then fail.usage("SEED is of the sample that N=... takes") end
  if given.SWEEP and not table.concat(opt.options or {}, " "):find("exhaustive", 1, true) then
    fail.usage("SWEEP is for OPTIONS=exhaustive")
  end
  if (opt.sweep or 0) > MOST_SWEEP_S then fail.usage(fmt("SWEEP is above %ds", MOST_SWEEP_S)) end
  if (opt.shape or opt.shapes) and measure.backend_name(opt) == "cpu" then
    fail("no GPU here: baseline times NVIDIA's libraries on one")
  end
end

-- ------------------------------------------------------------------------------- what is done

-- The newest rows of the libraries that this run could have written, oldest first.
local function rows_of(st, opt, common)
  local where = { backend = "nvidia" }
  for _, name in ipairs(baselines.same) do where[name] = common[name] end
  local out = {}
  for _, row in ipairs(st:history(where)) do
    if row.dtype == opt.dtype and row.acc == opt.acc then out[#out + 1] = row end
  end
  return out
end

-- The options that these words have measured.
local function options_of(words)
  local out = {}
  for _, word in ipairs(baselines.words) do
    if has_word(words, word[1]) then table.move(word, 2, #word, #out + 1, out) end
  end
  return out
end

local function has_all(found, words)
  for _, name in ipairs(options_of(words)) do
    if not found.options[name] then return false end
  end
  return true
end

-- The newest failure of a job that had no more than these words.
local function failure(found, words)
  for i = #found.failed, 1, -1 do
    local row, within = found.failed[i], true
    for word in row.key:match("options=(.*)$"):gmatch("[^,]+") do
      within = within and has_word(words, word)
    end
    if within then return row end
  end
end

-- Is it measured? And how it failed, where it did.
local function state_of(found, words)
  if not found then return false end
  if has_all(found, words) then return true end
  local row = failure(found, words)
  return row ~= nil, row
end

-- ------------------------------------------------------------------------------- one job

local WIRE = { gemmex = "gemmex", autotune = "gemmex_autotune", lt_first = "lt_first", lt_best = "lt_best",
               lt_exhaustive = "lt_exhaustive" } -- as the worker's answer names them

local COUNTS = { lt_best = { "answers", "looked", "failed" },
                 lt_exhaustive = { "checked", "accepted", "raced", "whole" } }

-- Of the job, equal in all its rows; those that are 0 or usual are left out.
local FIGURES = { "clock_mhz", "power_w", "temp_c", "drift", "blocks", "reps", "starved", "drifted", "unsteady",
                  "throttled" }
local USUAL = { throttle = "none", cublas_math = "default" }

-- A row of a problem's job before there is an answer.
local function blank(ctx, p, layout, key)
  local row = { m = p.M, n = p.N, k = p.K, layout = layout, dtype = p.dtype, acc = p.acc, key = "nvidia:" .. key,
                pass = 1, seed = SEED }
  for name, value in pairs(ctx.common) do row[name] = value end
  row.backend, row.nvcc = "nvidia", "none"
  return row
end

local function found_text(answer, option, layout)
  local parts = {}
  for _, name in ipairs(COUNTS[option] or {}) do
    local v = answer[fmt("lt_%s_%s", layout, name)]
    if v then parts[#parts + 1] = name .. "=" .. v end
  end
  return #parts > 0 and table.concat(parts, " ") or nil
end

local function job_figures(answer, row)
  for _, name in ipairs(FIGURES) do
    local v = tonumber(answer[name])
    if v and v == v and v ~= 0 and math.abs(v) ~= math.huge then row[name] = math.tointeger(v) or v end
  end
  for _, name in ipairs { "throttle", "cublas_math" } do
    if answer[name] ~= USUAL[name] then row[name] = answer[name] end
  end
end

-- The row of one option in one layout.
local function option_row(ctx, p, option, layout, answer)
  local row = blank(ctx, p, layout, fmt("option=%s,layout=%s", option, layout))
  local name = WIRE[option] .. "_" .. layout
  local us = tonumber(answer[name .. "_us"])
  row.option, row.found = option, found_text(answer, option, layout)
  if us and us > 0 and us < math.huge then
    row.status, row.us = "ok", us
    row.best_nv_algo, row.place = answer[name .. "_algo"], math.tointeger(tonumber(answer[name .. "_place"]))
    job_figures(answer, row)
  else
    row.status, row.why = "refused", answer[name .. "_why"] or "the library has no algorithm for it"
  end
  return row
end

-- All rows of an answer, cublasGemmEx's first; nil where it has no time of that.
local function rows_of_answer(ctx, p, words, answer)
  local rows = {}
  for _, option in ipairs(options_of(words)) do
    for _, layout in ipairs { "nn", "tn" } do rows[#rows + 1] = option_row(ctx, p, option, layout, answer) end
  end
  return (rows[1].us or rows[2].us) and rows or nil
end

local function job_of(p, words, sweep)
  local job = { { "M", p.M }, { "N", p.N }, { "K", p.K }, { "dtype", p.dtype }, { "acc", p.acc }, { "seed", SEED },
                { "options", (words:gsub(" ", ",")) }, { "blocks", BLOCKS } }
  if has_word(words, "exhaustive") then job[#job + 1] = { "sweep_s", sweep } end
  return job
end

-- Measures one problem and stores its rows, or the one that says why there are none; nil when interrupted.
local function measure_one(c, p)
  local ctx, flight = c.ctx, blank(c.ctx, p, "nn", "options=" .. c.words:gsub(" ", ","))
  local started, why = host.now(), ctx.store:start(flight)
  local status, answer = "quarantined", { why = why }
  if not why then
    local id = fmt("%s %s %s", baselines.name(p), p.dtype, p.acc)
    status, answer = ctx.session:baseline(id, job_of(p, c.words, c.sweep))
  end
  if status == "interrupted" then
    ctx.store:unstart(flight)
    return nil
  end
  local rows = status == "ok" and rows_of_answer(ctx, p, c.words, answer)
  if not rows then
    flight.status = status == "ok" and "error" or status
    flight.why = status == "ok" and "the worker's answer has no time of cublasGemmEx" or answer.why or status
    rows = { flight }
  end
  rows[1].ms = (host.now() - started) * 1000 // 0.1 / 10
  ctx.store:add_all(rows, flight)
  return rows
end

-- ------------------------------------------------------------------------------- the measuring

-- Seconds that a job takes, about: what a problem costs anyhow, its products, its sweeps.
local function cost(c, p)
  return 0.3 + 0.9e-12 * p.M * p.N * p.K + (has_word(c.words, "exhaustive") and 2 * c.sweep or 0)
end

local function time_left(c)
  local now, out = host.now(), ""
  if c.spent > 0 then out = campaign.span((now - c.started) / c.spent * c.cost) .. " left" end
  if not c.ctx.deadline then return out end
  return (out ~= "" and out .. ", " or "") .. "BUDGET " .. campaign.span(c.ctx.deadline - now)
end

-- Tells the rest from what the store has; a problem that failed before counts as done.
local function review(c, opt)
  local book = opt.fresh and {} or baselines.collect(rows_of(c.ctx.store, opt, c.ctx.common))
  c.left, c.cost = {}, 0
  for _, p in ipairs(c.problems) do
    if not state_of(book[baselines.name(p)], c.words) then
      c.left[#c.left + 1] = p
      c.cost = c.cost + cost(c, p)
    end
  end
  local done = #c.problems - #c.left
  if done > 0 then
    host.err(fmt("note: %d of %d problems are done already; FRESH=1 measures them again\n", done, #c.problems))
  end
  c.line = progress.new("baseline", #c.problems)
  c.line.count = done
end

-- Measures what is left: "done", "stopped" by BUDGET, or "interrupted".
local function measure_all(c)
  c.started, c.spent, c.measured = host.now(), 0, 0
  for _, p in ipairs(c.left) do
    if host.interrupted() then return "interrupted" end
    if c.measured > 0 and c.ctx.deadline and host.now() > c.ctx.deadline then return "stopped" end
    c.line:note(fmt("%s; %s", time_left(c), baselines.name(p)))
    local rows = measure_one(c, p)
    if not rows then return "interrupted" end
    if not rows[1].option then c.bad[baselines.name(p)] = rows[1] end
    c.measured, c.spent, c.cost = c.measured + 1, c.spent + cost(c, p), c.cost - cost(c, p)
    c.line:step(time_left(c))
  end
  return "done"
end

-- ------------------------------------------------------------------------------- results

local function head(row, opt)
  return fmt("NVIDIA's libraries on %s: driver %s, CUDA %s, cuBLAS %s, cuBLASLt %s; %s acc %s%s\n", row.device,
             row.driver, row.cuda, row.cublas, row.cublaslt or "-", opt.dtype, opt.acc,
             row.device == "fake" and "; the figures are invented" or "")
end

-- Why options were refused, and at how many problems; the frequent reasons first.
local function say_refused(rows)
  local times, list = {}, {}
  for _, row in ipairs(rows) do
    local text = fmt("%s: %s", row.option, ((row.why or ""):gsub(" %([^()]*%)", "")))
    if not times[text] then list[#list + 1] = text end
    times[text] = (times[text] or 0) + 1
  end
  table.sort(list, function(x, y)
    if times[x] ~= times[y] then return times[x] > times[y] end
    return x < y
  end)
  for i, text in ipairs(list) do
    local n = times[text]
    if i <= SHOWN then host.err(fmt("refused at %d problem%s: %s\n", n, n == 1 and "" or "s", text)) end
  end
end

local function say_lost(lost)
  for i, row in ipairs(lost) do
    if i <= SHOWN then host.err(fmt("%s %s: %s\n", row.status, baselines.name(row), row.why or "")) end
  end
  if #lost > SHOWN then host.err(fmt("... and %d more problems\n", #lost - SHOWN)) end
end

-- The table of these problems; the problems whose job failed are listed.
local function show(rows, problems, opt)
  local sums = baselines.sums(problems, baselines.collect(rows))
  if sums.count > 0 then host.out(head(rows[#rows], opt) .. "\n" .. baselines.table(sums) .. "\n") end
  host.out(baselines.figures(sums))
  say_refused(sums.refused)
  say_lost(sums.lost)
end

-- Seconds that the jobs of these problems took, in all calls.
local function job_seconds(rows, problems)
  local asked, ms = {}, 0
  for _, p in ipairs(problems) do asked[baselines.name(p)] = true end
  for _, row in ipairs(rows) do
    if asked[baselines.name(row)] then ms = ms + (row.ms or 0) end
  end
  return ms / 1000
end

-- How many of the problems asked for could not be measured; those that failed now, and have older figures, are listed.
local function failures(c, rows)
  local book, n, old = baselines.collect(rows), 0, {}
  for _, p in ipairs(c.problems) do
    local name = baselines.name(p)
    local _, failed = state_of(book[name], c.words)
    if failed or c.bad[name] then n = n + 1 end
    if c.bad[name] and book[name].best then old[#old + 1] = c.bad[name] end
  end
  say_lost(old)
  return n
end

local function conclude(c, opt, how)
  local rows = rows_of(c.ctx.store, opt, c.ctx.common)
  c.ctx.store:close()
  show(rows, c.problems, opt)
  host.out(fmt("jobs: %d count\njobs_time: %.1f s\ntime: %.1f s\n", c.measured, job_seconds(rows, c.problems),
               host.now() - c.began))
  if how == "stopped" then
    host.out(fmt("%d of %d problems done; the same command %sgoes on\n", c.line.count, #c.problems,
                 opt.fresh and "without FRESH=1 " or ""))
  end
  local failed = failures(c, rows)
  if failed == 0 then return 0 end
  host.err(fmt("loom: %d problem%s failed; FRESH=1 tries again\n", failed, failed == 1 and "" or "s"))
  return 1
end

local function interrupted(c)
  if not c.ctx then
    host.err("loom: interrupted: nothing was measured\n")
    return 1
  end
  c.ctx.session:drop()
  host.err(fmt("loom: interrupted: %d of %d problems done, the rows are in %s; the same command goes on\n",
               c.line.count, #c.problems, outdir.shown(c.ctx.store.path)))
  return 1
end

local function measured(opt)
  local c = { problems = problems_of(opt), words = table.concat(words_of(opt), " "), sweep = opt.sweep or SWEEP_S,
              began = host.now(), bad = {} }
  c.ctx = measure.start(opt, { baseline = verbs.limit + (has_word(c.words, "exhaustive") and 4 * c.sweep or 0) })
  if not c.ctx then return interrupted(c) end
  c.ctx.deadline = opt.budget and host.now() + opt.budget
  review(c, opt)
  local how = measure_all(c)
  c.line:done()
  if how == "interrupted" then return interrupted(c) end
  c.ctx.session:stop()
  return conclude(c, opt, how)
end

-- Without a problem: what the store has of the GPU and versions that were measured last.
local function shown(opt)
  local path = outdir.store(opt)
  local st = store.reader(path)
  local all, mine = st:history { backend = "nvidia" }, {}
  st:close()
  for _, row in ipairs(all) do
    if row.dtype == opt.dtype and row.acc == opt.acc then mine[#mine + 1] = row end
  end
  if #mine == 0 then
    fail(fmt("no rows of NVIDIA's libraries for %s acc %s in '%s': run `make baseline SHAPES=file` first", opt.dtype,
             opt.acc, outdir.shown(path)))
  end
  local rows = baselines.newest(mine)
  if #rows < #mine then
    host.err(fmt("note: %d rows of other GPUs or versions are left out\n", #mine - #rows))
  end
  local problems, seen = {}, {}
  for _, row in ipairs(rows) do
    local name = baselines.name(row)
    if not seen[name] then problems[#problems + 1] = { M = row.m, N = row.n, K = row.k } end
    seen[name] = true
  end
  show(rows, by_size(problems), opt)
  host.out(fmt("jobs_time: %.1f s\n", job_seconds(rows, problems)))
  return 0
end

function verbs.baseline(opt)
  check_knobs(opt)
  return (opt.shape or opt.shapes) and measured(opt) or shown(opt)
end

return verbs
