-- measure: what bench and search share: a backend with its worker, and answers that become rows.
-- A row of the CPU device has no times: predicted_us, and what was verified.
--
-- measure.start opens the store and starts the worker of BACKEND; measure.time times one kernel;
-- measure.row turns one answer (or one compile that failed) into a row and stores it, measure.result the
-- rows of several processes (pooled.lua). The worker may crash or hang (worker.lua); here that is a row with
-- a status and a reason.

local build = require "build"
local compile = require "compile"
local fail = require "fail"
local outdir = require "outdir"
local pooled = require "pooled"
local store = require "store"
local worker = require "worker"

local measure = {}

-- Figures of an `ok` answer, and those it cannot do without: a kernel whose descriptor says pdl
-- has those of pdl too.
local figures = {
  "us", "us_pdl", "cublas_nn_us", "cublas_tn_us", "ratio", "ratio_lo", "ratio_hi", "ratio_pdl",
  "ratio_pdl_lo", "ratio_pdl_hi", "ratio_nn", "ratio_tn", "err", "rms", "blocks", "starved", "reps",
  "checked", "clock_mhz", "power_w", "temp_c", "throttled", "drift", "drifted", "unsteady", "best_nv_us", "ratio_nv",
  "ratio_nv_lo", "ratio_nv_hi", "ratio_nv_pdl", "ratio_nv_pdl_lo", "ratio_nv_pdl_hi", "families", "holes",
  "ms_families", "ms_changed", "p99_us", "p99_us_pdl", "cublas_us", "cublas_p99_us", "enqueue_us", "enqueue_us_pdl",
  "cublas_enqueue_us", "load",
}
local texts = { "samples", "throttle", "best_nv", "best_nv_algo", "verdict", "verdict_pdl" }
local needed = { "us", "cublas_nn_us", "cublas_tn_us", "ratio", "ratio_lo", "ratio_hi" }
local needed_with_clock = { "us", "ratio", "ratio_lo", "ratio_hi" } -- each clock has a base of its own
local needed_with_pdl = { "us_pdl", "ratio_pdl", "ratio_pdl_lo", "ratio_pdl_hi" }

-- ------------------------------------------------------------------------------- backends

-- Without a driver nothing answers; the device files are there even where nvidia-smi is not
-- installed. A field, so that tests can do without a GPU.
function measure.gpu_present()
  if host.stat("/dev/nvidia0") or host.stat("/dev/nvidiactl") then return true end
  local ok, text = pcall(compile.capture, { "nvidia-smi", "-L" })
  return ok and text ~= nil and text:find("GPU", 1, true) ~= nil
end

-- The worker lies beside loom; a loom from elsewhere uses the project's.
local function worker_path()
  local beside = host.exe:match("^(.*/)[^/]*$") .. "loom-bench"
  return host.stat(beside) and beside or host.root .. "/out/build/loom-bench"
end

local function cuda(opt)
  if not measure.gpu_present() then
    fail("no GPU here: BACKEND=cuda needs one; `make gen`, `make build`, `make bench BACKEND=cpu` and "
         .. "BACKEND=fake do not")
  end
  local path = opt.worker or worker_path()
  if not host.stat(path) then
    fail(string.format("no bench worker at '%s': `make worker` builds it where the CUDA toolkit is",
                       outdir.shown(path)))
  end
  return { argv = { path }, build = build.run, nvcc = build.compiler(opt).version,
           bounded = function(cubin) return build.bounded(cubin, opt) end }
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

-- It needs measure for its rows: it is read when it is asked for.
local function cpu(opt)
  return require("cpu_bench").backend(opt)
end

local backends = { cuda = cuda, fake = fake, cpu = cpu }

-- The backend that BACKEND names, else what this machine has.
function measure.backend_name(opt)
  return opt.backend or measure.gpu_present() and "cuda" or "cpu"
end

-- What runs the kernels: {name, argv, build, nvcc}, of the CPU device also run, its way of a bench;
-- refused where BACKEND cannot.
function measure.backend(opt)
  local name = measure.backend_name(opt)
  local backend = backends[name](opt)
  backend.name = name
  return backend
