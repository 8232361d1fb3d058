-- handmade: a kernel that somebody changed by hand, timed beside its origin: what its key gives.
--
-- The file's descriptor lies beside it; its key names the origin. What was changed must keep the kernel's
-- name and its arguments, and pass the check on the CPU device (CHECK=0: not asked). Its rows do not go
-- into the store, which speaks of keys, and of what keys give.

local check = require "check"
local clocks = require "clocks"
local cpu = require "cpu"
local desc_read = require "desc_read"
local emit = require "emit"
local fail = require "fail"
local measure = require "measure"
local outdir = require "outdir"
local pair = require "pair"
local rank = require "rank"
local select_ = require "select"
local tab = require "tab"

local handmade = {}

local fmt = string.format

-- ------------------------------------------------------------------------------- the file

-- The .cu at `path` and its descriptor, as a kernel; kernel.id is what the descriptor says of it.
function handmade.read(path)
  if not path:find("%.cu$") then
    fail.usage(fmt("'%s' is no .cu file: bench wants SHAPE=MxNxK, or a kernel that you changed", path))
  end
  local text, err = host.read(path)
  if not text then fail(err) end
  local json = path:gsub("%.cu$", "") .. ".json"
  local id, launch, line = desc_read.file(json, outdir.shown(json))
  return { text = text, desc = line, launch = launch, key = id.key, arch = id.arch, id = id, cu = path, json = json,
           stem = path:match("([^/]*)%.cu$"), hash = emit.hash(id.key) }
end

-- The problem that the comment at a kernel's head names, "SHAPE=MxNxK" or "problem MxNxK": {M, N, K}, or nil.
local function head_shape(text)
  for line in text:gmatch("([^\n]*)\n") do
    if not line:find("^//") and line ~= "" then return nil end
    local m, n, k = line:match("SHAPE=(%d+)x(%d+)x(%d+)")
    if not m then m, n, k = line:match("^//%s*problem%s+(%d+)x(%d+)x(%d+)") end
    if m then return { math.tointeger(tonumber(m)), math.tointeger(tonumber(n)), math.tointeger(tonumber(k)) } end
  end
end

-- The problem to time at; layout and types are the descriptor's.
function handmade.problem(kernel, opt)
  local dims, id = opt.shape and opt.shape[1] or head_shape(kernel.text), kernel.id
  if not dims then
    fail.usage(fmt("no SHAPE, and none in the head of '%s': say SHAPE=MxNxK", outdir.shown(kernel.cu)))
  end
  local given = opt.given or {}
  local said = { LAYOUT = table.concat(opt.layout or {}, ","), DTYPE = opt.dtype, ACC = opt.acc }
  for _, name in ipairs { "LAYOUT", "DTYPE", "ACC" } do
    if given[name] and said[name] ~= id[name:lower()] then
      fail.usage(fmt("%s=%s, and the kernel's is %s", name, said[name], id[name:lower()]))
    end
  end
  return { M = dims[1], N = dims[2], K = dims[3], layout = id.layout, dtype = id.dtype, acc = id.acc }
end

-- The kernel that the file's key gives, rendered again into OUT/origin: the file may lie in OUT/kernels.
function handmade.origin(mine, problem, opt)
  local ok, kernel = pcall(function()
    return emit.render(select_.from_key(mine.key, problem, opt.device, opt.space))
  end)
  if not ok then
    fail(fmt("the origin of '%s' cannot be rendered: %s", outdir.shown(mine.cu), fail.text(kernel) or error(kernel, 0)))
  end
  emit.write(kernel, outdir.path(opt, "origin"))
  return kernel
end

-- ------------------------------------------------------------------------------- what may not change

local function without_comments(text)
  return (text:gsub("/%*.-%*/", " "):gsub("//[^\n]*", ""))
end

