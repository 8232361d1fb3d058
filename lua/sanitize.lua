-- sanitize: compute-sanitizer on a kernel that has won: memcheck, racecheck, synccheck, initcheck, each over the
-- small products of the worker's job `vet`.
--
-- What a tool knows of new instructions, and of this driver, is not written down: it is tried, once a process and
-- tool. It must pass a right kernel and find a fault of its own kind in another (bench/sanitize/known.cu), or it is
-- not available and never counted. A tool that did not get through a kernel is not counted for that kernel.

local build = require "build"
local compile = require "compile"
local outdir = require "outdir"
local worker = require "worker"

local sanitize = {}

local TOOLS = { "memcheck", "racecheck", "synccheck", "initcheck" } -- the place is the number of its plant
local TIMEOUT = 120 -- seconds of one tool on one kernel: they slow a kernel down by up to a hundred
local PATIENCE = 60

local DESC = '{"loom":1,"kernel":"loom_kernel","key":"known:","arch":"%s","layout":"nn","dtype":"f16","acc":"f32",'
  .. '"args":["A","B","C","M","N","K","lda","ldb","ldc","ws"],"grid":{"rule":"tiles","tile":[16,16],"split_k":1,'
  .. '"ctas_per_sm":1},"block":256,"cluster":1,"smem":0,"cooperative":false,"pdl":false,"tensors":[],'
  .. '"workspace":{"bytes":1000,"init":"none"},"legal":{"m":1,"n":1,"k":1,"ld":1,"align":2,"M":0,"N":0,"K":0,'
  .. '"resident":false}}\n'
local KNOWN_JOB = { M = 64, N = 64, K = 64, layout = "nn", dtype = "f16", acc = "f32" }

local function note(...)
  host.err("note: " .. string.format(...) .. "\n")
end

-- ------------------------------------------------------------------------------- one run of one tool

-- compute-sanitizer: on PATH, in CUDA_HOME's bin, else beside nvcc; nil without one.
function sanitize.find(opt)
  local nvcc = build.nvcc(opt)
  local more = { (host.getenv("CUDA_HOME") or "/usr/local/cuda") .. "/bin", nvcc and nvcc:match("^(.*)/[^/]*$") }
  return compile.find("compute-sanitizer", table.concat(more, ":"))
end

-- The first finding of a log, nil where there is none: it stands at the margin, where it happened is indented.
local function first_finding(log)
  local first
  for space, text in log:gmatch("=========( *)([^\n]*)") do
    if first then
      return #space > 1 and text:find("^at ") and first .. " " .. text or first
    elseif #space == 1 and not text:find("^COMPUTE%-SANITIZER") and not text:find("SUMMARY:", 1, true)
           and not text:find("^Target application") then
      first = text
    end
  end
  return first
end

-- What a tool's log says: how many findings, and the first of them; nil, why where the log is not whole.
function sanitize.parse(log)
  local count = log:match("========= [%u ]*SUMMARY: (%d+) ")
  if not count then return nil, first_finding(log) or "it wrote no summary" end
  return math.tointeger(tonumber(count)), first_finding(log) or "no text"
end

local function write(path, text)
  assert(host.write(path, text) ~= nil, "cannot write " .. path)
end

