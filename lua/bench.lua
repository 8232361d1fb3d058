-- bench: candidates of each problem, verified and timed by the worker, ranked against cuBLAS. On the CPU
-- device (cpu_bench.lua) they are verified, and ranked by predicted time.
--
-- Per problem: select -> emit -> build -> heats -> finals in fresh processes (race.lua), which make the result.
-- Every answer becomes a row of the store at once. The worker may crash or hang (worker.lua); here that is a row
-- with a status and a reason. A campaign (campaign.lua) benches a file of problems by the same functions, and
-- knows what is done.

local clocks = require "clocks"
local emit = require "emit"
local fail = require "fail"
local measure = require "measure"
local outdir = require "outdir"
local progress = require "progress"
local race = require "race"
local rank = require "rank"
local select_ = require "select"
local store = require "store"

local bench = {}

-- ------------------------------------------------------------------------------- one problem

-- The row of a kernel that is not timed.
local function untimed(ctx, problem, known, kernel, status, why)
  local row = race.known(known, kernel, 1)
  return row and row.status == status and row or measure.row(ctx, problem, kernel, 1, status, { why = why })
end

-- Kernels that can be timed, each cubin once; the others become rows here.
local function usable(ctx, problem, known, kernels, rows)
  local list, first = {}, {}
  for _, kernel in ipairs(kernels) do
    if kernel.built.error then
      rows[#rows + 1] = untimed(ctx, problem, known, kernel, "build", kernel.built.error)
    else
      local id = measure.identity(kernel)
      if first[id] then
        rows[#rows + 1] = untimed(ctx, problem, known, kernel, "same", "equals " .. first[id].key)
      else
        first[id] = kernel
        list[#list + 1] = kernel
      end
    end
  end
  return list
end

-- BUDGET ends the heats; the finals, a few kernels, are always run. Of a campaign it ends either, as soon as
-- this call has measured something.
local function spent(ctx)
  return ctx.deadline and host.now() > ctx.deadline
end

local function campaign_over(ctx)
  ctx.stopped = spent(ctx) and ctx.rows > 0 or false
  return ctx.stopped
end

-- Says whether BUDGET is spent before the i-th of `count` kernels of a heat; p is its progress line.
local function heat_over(ctx, p)
  local told = false
  return function(r, i, count)
    if ctx.campaign then return campaign_over(ctx) end
    if not spent(ctx) or r.met == 0 then return false end
    if told then return true end
    told = true
    p:clear()
    host.err(string.format("loom: BUDGET is spent: %d of %d kernels left\n", count - i + 1, count))
    return true
  end
end

local function line_of(ctx, label, steps)
  return (ctx.progress or progress).new(label, steps)
end

-- On the CPU device there is one pass, and only what has no row is verified.
local function verify(ctx, r)
  local left, rows = {}, r.rows
  for _, kernel in ipairs(r.kernels) do
    local row = race.known(r.known, kernel, 1)
    table.insert(row and rows or left, row or kernel)
  end
  if #left == 0 then return true end
  return ctx.backend.run(ctx, r.problem, left, rows, function(p, i)
    r.met = i - 1
    return heat_over(ctx, p)(r, i, #left)
  end)
end

-- One problem, its candidates chosen, rendered and built: a race. nil, why where it cannot be; false when
-- interrupted. `known` has the rows that need not be measured, `run` is the number of the new ones; `chosen` is
-- told its kernels before they are built.
function bench.open(ctx, problem, known, run, chosen)
  local opt, rows = ctx.opt, {}
  local ok, items = pcall(select_.pick, problem, opt.device, opt)
  if not ok then return nil, fail.text(items) or error(items, 0) end
  local kernels = emit.all(items, outdir.path(opt, "kernels"))
  if chosen then chosen(kernels) end
  if not ctx.backend.build(kernels, opt) or host.interrupted() then return false end
  ctx.common.run = run
  local list = ctx.backend.run and kernels or usable(ctx, problem, known, kernels, rows)
  return race.new(ctx, problem, list, rows, known, run)
end

-- The heats of a race, or on the CPU device all of it: true, false when interrupted, nil and why.
function bench.heat(ctx, r)
  if ctx.backend.run then return verify(ctx, r) end
  local steps = race.steps(#r.kernels, ctx.opt)
  if steps == 0 then return r:heat() end
  local p = line_of(ctx, "bench " .. rank.title(r.problem), steps)
  local done, why = r:heat(p, heat_over(ctx, p))
  p:done()
  return done, why
end

-- ------------------------------------------------------------------------------- finals

-- What follows the result of a problem where the user wants it: the knob's field, the module, the column of a
-- result that has had it already.
local HOOKS = { { "sanitize", "sanitize", "sanitizer" }, { "clocks", "clocks" } }

local function wants(opt, field)
  local v = opt[field]
  return v and (type(v) ~= "table" or #v > 0)
end

-- Does more follow the results?
function bench.more(opt)
  for _, hook in ipairs(HOOKS) do
    if wants(opt, hook[1]) then return true end
  end
  return false
end

-- What follows one kernel, up to where it is found to be wrong; false when interrupted.
local function follow_one(ctx, r, kernel, row)
  for _, hook in ipairs(HOOKS) do
    if wants(ctx.opt, hook[1]) and not row[hook[3]] and row.status == "ok" then
      local ok, why = require(hook[2]).run(ctx, r.problem, kernel, row)
      if ok == false then return false end
      if ok == nil then host.err(string.format("loom: %s: %s\n", rank.title(r.problem), why)) end
    end
  end
  return true
end

-- The same for the best kernel of a race, and for the next one where that is found to be wrong.
local function follow(ctx, r)
  local kernel, row = r:best()
  while kernel do
    if not follow_one(ctx, r, kernel, row) then return false end
    if row.status == "ok" then return true end
    kernel, row = r:best()
  end
  return true
end

local function finals_line(ctx, races)
  local steps = 0
  for _, r in ipairs(races) do steps = steps + race.processes(ctx.opt) * #r.finalists end
  local label = #races == 1 and rank.title(races[1].problem) or #races .. " problems"
  return line_of(ctx, "finals of " .. label, steps)
end

-- The finals of races whose heats are done, and what follows them: true (ctx.stopped: not all of it), false when
-- interrupted. A race whose problem fails has `why`.
function bench.finals(ctx, races)
  if ctx.backend.run or #races == 0 then return true end
  local p = finals_line(ctx, races)
  local ok = race.run_finals(ctx, races, p, function() return ctx.campaign and campaign_over(ctx) end)
  p:done()
  for _, r in ipairs(ok and not ctx.stopped and races or {}) do
    ctx.common.run = r.run
    if bench.more(ctx.opt) and ctx.campaign and campaign_over(ctx) then return true end
    if not follow(ctx, r) then return false end
  end
  return ok
end

-- ------------------------------------------------------------------------------- all problems

local function interrupted(ctx)
  host.err(string.format("loom: interrupted: %d rows are in %s\n", ctx and ctx.rows or 0,
                         ctx and outdir.shown(ctx.store.path) or "no store"))
  return 1
end

-- The finals of a group of {problem, race, why}, and its tables; false when interrupted, now or before.
local function finish(ctx, group, best, going)
  local races = {}
  for _, e in ipairs(group) do
    if e.race and not e.why then races[#races + 1] = e.race end
  end
  if going then going = bench.finals(ctx, races) end
  for _, e in ipairs(group) do
    best[#best + 1] = rank.print(e.problem, e.race and e.race.rows or {})
    local why = e.why or e.race and e.race.why
    if why then host.err(string.format("loom: %s: %s\n", rank.title(e.problem), why)) end
  end
  return going
end

-- Opens a problem and runs its heats: {problem, race, why}, and false when interrupted.
local function start(ctx, problem)
  local e = { problem = problem }
  local r, why = bench.open(ctx, problem, nil, ctx.common.run)
  if not r then
    e.why = why
    return e, r ~= false
  end
  e.race = r
  local done
  done, e.why = bench.heat(ctx, r)
  return e, done ~= false
end

local function bench_all(ctx, problems, best)
  local group, most = {}, ctx.backend.run and 1 or race.group
  for i, problem in ipairs(problems) do
    if i > 1 and spent(ctx) then
      host.err(string.format("loom: BUDGET is spent: %d of %d problems left\n", #problems - i + 1, #problems))
      break
    end
    local e, going = start(ctx, problem)
    group[#group + 1] = e
    if not going or #group == most then
      if not finish(ctx, group, best, going) then return false end
      group = {}
    end
  end
  return finish(ctx, group, best, true)
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
  if not bench_all(ctx, problems, best) then
    ctx.session:drop()
    return interrupted(ctx)
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

-- ------------------------------------------------------------------------------- rank

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

-- What the driver says are the GPUs of this machine. A field, so that tests can do without.
function bench.present()
  local out, root = {}, "/proc/driver/nvidia/gpus"
  for _, bus in ipairs(host.list(root) or {}) do
    local text = host.read(root .. "/" .. bus .. "/information")
    out[#out + 1] = text and text:match("GPU UUID:%s*(GPU%-%x[%x-]*)")
  end
  return out
end

local function newest(rows)
  local last
  for _, row in ipairs(rows) do
    if not last or row.time >= last.time then last = row end
  end
  return last
end

-- A run's rows, of one GPU and one compiler: those of its newest row. What others gave does not compare.
local function one_kind(st, problem, where, spaces)
  local rows = of_spaces(st:latest(problem, where), spaces)
  local last, out = newest(rows), {}
  for _, row in ipairs(rows) do
    if row.uuid == last.uuid and row.nvcc == last.nvcc then out[#out + 1] = row end
  end
  return out
end

-- The rows of the latest run, and no note. One whose kernels have only raced was killed before its finals: the latest
-- that has results says more, and a note that it is not the newest.
local function latest_run(st, problem, where, spaces)
  local first, note
  for _, run in ipairs(st:runs(problem, where)) do
    where.run = run
    local rows = one_kind(st, problem, where, spaces)
    local sorted = rank.sort(rows)
    if #sorted.ranked > 0 then return rows, note end
    if #rows > 0 and #sorted.raced == 0 then return first or rows end -- nothing but failures
    if #rows > 0 and not first then
      first, note = rows, string.format("the newest run has no results (%d raced, %d failed): this is one before it",
                                        #sorted.raced, #sorted.failed)
    end
  end
  return first or {}
end

-- The latest rows of a problem: of a GPU of this machine, else of any; where something was timed, what was
-- verified since does not hide it.
local function latest(st, problem, where)
  local best, note = {}, nil
  for _, uuid in ipairs(where.present) do
    local here = { backend = where.backend, preset = where.preset, uuid = uuid }
    local rows, why = latest_run(st, problem, here, where.spaces)
    if #rows > 0 and (#best == 0 or newest(rows).time > newest(best).time) then best, note = rows, why end
  end
  if #best > 0 then return best, note end
  for _, timed in ipairs { not where.backend, false } do
    local any = { backend = where.backend, preset = where.preset, timed = timed }
    best, note = latest_run(st, problem, any, where.spaces)
    if #best > 0 then break end
  end
  return best, note
end

-- Prints what the latest run says of each problem; how many have rows, and the best rows.
local function print_latest(st, problems, where)
  local best, found, last = {}, 0, nil
  for _, problem in ipairs(problems) do
    local rows, note = latest(st, problem, where)
    if note then host.err(string.format("note: %s: %s\n", rank.title(problem), note)) end
    if #rows > 0 then
      local line = rank.device_line(rows[1])
      if line ~= last then host.out((last and "\n" or "") .. line .. "\n") end
      found, last = found + 1, line
      local first = rank.sort(rows).ranked[1]
      if first then clocks.attach(st, problem, first) end
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
                  spaces = opt.space, present = bench.present() }
  local st = store.reader(path)
  local problems = #opt.problems > 0 and opt.problems or allowed(st:problems(where), opt)
  local found, best = print_latest(st, problems, where)
  st:close()
  if found == 0 then nothing(path) end
  if #problems > 1 then rank.summary(best, #problems) end
  return 0
end

return bench
