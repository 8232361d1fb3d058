-- check: may this kernel be launched? Static rules (static.lua), then runs on the CPU device (cpu.lua),
-- then a verdict.
--
-- Every run gives the kernel a shape, a schedule and a family of inputs; the first that finds something
-- is the verdict. `quick` is what a search asks of a kernel before its first launch on a GPU: two shapes,
-- two schedules, one family.

local cpu = require "cpu"
local cpu_build = require "cpu_build"
local fail = require "fail"
local shapes = require "shapes"
local static = require "static"

local check = { quick_schedules = { 0, 3 } } -- unlike orders, two SMs and one

-- ------------------------------------------------------------------------------- which runs

-- A run of `kernel`, by its number: families are cycled, odd schedules have rows with something behind them and
-- operands at odd addresses, and launch as a dependent of another grid where the kernel knows of that.
local function run_of(kernel, shape, schedule, i, seed)
  local odd = schedule % 2 == 1
  local run = { shape = shape, schedules = { schedule }, families = { cpu.families[i % #cpu.families + 1] },
                seed = seed, padded = odd, shift = odd and shapes.shift(kernel) or nil }
  if kernel.launch.pdl then run.pdl = schedule % 2 end
  return run
end

-- The runs of a full check: `opt.schedules` schedules on each shape; of SHAPE alone where it is given.
function check.runs(kernel, opt, problem)
  local list, out = shapes.of(kernel), {}
  if problem then list = { { "SHAPE", (shapes.reduce(problem, kernel)) } } end
  local count = opt.schedules or cpu.schedules
  if problem then count = math.max(count, #cpu.families) end
  for _, shape in ipairs(list) do
    for s = 0, count - 1 do
      local schedule = problem and s % (opt.schedules or cpu.schedules) or s
      out[#out + 1] = run_of(kernel, shape[2], schedule, #out, opt.seed)
    end
  end
  return out
end

-- One tile and a clipped shape, ternary inputs.
function check.quick_runs(kernel)
  local list, out = shapes.of(kernel), {}
  for i, at in ipairs { 1, 3 } do
    out[i] = { shape = list[at][2], schedules = check.quick_schedules, families = { "ternary" },
               pdl = kernel.launch.pdl and 1 or nil, padded = at == 3 }
  end
  return out
end

-- ------------------------------------------------------------------------------- one kernel

-- "ok", or a status, why and the report. `say` gets a line for each step; nil: nobody is told.
local function run_all(ctx, kernel, runs, say)
  for _, run in ipairs(runs) do
    local started = host.now()
    local status, answer = cpu.run(ctx.opt, ctx.session, kernel, run)
    say("run", string.format("%-11s %s, schedule %s, %s%s%s%s, %.3f s", status, shapes.text(run.shape),
                             table.concat(run.schedules, ","), table.concat(run.families, ","),
                             run.padded and ", padded" or "",
                             run.shift and ", shifted" or "", run.pdl == 1 and ", pdl" or "", host.now() - started))
    if status ~= "ok" then
      return status, status ~= "interrupted" and cpu.why(kernel, status, answer) or answer.why,
             answer.report and cpu.with_places(kernel, answer.report)
    end
  end
  return "ok"
end

local function nobody() end

-- The verdict on a compiled kernel: "ok", or status, why, report. `problem` is for the rules about grids.
function check.verdict(ctx, kernel, runs, problem, say)
  say = say or nobody
  local figures, refusals = static.check(kernel, ctx.opt.device, problem)
  if #refusals > 0 then
    for _, text in ipairs(refusals) do say("static", text) end
    return "refused", table.concat(refusals, "; ")
  end
  say("static", "ok  " .. figures)
  if kernel.cpu.error then
    say("compile", "failed")
    return "refused", "it does not compile for the CPU device: " .. kernel.cpu.error
  end
  say("compile", string.format("ok  %s", kernel.cpu.cached and "cached" or string.format("%.2f s", kernel.cpu.seconds)))
  return run_all(ctx, kernel, runs, say)
end

-- A quick check of compiled kernels, started at the first one: check.quick(ctx, kernel, problem).
function check.quick(ctx, kernel, problem)
  return check.verdict(ctx, kernel, check.quick_runs(kernel), problem)
end

-- Refuses where the CPU device is not to be had.
function check.need(opt)
  local why = cpu.missing(opt)
  if why then fail(why) end
end

-- {opt, session} of verdicts.
function check.start(opt)
  check.need(opt)
  return { opt = opt, session = cpu.session(opt) }
end

-- Compiles kernels for the CPU device; false when interrupted.
function check.build(ctx, kernels)
  return cpu_build.run(kernels, ctx.opt) and not host.interrupted()
end

return check
