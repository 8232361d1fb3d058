-- bench: candidates of each problem, verified and timed by the worker, ranked against cuBLAS.
--
-- Per problem: select -> emit -> build -> pass 1 (all candidates, few blocks) -> pass 2 (the best
-- few, more blocks, a fresh worker). Every answer becomes a row of the store at once. The worker
-- may crash or hang (worker.lua); here that is a row with a status and a reason.

local build = require "build"
local emit = require "emit"
local fail = require "fail"
local outdir = require "outdir"
local progress = require "progress"
local rank = require "rank"
local select_ = require "select"
local store = require "store"
local worker = require "worker"

local bench = { passes = { { blocks = 8 }, { blocks = 32, best = 4 } } }

-- Figures of an `ok` answer, and those it cannot do without: a kernel whose descriptor says pdl
-- has those of pdl too.
local figures = {
  "us", "us_pdl", "cublas_nn_us", "cublas_tn_us", "ratio", "ratio_lo", "ratio_hi", "ratio_pdl",
  "ratio_pdl_lo", "ratio_pdl_hi", "ratio_nn", "ratio_tn", "err", "rms", "blocks", "starved", "reps",
  "checked", "clock_mhz",
}
local needed = { "us", "cublas_nn_us", "cublas_tn_us", "ratio", "ratio_lo", "ratio_hi" }
local needed_with_pdl = { "us_pdl", "ratio_pdl", "ratio_pdl_lo", "ratio_pdl_hi" }

-- ------------------------------------------------------------------------------- backends

-- Without a driver nothing answers; the device files are there even where nvidia-smi is not
-- installed. A field, so that tests can do without a GPU.
function bench.gpu_present()
  if host.stat("/dev/nvidia0") or host.stat("/dev/nvidiactl") then return true end
  local ok, text = pcall(build.capture, { "nvidia-smi", "-L" })
  return ok and text ~= nil and text:find("GPU", 1, true) ~= nil
end

-- The worker lies beside loom; a loom from elsewhere uses the project's.
local function worker_path()
  local beside = host.exe:match("^(.*/)[^/]*$") .. "loom-bench"
  return host.stat(beside) and beside or host.root .. "/out/build/loom-bench"
end

local function cuda(opt)
  if not bench.gpu_present() then
    fail("no GPU here: BACKEND=cuda needs one; `make gen`, `make build` and BACKEND=fake do not")
  end
  local path = opt.worker or worker_path()
  if not host.stat(path) then
    fail(string.format("no bench worker at '%s': run `make` where the CUDA toolkit is",
                       outdir.shown(path)))
  end
  return { argv = { path }, build = build.run, nvcc = build.compiler(opt).version }
end

-- The fake worker looks at no cubin: the kernel's text stands in for it.
local function pretend_built(kernels)
  for _, kernel in ipairs(kernels) do
    kernel.built = { cubin = kernel.cu, cubin_sha = host.sha256(kernel.text), spills = 0,
                     warnings = {} }
  end
  return true
end

local function fake(opt)
  local argv = opt.worker and { opt.worker } or { host.exe, "fake-worker" }
  return { argv = argv, build = pretend_built, nvcc = "none" }
end

local function cpu()
  fail("BACKEND=cpu cannot bench: BACKEND=cuda times on a GPU, BACKEND=fake invents figures")
end

local backends = { cuda = cuda, fake = fake, cpu = cpu }

-- ------------------------------------------------------------------------------- one run

-- The GPU has to be what the candidates were chosen and compiled for.
local function check_device(opt, info)
  local wanted = opt.device.arch:match("^sm_%d+")
  if info.device ~= "fake" and info.arch ~= wanted then
    fail(string.format("DEVICE=%s is %s, the GPU is '%s' (%s)", opt.device.name, wanted,
                       info.device, info.arch))
  end
end

-- What all rows of a run share.
local function common_fields(ctx, opt, info)
  return {
    run = ctx.store:new_run(), preset = opt.device.name, device = info.device, uuid = info.uuid,
    driver = info.driver, cuda = info.cuda, cublas = info.cublas, nvcc = ctx.backend.nvcc,
    backend = ctx.backend.name, loom = host.version,
  }
end

-- Starts the worker and opens the store; nil when the user interrupted.
local function start(opt)
  local name = opt.backend or "cuda"
  local ctx = { opt = opt, backend = backends[name](opt), rows = 0, failed = 0 }
  ctx.backend.name = name
  local limit = opt.timeout
  ctx.session = worker.session {
    argv = ctx.backend.argv, env = opt.env, log = outdir.path(opt, "worker.log"),
    timeouts = limit and { problem = limit, time = limit } or nil,
  }
  host.mkdir(outdir.path(opt, "."))
  ctx.store = store.open(outdir.store(opt))
  local info = ctx.session:greeting()
  if not info then return nil end
  check_device(opt, info)
  ctx.common = common_fields(ctx, opt, info)
  return ctx
end

local function problem_job(p)
  return { { "M", p.M }, { "N", p.N }, { "K", p.K }, { "layout", p.layout }, { "dtype", p.dtype },
           { "acc", p.acc }, { "seed", 1 } }
end

-- ------------------------------------------------------------------------------- rows

local function numbers_of(answer, row)
  for _, name in ipairs(figures) do
    local v = answer[name] and tonumber(answer[name])
    row[name] = math.tointeger(v) or v
  end