-- The types of the parameters of loom_kernel, as one text; nil where it is not there. Names may change.
function handmade.signature(text)
  local list = without_comments(text):match("%f[%w_]loom_kernel%s*(%b())")
  if not list then return nil end
  local out, depth, from = {}, 0, 2
  for at = 2, #list do
    local c = list:sub(at, at)
    if c == "<" then depth = depth + 1 elseif c == ">" then depth = depth - 1 end
    if (c == "," and depth == 0) or at == #list then
      local one = list:sub(from, at - 1):gsub("%s+", " "):match("^ ?(.-) ?$")
      out[#out + 1], from = one:match("^(.*[^%w_]) ?[%a_][%w_]*$") or one, at + 1
    end
  end
  return (table.concat(out, ", "):gsub(" +,", ","):gsub(" +$", ""))
end

local function same(mine, what, got, want)
  if got ~= want then
    fail(fmt("'%s' %s (%s), its origin (%s): a changed kernel keeps that", outdir.shown(mine.cu), what, got, want))
  end
end

-- Refuses a kernel that cannot stand in its origin's place.
function handmade.obey(mine, origin)
  local types = handmade.signature(mine.text)
  if not types then
    fail(fmt("'%s' has no kernel of the name loom_kernel, which is what is launched", outdir.shown(mine.cu)))
  end
  same(mine, "has the parameters", types, handmade.signature(origin.text))
  same(mine, "is launched with the arguments", table.concat(mine.launch.args, ", "),
       table.concat(origin.launch.args, ", "))
  same(mine, "has in its descriptor the arch", mine.arch, origin.desc:match('"arch":"([^"]*)"'))
end

-- ------------------------------------------------------------------------------- check and bench

-- Does the kernel pass on the CPU device? false also when interrupted.
local function passes(mine, problem, opt)
  local why = cpu.missing(opt)
  if why then fail(why .. "; CHECK=0 times the kernel without a check") end
  local ctx = check.start(opt)
  if not check.build(ctx, { mine }) then return false end
  local runs = check.runs(mine, opt, problem)
  local status, reason, report = check.verdict(ctx, mine, runs, problem)
  ctx.session:stop()
  if status == "ok" then
    host.out(fmt("check   ok: %d runs on the CPU device\n", #runs))
    return true
  end
  for line in (report or ""):gmatch("[^\n]+") do host.out("report  " .. line .. "\n") end
  host.out(fmt("check   refused: %s\n", reason))
  return false
end

local function print_row(name, row)
  host.out(fmt("%-11s %s: %s\n", row.status, name, row.why or ""))
end

-- Without a clock: what both are predicted to take.
local function verify(ctx, problem, kernels, names)
  local rows, list, whole = {}, {}, true
  ctx.backend.run(ctx, problem, kernels, rows, function() return false end)
  if #rows < #kernels then return 1 end
  for i, row in ipairs(rows) do
    whole = whole and row.status == "ok"
    if row.status ~= "ok" then print_row(names[i], row) end
    list[i] = { kernel = names[i], ["predicted us"] = row.predicted_us and fmt("%.2f", row.predicted_us) or "-",
                ["verified at"] = row.verified or "-" }
  end
  host.out("\n" .. rank.title(problem) .. "\n" .. tab.format(list, { "kernel", "predicted us", "verified at" }))
  if not whole then return 1 end
  host.out(fmt("predicted: %s is %.3f times as fast as %s; nothing was timed\n", names[2],
               rows[1].predicted_us / rows[2].predicted_us, names[1]))
  return 0
end

-- Both by the clocks of CLOCKS, one after the other; exit code.
local function by_clocks(ctx, problem, kernels, names)
  for i, kernel in ipairs((ctx.opt.clocks or {})[1] and kernels or {}) do
    local row = {}
    local done, why = clocks.run(ctx, problem, kernel, row)
    host.out((i == 1 and "\n" or "") .. clocks.text(row.clocks, names[i]))
    if done == nil then host.err(fmt("loom: %s: %s\n", rank.title(problem), why)) end
    if not done then return 1 end
    for _, r in ipairs(row.clocks) do
      if r.status ~= "ok" then return 1 end
    end
  end
  return 0
end

-- Times two kernels that are built; exit code.
local function race(ctx, problem, kernels, names)
  if measure.identity(kernels[1]) == measure.identity(kernels[2]) then
    host.err("note: the machine code and the launch of both are equal\n")
  end
  local result, at, row = pair.time(ctx, problem, kernels)
  if result then
    pair.print(problem, kernels, result, names)
    return by_clocks(ctx, problem, kernels, names)
  end
  if at then
    print_row(names[at], row)
  else
    host.err(fmt("loom: %s: %s\n", rank.title(problem), row))
  end
  return 1
end

local function build_failed(kernels, names)
  local bad = false
  for i, kernel in ipairs(kernels) do
    if kernel.built.error then
      bad = true
      host.out(fmt("%-11s %s: %s\n", "build", names[i], kernel.built.error))
    end
  end
  return bad
end

-- Builds and times two kernels, named for the reader, with the backend in force; exit code. No row is kept.
function handmade.compare(opt, problem, kernels, names)
  local own = setmetatable({ store = ":memory:" }, { __index = opt })
  local ctx = measure.start(own)
  if not ctx then return 1 end
  host.out(rank.device_line(ctx.common) .. "\n")
  problem.job = measure.problem_job(problem)
  local code = 1
  if ctx.backend.build(kernels, own) and not host.interrupted() then
    if ctx.backend.run then
      code = verify(ctx, problem, kernels, names)
    elseif not build_failed(kernels, names) then
      code = race(ctx, problem, kernels, names)
    end
  end
  ctx.session:stop()
  ctx.store:close()
  return code
end

-- Knobs that mean nothing here: one that is ignored misleads.
local function refuse_knobs(opt)
  for _, name in ipairs { "KEY", "SHAPES", "N", "BUDGET", "FRESH", "PROCESSES", "FINALISTS", "BLOCKS", "BASELINES",
                          "SANITIZE" } do
    if (opt.given or {})[name] then fail.usage(fmt("%s says nothing to the bench of a .cu", name)) end
  end
end

-- The file opt.kernel beside its origin; exit code 0 when both were right.
function handmade.run(opt)
  refuse_knobs(opt)
  local mine = handmade.read(opt.kernel)
  local problem = handmade.problem(mine, opt)
  local origin = handmade.origin(mine, problem, opt)
  handmade.obey(mine, origin)
  host.out(fmt("kernel  %s\norigin  %s\n", outdir.shown(mine.cu), origin.key))
  if mine.text == origin.text and mine.desc == origin.desc then
    host.err(fmt("note: '%s' is what its key gives, byte by byte\n", outdir.shown(mine.cu)))
  end
  if opt.check ~= false and not passes(mine, problem, opt) then
    if host.interrupted() then host.err("loom: interrupted\n") end
    return 1
  end
  return handmade.compare(opt, problem, { origin, mine }, { "origin", mine.stem })
end

return handmade