end

-- ------------------------------------------------------------------------------- one run

-- The GPU has to be what the candidates were chosen and compiled for.
local function check_device(opt, info)
  local wanted = opt.device.arch:match("^sm_%d+")
  if info.device ~= "fake" and info.device ~= "cpu" and info.arch ~= wanted then
    fail(string.format("DEVICE=%s is %s, the GPU is '%s' (%s)", opt.device.name, wanted,
                       info.device, info.arch))
  end
end

-- What all rows of a run share.
local function common_fields(ctx, opt, info)
  return {
    run = ctx.store:new_run(), preset = opt.device.name, device = info.device, uuid = info.uuid,
    driver = info.driver, cuda = info.cuda, cublas = info.cublas, cublaslt = info.cublaslt, nvcc = ctx.backend.nvcc,
    backend = ctx.backend.name, loom = host.version, no_gpu = not measure.gpu_present(),
  }
end

-- Starts the worker and opens the store: {opt, backend, session, store, common, rows, failed}; nil
-- when the user interrupted. `rows` counts the answers that became rows. `limits` are seconds for the worker's
-- jobs where TIMEOUT names none.
function measure.start(opt, limits)
  local ctx = { opt = opt, backend = measure.backend(opt), rows = 0, failed = 0 }
  local limit = opt.timeout
  ctx.session = worker.session {
    argv = ctx.backend.argv, env = opt.env, log = outdir.path(opt, "worker.log"), bounded = ctx.backend.bounded,
    timeouts = limit and { ready = limit, problem = limit, time = limit, check = limit, clock = limit } or limits,
  }
  host.mkdir(outdir.path(opt, "."))
  ctx.store = store.open(outdir.store(opt))
  local info = ctx.session:greeting()
  if not info then return nil end
  check_device(opt, info)
  ctx.common = common_fields(ctx, opt, info)
  return ctx
end

local SEED = 1 -- of a problem's inputs, where the job does not say

