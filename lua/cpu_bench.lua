-- cpu_bench: BACKEND=cpu of the bench: every kernel is verified on the CPU device, none is timed.
--
-- Static rules first, then every family of inputs and every schedule, on a problem that stands in for the
-- real one (shapes.lua). What is right is ranked by predicted time (predict.lua), and says so.

local check = require "check"
local cpu = require "cpu"
local cpu_build = require "cpu_build"
local measure = require "measure"
local predict = require "predict"
local progress = require "progress"
local shapes = require "shapes"
local static = require "static"

local cpu_bench = {}

-- Rows as the problem has them, then with elements behind each, as a dependent launch.
local function runs_of(kernel, shape)
  return {
    { shape = shape, schedules = { 0, 1, 2 }, families = { "ternary", "onehot", "special" } },
    { shape = shape, schedules = { 3, 0 }, families = { "cancel", "slice" }, padded = true,
      pdl = kernel.launch.pdl and 1 or nil },
  }
end

local function verified(problem, shape, smaller)
  return shapes.text(smaller and shape or problem) .. (smaller and " with the same remainders" or "")
end

-- The status of a compiled kernel on `shape`, and the answer: the first run's counters.
local function verify(ctx, kernel, shape)
  local first
  for _, run in ipairs(runs_of(kernel, shape)) do
    local status, answer = cpu.run(ctx.opt, ctx.session, kernel, run)
    if status ~= "ok" then return status, answer end
    first = first or answer
  end
  return "ok", first
end

-- The row of one kernel, nil when interrupted.
local function row_of(ctx, problem, kernel)
  local _, refusals = static.check(kernel, ctx.opt.device, problem)
  if #refusals > 0 then
    return measure.row(ctx, problem, kernel, 1, "refused", { why = table.concat(refusals, "; ") })
  end
  if kernel.cpu.error then return measure.row(ctx, problem, kernel, 1, "build", { why = kernel.cpu.error }) end
  local shape, smaller = shapes.reduce(problem, kernel)
  local status, answer = verify(ctx, kernel, shape)
  if status == "interrupted" then return nil end
  if status ~= "ok" then
    return measure.row(ctx, problem, kernel, 1, status, { why = cpu.why(kernel, status, answer) })
  end
  return measure.row(ctx, problem, kernel, 1, status, {
    predicted_us = string.format("%.2f", predict.us(kernel, problem, ctx.opt.device, shape, answer)),
    verified = verified(problem, shape, smaller) })
end

-- Compiles for measure's backend: what a row says of a cubin it says of nothing here.
function cpu_bench.build(kernels, opt)
  local whole = cpu_build.run(kernels, opt)
  for _, kernel in ipairs(kernels) do kernel.built = { warnings = {} } end
  return whole
end

-- Verifies `kernels`, each becomes a row; false when the user interrupted. stop(progress, i) says whether the
-- i-th is one too many.
function cpu_bench.run(ctx, problem, kernels, rows, stop)
  local p = (ctx.progress or progress).new("verify", #kernels)
  for i, kernel in ipairs(kernels) do
    if stop(p, i) then break end
    local row = row_of(ctx, problem, kernel)
    if not row or host.interrupted() then return false end
    rows[#rows + 1] = row
    p:step(kernel.stem)
  end
  p:done()
  return true
end

-- measure's backend: {argv, build, nvcc, clock = false}.
function cpu_bench.backend(opt)
  check.need(opt)
  return { argv = { cpu.program(opt) }, build = cpu_bench.build, run = cpu_bench.run, nvcc = "none" }
end

return cpu_bench