local function vet_line(problem, cubin, desc)
  local fields = {}
  for i, name in ipairs { "M", "N", "K", "layout", "dtype", "acc" } do fields[i] = { name, problem[name] } end
  for _, f in ipairs { { "seed", 1 }, { "cubin", cubin }, { "desc", desc }, { "patience", PATIENCE } } do
    fields[#fields + 1] = f
  end
  return worker.encode("vet", fields)
end

-- The worker's answer to vet among all that it wrote: verb, fields.
local function answer_of(output)
  local answers = {}
  for line in output:gmatch("[^\n]+") do
    local verb, fields = worker.decode(line)
    if verb and (next(fields) or verb == "ok") then answers[#answers + 1] = { verb, fields } end
  end
  local last = answers[#answers] or { "nothing", {} }
  return last[1], last[2]
end

local function not_through(done, verb, fields)
  if done.timeout then return string.format("no end after %d s", TIMEOUT) end
  if done.signal then return string.format("killed by signal %d", done.signal) end
  if verb == "ready" or verb == "nothing" then
    return string.format("the worker did not answer (exit %s)", done.code)
  end
  return string.format("the worker says %s: %s", verb, fields.why or "nothing more")
end

-- Runs one tool over one kernel: {found = count, line = the first finding, through = all products were right under
-- it, why = what went wrong besides}; nil when the user interrupted.
local function run_tool(ctx, exe, tool, problem, cubin, desc)
  local base = outdir.path(ctx.opt, "sanitize/" .. tool)
  local jobs, log = base .. ".jobs", base .. ".log"
  write(jobs, vet_line(problem, cubin, desc) .. "\nquit\n")
  host.remove(log)
  local argv = { "sh", "-c", 'exec "$@" < "$0"', jobs, exe, "--tool", tool, "--log-file", log, "--report-api-errors",
                 "no" }
  table.move(ctx.backend.argv, 1, #ctx.backend.argv, #argv + 1, argv)
  local env = table.move(ctx.opt.env or {}, 1, #(ctx.opt.env or {}), 1, {})
  env[#env + 1] = "LOOM_HOLES=0"
  local pool = host.pool(1)
  pool:submit { argv = argv, timeout = TIMEOUT, env = env, tag = 1 }
  local done
  repeat done = pool:wait(0.5) until done or host.interrupted()
  pool:close()
  if not done or host.interrupted() then return nil end
  local verb, fields = answer_of(done.output)
  local found, line = sanitize.parse(host.read(log) or "")
  local through = verb == "ok" and done.code == 0 and not done.timeout
  return { found = found, line = line, through = through,
           why = not through and not_through(done, verb, fields) or not found and line or nil }
end

-- ------------------------------------------------------------------------------- which tools work here

-- The kernels of known.cu, compiled: [0] is right, [i] has the plant of tool i; nil when one does not compile.
local function known_kernels(ctx)
  local opt, path = ctx.opt, host.root .. "/bench/sanitize/known.cu"
  local text, err = host.read(path)
  if not text then return nil, err end
  local list = {}
  for i = 0, #TOOLS do
    list[i + 1] = { text = string.format("#define PLANT %d\n", i) .. text, stem = "known", cu = path, key = "known:" }
  end
  if not build.variant(list, opt, "known", {}) then return nil, "interrupted" end
  local cubins = {}
  for i, kernel in ipairs(list) do
    if kernel.known.error then return nil, kernel.known.error end
    cubins[i - 1] = kernel.known.cubin
  end
  cubins.desc = outdir.path(opt, "sanitize/known.json")
  write(cubins.desc, DESC:format(opt.device.arch))
  return cubins
end

-- Why a tool is no use here, "" where it is of use; nil when the user interrupted.
local function try_tool(ctx, exe, i, known)
  local right = run_tool(ctx, exe, TOOLS[i], KNOWN_JOB, known[0], known.desc)
  if not right then return nil end
  if right.found ~= 0 or not right.through then
    return string.format("a right kernel does not pass it: %s", right.why or right.line)
  end
  local planted = run_tool(ctx, exe, TOOLS[i], KNOWN_JOB, known[i], known.desc)
  if not planted then return nil end
  if not planted.found or planted.found == 0 then
    return string.format("it does not find a planted fault (%s)", planted.why or "clean")
  end
  return ""
end

local tried = {} -- by program: {[tool] = why or ""}, for this process

-- Why a tool does not count, "" where it does; nil when the user interrupted. Said once.
local function usable(ctx, exe, i)
  local id = exe .. "\0" .. ctx.backend.argv[1]
  tried[id] = tried[id] or {}
  local state = tried[id]
  if state[i] then return state[i] end
  if not state.known then
    local known, why = known_kernels(ctx)
    if host.interrupted() then return nil end
    state.known, state.none = known or {}, not known and "its test kernels do not compile: " .. why or nil
  end
  local why = state.none or try_tool(ctx, exe, i, state.known)
  if why and why ~= "" then note("compute-sanitizer's %s is not available here: %s", TOOLS[i], why) end
  state[i] = why
  return why
end

-- ------------------------------------------------------------------------------- a kernel

-- The row once more with what was found: the later row of a key and pass is the one that counts.
local function store(ctx, row, clean, wrong)
  row.sanitizer = #clean > 0 and table.concat(clean, ",") or nil
  if wrong then
    row.status, row.why = "wrong", wrong
    ctx.failed = ctx.failed + 1
  end
  if not row.sanitizer and not wrong then return end
  ctx.store:add(row)
  ctx.rows = ctx.rows + 1
end

local missing = false -- said that there is no compute-sanitizer

-- Runs every tool that works over a kernel whose stored row is `row`: the row gets the column `sanitizer`, the tools
-- that were clean, and is stored again. A finding makes it wrong. False when the user interrupted.
function sanitize.run(ctx, problem, kernel, row)
  if ctx.backend.name ~= "cuda" then return true end
  local exe = sanitize.find(ctx.opt)
  if not exe then
    if not missing then note("SANITIZE=1 does nothing: no compute-sanitizer on PATH, in CUDA_HOME/bin, beside nvcc") end
    missing = true
    return true
  end
  host.mkdir(outdir.path(ctx.opt, "sanitize"))
  ctx.session:stop() -- the GPU is the tool's now
  local clean, wrong = {}, nil
  for i, tool in ipairs(TOOLS) do
    local why = usable(ctx, exe, i)
    local r = why == "" and run_tool(ctx, exe, tool, problem, kernel.built.cubin, kernel.json)
    if why == nil or r == nil then return false end
    if r and (r.found or 0) > 0 then
      wrong = string.format("%s: %s", tool, r.line)
      break
    elseif r and r.found and r.through then
      clean[#clean + 1] = tool
    elseif r then
      note("compute-sanitizer's %s did not get through %s: %s", tool, kernel.key, r.why)
    end
  end
  store(ctx, row, clean, wrong)
  return true
end

-- For tests: as in a process that has tried nothing.
function sanitize.forget()
  tried, missing = {}, false
end

return sanitize
