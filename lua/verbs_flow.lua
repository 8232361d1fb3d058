-- verbs_flow: the verbs from candidates to ranks: gen, build, bench, rank, fake-worker.
--
-- Each is a function(opt) that returns the exit code; what they do lies in the modules, what they
-- print lies here (the tables of bench and rank: rank.lua).

local bench = require "bench"
local build = require "build"
local emit = require "emit"
local fail = require "fail"
local fake = require "fake"
local measure = require "measure"
local outdir = require "outdir"
local progress = require "progress"
local rank = require "rank"
local select_ = require "select"
local tab = require "tab"

local verbs = {}

-- ------------------------------------------------------------------------------- gen and build

local MANY = 20 -- problems from which on a progress line is worth it

-- The items of every problem of `opt`, or of its key.
local function items_of(opt)
  local items, problems = {}, select_.problems(opt)
  local p = #problems >= MANY and progress.new("select", #problems) or nil
  for i, problem in ipairs(problems) do
    if host.interrupted() then
      if p then p:done() end
      fail(string.format("interrupted: candidates of %d of %d problems chosen, nothing written", i - 1,
                         #problems))
    end
    for _, item in ipairs(select_.pick(problem, opt.device, opt)) do items[#items + 1] = item end
    if p then p:step(rank.title(problem)) end
  end
  if p then p:done() end
  return items
end

local function has(full, name)
  return full[name]
end

-- full's __index may raise for names a space does not have; those print as '-'.
local function value(full, name)
  local ok, v = pcall(has, full, name)
  return ok and v ~= nil and tostring(v) or "-"
end

-- The first item of a kernel stands for it: tile and stages are the key's, the time its problem's.
local function describe(kernel)
  local item, launch = kernel.items[1], kernel.launch
  return {
    kernel = kernel.stem, layout = item.full.layout, key = kernel.key,
    tile = string.format("%dx%dx%s", launch.tile[1], launch.tile[2], value(item.full, "tile_k")),
    stages = value(item.full, "stages"), smem = launch.smem,
    predicted = string.format("%.2f", item.ns / 1000),
  }
end

local function registers(kernel)
  local built = kernel.built
  if not built then return "-" end
  if built.error then return "failed" end
  return built.regs or "-"
end

-- Kernels that did not compile, a line each on stderr; how many.
local function report_failures(kernels)
  local count = 0
  for _, kernel in ipairs(kernels) do
    if kernel.built and kernel.built.error then
      count = count + 1
      host.err(string.format("%s (log: %s)\n", kernel.built.error, outdir.shown(kernel.built.log)))
    end
  end
  if count > 0 then
    host.err(string.format("loom: %d of %d kernels do not compile\n", count, #kernels))
  end
  return count
end

local function rendered(opt)
  local dir = outdir.path(opt, "kernels")
  local kernels, changed = emit.all(items_of(opt), dir, { lines = opt.lines })
  return kernels, changed, outdir.shown(dir)
end

local gen_columns = {
  "kernel", "layout", "tile", "stages", "smem", "regs",
  { title = "predicted us", key = "predicted" }, "key",
}
local build_columns = { "kernel", "regs", "stack", "spills", "smem", "seconds" }

function verbs.gen(opt)
  local kernels, changed, out = rendered(opt)
  local whole = not build.nvcc(opt) or build.run(kernels, opt)
  local rows = {}
  for i, kernel in ipairs(kernels) do
    rows[i] = describe(kernel)
    rows[i].regs = registers(kernel)
    rows[i].notes = kernel.built and build.notes(kernel.built) or ""
  end
  host.out(tab.format(rows, rank.with_notes(rows, gen_columns)))
  host.out(string.format("%d kernels in %s/ (.cu and .json each), %d files changed\n", #kernels,
                         out, changed))
  if not whole then host.err("loom: interrupted while compiling; the kernels are written\n") end
  return report_failures(kernels) == 0 and whole and 0 or 1
end

function verbs.build(opt)
  build.need_nvcc(opt)
  local kernels, _, out = rendered(opt)
  local whole = build.run(kernels, opt)
  local rows = {}
  for _, kernel in ipairs(kernels) do
    local built = kernel.built
    if built then
      rows[#rows + 1] = {
        kernel = kernel.stem, regs = registers(kernel), stack = built.stack, spills = built.spills,
        smem = kernel.launch.smem, notes = build.notes(built),
        seconds = built.cached and "cached" or string.format("%.2f", built.seconds),
      }
    end
  end
  host.out(tab.format(rows, rank.with_notes(rows, build_columns)))
  host.out(string.format("%d kernels of %s/ compiled into %s/\n", #rows, out,
                         outdir.shown(outdir.path(opt, "cache"))))
  if not whole then host.err("loom: interrupted: what compiled is in the cache\n") end
  return report_failures(kernels) == 0 and whole and 0 or 1
end

-- ------------------------------------------------------------------------------- bench and rank

-- A changed .cu beside its origin, a file of problems, or the problems of SHAPE.
function verbs.bench(opt)
  if opt.clocks and measure.backend_name(opt) == "cpu" then
    fail.usage("CLOCKS times kernels, and the CPU device has no clock: BACKEND=cuda or fake")
  end
  if opt.sanitize and measure.backend_name(opt) ~= "cuda" then
    fail.usage("SANITIZE=1 runs kernels on a GPU: BACKEND=cuda")
  end
  if opt.kernel then return require("handmade").run(opt) end
  if opt.given.CHECK then fail.usage("CHECK is for a .cu of your own: say KERNEL=file.cu") end
  if opt.shapes then return require("campaign").run(opt) end
  return bench.run(opt)
end

verbs.rank = bench.rank

verbs["fake-worker"] = function()
  return fake.main()
end

return verbs