-- The job `problem`; `more` may have a seed, baselines ("all": the best of NVIDIA's libraries is looked for)
-- and cache ("hot").
function measure.problem_job(p, more)
  more = more or {}
  local job = { { "M", p.M }, { "N", p.N }, { "K", p.K }, { "layout", p.layout }, { "dtype", p.dtype },
                { "acc", p.acc }, { "seed", more.seed or SEED } }
  for _, name in ipairs { "baselines", "cache" } do
    if more[name] then job[#job + 1] = { name, more[name] } end
  end
  return job
end

-- ------------------------------------------------------------------------------- rows

-- What the answer lacks the row may have from elsewhere.
local function numbers_of(answer, row)
  for _, name in ipairs(figures) do
    local v = answer[name] and tonumber(answer[name])
    if v and (v ~= v or v == math.huge or v == -math.huge) then v = nil end
    if answer[name] then row[name] = math.tointeger(v) or v end
  end
  for _, name in ipairs(texts) do row[name] = answer[name] or row[name] end
end

local function check_answer(row, names)
  for _, name in ipairs(names) do
    local v = row[name]
    if not v or v <= 0 then
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

local hashes = {} -- of files, for this process: a template stands behind many kernels

-- The hash of a space's template, and that of its text with its bases', where the files are at hand.
local function provenance(space)
  if not space then return nil end
  local seen = hashes[space]
  if not seen then
    local template, parts, at = host.read(host.root .. "/templates/" .. space.template), {}, space
    while at do
      parts[#parts + 1] = host.read(at.file) or host.read(host.root .. "/" .. at.file) or ""
      at = at.base
    end
    seen = { template and host.sha256(template), host.sha256(table.concat(parts, "\0")) }
    hashes[space] = seen
  end
  return seen[1], seen[2]
end

-- What a row says before there is an answer; `extra` has more columns: process, clock ...
local function signature(ctx, problem, kernel, pass, extra)
  local built = kernel.built
  local row = {
    m = problem.M, n = problem.N, k = problem.K, layout = problem.layout, dtype = problem.dtype,
    acc = problem.acc, key = kernel.key, hash = kernel.hash, cubin = built.cubin_sha,
    source = host.sha256(kernel.text), pass = pass, seed = SEED, regs = built.regs,
    spills = built.spills, warnings = table.concat(built.warnings or {}, " "), schema = store.version,
  }
  row.template, row.spec = provenance(kernel.space)
  for name, value in pairs(ctx.common) do row[name] = value end
  for name, value in pairs(extra or {}) do row[name] = value end -- order does not matter: columns
  return row
end

-- Writes down that a kernel is about to be launched, before it is. Returns the row of one that had better not
-- be, because loom ended again and again while it was measured.
function measure.begin(ctx, problem, kernel, pass, extra)
  local why = ctx.store:start(signature(ctx, problem, kernel, pass, extra))
  return why and measure.row(ctx, problem, kernel, pass, "quarantined", { why = why }, extra)
end

-- It was not measured after all: interrupted by the user, or the problem itself failed.
function measure.drop(ctx, problem, kernel, pass, extra)
  ctx.store:unstart(signature(ctx, problem, kernel, pass, extra))
end

local function check_figures(row, kernel)
  check_answer(row, row.clock and needed_with_clock or needed)
  if kernel.launch.pdl then check_answer(row, needed_with_pdl) end
  if row.process and row.status == "ok" and not pooled.samples(row.samples).ratio then
    row.status, row.why = "error", "the worker's answer has no usable 'samples'"
  end
end

-- Stores and returns the row of one answer (or of one compile that failed).
function measure.row(ctx, problem, kernel, pass, status, answer, extra)
  local row = signature(ctx, problem, kernel, pass, extra)
  row.status, row.cublas_math = status, (problem.answer or {}).cublas_math
  if status == "ok" and ctx.backend.run then
    row.predicted_us, row.verified = tonumber(answer.predicted_us), answer.verified
  elseif status == "ok" then
    numbers_of(answer, row)
    check_figures(row, kernel)
  else
    row.why = why_of(answer)
  end
  ctx.store:add(row)
  ctx.rows = ctx.rows + 1
  if row.status ~= "ok" and row.status ~= "same" then ctx.failed = ctx.failed + 1 end
  return row
end

-- Times one kernel, `job` being the pairs of job `time`: its row, which is stored; nil, "interrupted" or
-- "unprepared", why where there is none.
function measure.time(ctx, problem, kernel, pass, job, extra)
  if not ctx.session.quarantine[kernel.built.cubin_sha] then
    local ready, kind, why = ctx.session:prepare(problem) -- before the clock runs, and before it counts as in flight
    if not ready then return nil, kind == "interrupted" and kind or "unprepared", why end
  end
  local given_up = measure.begin(ctx, problem, kernel, pass, extra)
  if given_up then return given_up end
  local columns, from = {}, host.now()
  local status, answer = ctx.session:time(problem, kernel.built.cubin_sha, job)
  if status == "interrupted" or status == "unprepared" then
    measure.drop(ctx, problem, kernel, pass, extra)
    return nil, status, answer.why
  end
  for name, value in pairs(extra or {}) do columns[name] = value end -- order does not matter: columns
  columns.ms = math.floor((host.now() - from) * 1e4 + 0.5) / 10
  return measure.row(ctx, problem, kernel, pass, status, answer, columns)
end

-- Stores and returns the result of a kernel: one row from those of its processes. Nothing is launched.
function measure.result(ctx, problem, kernel, pass, rows)
  local figures_, why = pooled.figures(rows)
  local row = signature(ctx, problem, kernel, pass, figures_)
  row.seed = nil -- each process has its own
  row.status, row.why = figures_ and "ok" or "error", why
  ctx.store:add(row)
  ctx.rows, ctx.failed = ctx.rows + 1, ctx.failed + (figures_ and 0 or 1)
  return row
end

-- Two kernels with equal cubins and equal launches are one: what tells them apart is the key only.
function measure.identity(kernel)
  return kernel.built.cubin_sha .. kernel.desc:gsub('"key":"[^"]*"', "", 1)
end

return measure