end

local function check_answer(row, names)
  for _, name in ipairs(names) do
    local v = row[name]
    if not v or v ~= v or v <= 0 then
      row.status, row.why = "error", string.format("the worker's answer has no usable '%s'", name)
      return
    end
  end
end

local function why_of(answer)
  if not answer.row then return answer.why end
  return string.format("%s at row %s, column %s: got %s, want %s", answer.why or "differs",
                       answer.row, answer.col or "?", answer.got or "?", answer.want or "?")
end

-- Stores and returns the row of one answer (or of one compile that failed).
local function record(ctx, problem, kernel, pass, status, answer)
  local built = kernel.built
  local row = {
    m = problem.M, n = problem.N, k = problem.K, layout = problem.layout, dtype = problem.dtype,
    acc = problem.acc, key = kernel.key, hash = kernel.hash, cubin = built.cubin_sha,
    source = host.sha256(kernel.text), pass = pass, status = status, regs = built.regs,
    spills = built.spills, warnings = table.concat(built.warnings or {}, " "),
    cublas_math = (problem.answer or {}).cublas_math,
  }
  for name, value in pairs(ctx.common) do row[name] = value end
  if status == "ok" then
    numbers_of(answer, row)
    check_answer(row, needed)
    if kernel.launch.pdl then check_answer(row, needed_with_pdl) end
  else
    row.why = why_of(answer)
  end
  ctx.store:add(row)
  ctx.rows = ctx.rows + 1
  if status ~= "ok" and status ~= "same" then ctx.failed = ctx.failed + 1 end
  return row
end

-- ------------------------------------------------------------------------------- one problem

-- Two kernels with equal cubins and equal launches are one: what tells them apart is the key only.
local function launch_identity(kernel)
  return kernel.built.cubin_sha .. kernel.desc:gsub('"key":"[^"]*"', "", 1)
end

-- Kernels that can be timed, each cubin once; the others become rows here.
local function usable(ctx, problem, kernels, rows)
  local list, first = {}, {}
  for _, kernel in ipairs(kernels) do
    if kernel.built.error then
      rows[#rows + 1] = record(ctx, problem, kernel, 1, "build", { why = kernel.built.error })
    else
      local id = launch_identity(kernel)
      if first[id] then
        local why = "equals " .. first[id].key
        rows[#rows + 1] = record(ctx, problem, kernel, 1, "same", { why = why })
      else
        first[id] = kernel
        list[#list + 1] = kernel
      end
    end
  end
  return list
end

-- BUDGET ends the first pass; the second one, a few kernels, is always run.
local function spent(ctx)
  return ctx.deadline and host.now() > ctx.deadline
end

-- Times `kernels` in one pass; false when the user interrupted, nil, why when the problem itself
-- fails.
local function run_pass(ctx, problem, pass, kernels, rows, p)
  for i, kernel in ipairs(kernels) do
    if pass == 1 and i > 1 and spent(ctx) then
      p:clear()
      host.err(string.format("loom: BUDGET is spent: %d of %d kernels left\n", #kernels - i + 1,
                             #kernels))
      return true
    end
    local job = { { "cubin", kernel.built.cubin }, { "desc", kernel.json },
                  { "blocks", bench.passes[pass].blocks } }
    local status, answer = ctx.session:time(problem, kernel.built.cubin_sha, job)
    if status == "interrupted" then return false end
    if status == "unprepared" then return nil, answer.why end
    rows[#rows + 1] = record(ctx, problem, kernel, pass, status, answer)
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

local function time_all(ctx, problem, kernels, rows)
  local list = usable(ctx, problem, kernels, rows)
  local best = bench.passes[2].best
  local p = progress.new("bench " .. rank.title(problem), #list + math.min(best, #list))
  local done, why = run_pass(ctx, problem, 1, list, rows, p)
  if done then
    -- A fresh worker: what an earlier kernel left behind (caches, clocks, memory) is gone.
    ctx.session:stop()
    done, why = run_pass(ctx, problem, 2, finalists(list, rows, best), rows, p)
  end
  p:done()
  return done, why
end

-- One problem: its rows, and false when interrupted, nil and a reason when it cannot be measured.
local function run_problem(ctx, problem)
  local opt, rows = ctx.opt, {}
  local ok, items = pcall(select_.pick, problem, opt.device, opt)
  if not ok then return rows, nil, fail.text(items) or error(items, 0) end
  problem.job = problem_job(problem)
  local kernels = emit.all(items, outdir.path(opt, "kernels"))
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
  local ctx = start(opt)
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
    local rows, done, why = run_problem(ctx, problem)
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

-- Prints what the latest run says of each problem; how many have rows, and the best rows.
local function print_latest(st, problems, where)
  local best, found, last = {}, 0, nil
  for _, problem in ipairs(problems) do
    local rows = st:latest(problem, where)
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
  local where = { backend = opt.backend, preset = given.DEVICE and opt.device.name, limit = opt.n }
  local st = store.open(path)
  local problems = #opt.problems > 0 and opt.problems or st:problems(where)
  local found, best = print_latest(st, problems, where)
  st:close()
  if found == 0 then nothing(path) end
  if #problems > 1 then rank.summary(best, #problems) end
  return 0
end

return bench
