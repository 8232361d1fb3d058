-- bench: candidates of each problem, verified and timed by the worker, ranked against cuBLAS. On the CPU
-- device (cpu_bench.lua) they are verified, and ranked by predicted time.
--
-- Per problem: select -> emit -> build -> pass 1 (all candidates, few blocks) -> pass 2 (the best
-- few, more blocks, a fresh worker). Every answer becomes a row of the store at once. The worker
-- may crash or hang (worker.lua); here that is a row with a status and a reason. A campaign
-- (campaign.lua) benches a file of problems by the same functions, and knows what is done (ctx.known).

local emit = require "emit"
local fail = require "fail"
local measure = require "measure"
local outdir = require "outdir"
local progress = require "progress"
local rank = require "rank"
local select_ = require "select"
local store = require "store"

local bench = { passes = { { blocks = 8 }, { blocks = 32, best = 4 } } }

-- ------------------------------------------------------------------------------- one problem

-- The row that a campaign has of a built kernel in a pass, nil where it has to be measured: a changed
-- header changes the cubin alone.
local function known(ctx, kernel, pass)
  if not ctx.known then return nil end
  local row = ctx.known:row({ hash = kernel.hash, source = host.sha256(kernel.text) }, pass)
  return row and row.cubin == kernel.built.cubin_sha and row or nil
end

-- The row of a kernel that is not timed.
local function untimed(ctx, problem, kernel, status, why)
  return known(ctx, kernel, 1) or measure.row(ctx, problem, kernel, 1, status, { why = why })
end

-- Kernels that can be timed, each cubin once; the others become rows here.
local function usable(ctx, problem, kernels, rows)
  local list, first = {}, {}
  for _, kernel in ipairs(kernels) do
    if kernel.built.error then
      rows[#rows + 1] = untimed(ctx, problem, kernel, "build", kernel.built.error)
    else
      local id = measure.identity(kernel)
      if first[id] then
        rows[#rows + 1] = untimed(ctx, problem, kernel, "same", "equals " .. first[id].key)
      else
        first[id] = kernel
        list[#list + 1] = kernel
      end
    end
  end
  return list
end

-- BUDGET ends the first pass; the second one, a few kernels, is always run. Of a campaign it ends either,
-- as soon as this call has measured something.
local function spent(ctx)
  return ctx.deadline and host.now() > ctx.deadline
end

-- Is BUDGET spent before the i-th of `count` kernels of a pass?
local function over(ctx, p, pass, i, count)
  if not spent(ctx) then return false end
  if ctx.campaign then
    ctx.stopped = ctx.rows > 0
    return ctx.stopped
  end
  if pass > 1 or i == 1 then return false end
  p:clear()
  host.err(string.format("loom: BUDGET is spent: %d of %d kernels left\n", count - i + 1, count))
  return true
end

-- Times one kernel: "ok" and its row, or the status of a run that cannot go on, and why.
local function time_one(ctx, problem, pass, kernel)
  local job = { { "cubin", kernel.built.cubin }, { "desc", kernel.json },
                { "blocks", bench.passes[pass].blocks } }
  local given_up = measure.begin(ctx, problem, kernel, pass)
  if given_up then return "ok", given_up end
  local status, answer = ctx.session:time(problem, kernel.built.cubin_sha, job)
  if status == "interrupted" or status == "unprepared" then
    measure.drop(ctx, problem, kernel, pass)
    return status, answer.why
  end
  return "ok", measure.row(ctx, problem, kernel, pass, status, answer)
end

-- Times `kernels` in one pass; false when the user interrupted, nil, why when the problem itself
-- fails.
local function run_pass(ctx, problem, pass, kernels, rows, p)
  for i, kernel in ipairs(kernels) do
    local status, row = "ok", known(ctx, kernel, pass)
    if not row then
      if over(ctx, p, pass, i, #kernels) then return true end
      status, row = time_one(ctx, problem, pass, kernel)
    end
    if status == "interrupted" then return false end
    if status == "unprepared" then return nil, row end
    rows[#rows + 1] = row
    p:step(kernel.stem)
    if host.interrupted() then return false end
  end
  return true
end

-- The kernels of the best `count` rows.
local function finalists(kernels, rows, count)
  local by_key, out = {}, {}
  for _, kernel in ipairs(kernels) do by_key[kernel.key] = kernel end
  for i, row in ipairs(rank.sort(rows).ranked) do
    if i <= count then out[i] = by_key[row.key] end
  end
  return out
end

-- On the CPU device there is one pass, and only what has no row is verified.
local function verify_all(ctx, problem, kernels, rows)
  local left = {}
  for _, kernel in ipairs(kernels) do
    local row = known(ctx, kernel, 1)
    table.insert(row and rows or left, row or kernel)
  end
  if #left == 0 then return true end
  return ctx.backend.run(ctx, problem, left, rows, function(p, i) return over(ctx, p, 1, i, #left) end)
end

local function time_all(ctx, problem, kernels, rows)
  if ctx.backend.run then return verify_all(ctx, problem, kernels, rows) end
  local list = usable(ctx, problem, kernels, rows)
  local best = bench.passes[2].best
  local p = (ctx.progress or progress).new("bench " .. rank.title(problem), #list + math.min(best, #list))
  local done, why = run_pass(ctx, problem, 1, list, rows, p)
  if done and not ctx.stopped then
    -- A fresh worker: what an earlier kernel left behind (caches, clocks, memory) is gone.
    ctx.session:stop()
    done, why = run_pass(ctx, problem, 2, finalists(list, rows, best), rows, p)
  end
  p:done()
  return done, why
end

-- One problem: its rows, and false when interrupted, nil and a reason when it cannot be measured.
-- `chosen` is told its kernels, before they are built.
function bench.problem(ctx, problem, chosen)
  local opt, rows = ctx.opt, {}
  local ok, items = pcall(select_.pick, problem, opt.device, opt)
  if not ok then return rows, nil, fail.text(items) or error(items, 0) end
  problem.job = measure.problem_job(problem)
  local kernels = emit.all(items, outdir.path(opt, "kernels"))
  if chosen then chosen(kernels) end
  if not ctx.backend.build(kernels, opt) or host.interrupted() then return rows, false end
  local done, why = time_all(ctx, problem, kernels, rows)
  return rows, done, why
end

local function interrupted(ctx)
  host.err(string.format("loom: interrupted: %d rows are in %s\n", ctx and ctx.rows or 0,
                         ctx and outdir.shown(ctx.store.path) or "no store"))
  return 1
end

-- All problems of `opt`; exit code 0 when each of them has a ranked kernel and no kernel failed: a
-- kernel that does not build, is wrong or crashes is a fault of its template or its space.
function bench.run(opt)
  local problems = select_.problems(opt)
  local ctx = measure.start(opt)
  if not ctx then return interrupted(nil) end
  ctx.deadline = opt.budget and host.now() + opt.budget
  host.out(rank.device_line(ctx.common) .. "\n")
  local best = {}
  for i, problem in ipairs(problems) do
    if i > 1 and spent(ctx) then
      host.err(string.format("loom: BUDGET is spent: %d of %d problems left\n", #problems - i + 1,
                             #problems))
      break
    end
    local rows, done, why = bench.problem(ctx, problem)
    best[#best + 1] = rank.print(problem, rows)
    if done == false then
      ctx.session:drop()
      return interrupted(ctx)
    end
    if done == nil then host.err(string.format("loom: %s: %s\n", rank.title(problem), why)) end
  end
  ctx.session:stop()
  rank.summary(best, #problems)
  ctx.store:close()
  if ctx.failed > 0 then
    host.err(string.format("loom: %d kernel%s failed, see above\n", ctx.failed,
                           ctx.failed == 1 and "" or "s"))
  end
  return #best == #problems and ctx.failed == 0 and 0 or 1
end

local function nothing(path)
  local text = host.stat(path) and "no rows for this in '%s'" or "no store at '%s'"
  fail(string.format(text .. ": run `make bench SHAPE=MxNxK` first", outdir.shown(path)))
end

-- The rows whose key is of one of the named spaces, or all.
local function of_spaces(rows, names)
  if not names then return rows end
  local out = {}
  for _, row in ipairs(rows) do
    for _, name in ipairs(names) do
      if row.key:sub(1, #name + 1) == name .. ":" then out[#out + 1] = row end
    end
  end
  return out
end

-- The problems that the knobs LAYOUT, DTYPE and ACC allow, where given.
local function allowed(problems, opt)
  local out, given = {}, opt.given or {}
  for _, p in ipairs(problems) do
    local layout = not given.LAYOUT
    for _, l in ipairs(opt.layout or {}) do layout = layout or l == p.layout end
    if layout and (not given.DTYPE or p.dtype == opt.dtype) and (not given.ACC or p.acc == opt.acc) then
      out[#out + 1] = p
    end
  end
  return out
end

-- The latest rows of a problem: where something was timed, what was verified since does not hide it.
local function latest(st, problem, where)
  local timed = { backend = where.backend, preset = where.preset, timed = not where.backend }
  local rows = of_spaces(st:latest(problem, timed), where.spaces)
  return #rows > 0 and rows or of_spaces(st:latest(problem, where), where.spaces)
end

-- Prints what the latest run says of each problem; how many have rows, and the best rows.
local function print_latest(st, problems, where)
  local best, found, last = {}, 0, nil
  for _, problem in ipairs(problems) do
    local rows = latest(st, problem, where)
    if #rows > 0 then
      local line = rank.device_line(rows[1])
      if line ~= last then host.out((last and "\n" or "") .. line .. "\n") end
      found, last = found + 1, line
      best[#best + 1] = rank.print(problem, rows, where.limit)
    end
  end
  return found, best
end

-- The tables of the problems of `opt`, or of all in the store when it names none.
function bench.rank(opt)
  local path, given = outdir.store(opt), opt.given or {}
  if not host.stat(path) then nothing(path) end
  local where = { backend = opt.backend, preset = given.DEVICE and opt.device.name, limit = opt.n,
                  spaces = opt.space }
  local st = store.reader(path)
  local problems = #opt.problems > 0 and opt.problems or allowed(st:problems(where), opt)
  local found, best = print_latest(st, problems, where)
  st:close()
  if found == 0 then nothing(path) end
  if #problems > 1 then rank.summary(best, #problems) end
  return 0
end

return bench
