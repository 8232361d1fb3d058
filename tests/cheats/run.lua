-- run.lua -- kernels that cheat or are broken: none of list.lua may be taken for right, the good kernels must be.
--
--   loom --script tests/cheats/run.lua [NAME...]     NAME: a cheat or a kernel of list.lua; default: all
--   BACKEND=cuda|cpu in the environment, default: cuda where a GPU is; LIST=1 prints the list as a table.
--
-- A cheat goes the way of any kernel: its text is read (rules.lua), a compiler must take it, its cubin is read; then it
-- runs, on the CPU device as tests/mutants do, or in the bench worker, at two shapes. What says no first is the catch.

require "strict"

local build = require "build"
local device = require "device"
local measure = require "measure"
local progress = require "progress"
local rules = require "rules"
local static = require "static"
local worker = require "worker"

local kit = dofile(host.root .. "/tests/plant_kit.lua")
local list = dofile(host.root .. "/tests/cheats/list.lua")

local JOB = "pdl=1 seed=1 schedules=0,1,2,3 families=ternary,cancel,onehot,slice,special"
local BLOCKS = 2
local TIME = 15 -- seconds for one kernel in the worker: some of them never end

local set = { name = "cheats", bases = list.bases, plants = list.cheats, work = host.root .. "/out/build/cheats",
              refused_as = "host compile" }

function set.plant(text, desc, cheat)
  return kit.edited(set, text, desc, cheat)
end

local function catch(t, kind, why)
  if not t.kind then t.kind, t.at, t.why = kind, "", why end
end

-- ------------------------------------------------------------------------------- backends

local function read_sources(tasks)
  for _, t in ipairs(tasks) do
    local why = rules.source(t.text)[1]
    if why then catch(t, "source rule", why) end
  end
end

local cpu = {}

function cpu.run(tasks, show)
  local h200 = device.get("h200")
  read_sources(tasks)
  for _, t in ipairs(tasks) do
    local _, refusals = static.check(t, h200)
    if refusals[1] then catch(t, "static rule", refusals[1]) end
  end
  kit.run_all(set, tasks, JOB, show)
end

-- A cheat's share in what is to be caught: nothing where it is out of the device's reach, which is said why.
function cpu.expected(cheat)
  if cheat.cpu ~= "caught" then return nil, "out of reach: " .. cheat.cpu end
  return "any"
end

local cuda = {}

-- nvcc must take every kernel, those that a rule of the text has refused too: else they are no cheats.
local function build_all(tasks, opt)
  local kernels = {}
  for i, t in ipairs(tasks) do
    kernels[i] = { text = t.text, desc = t.desc, key = t.key, stem = t.name, cu = t.dir .. "/k.cu", json = t.dir .. "/k.json" }
  end
  if not build.run(kernels, opt) then kit.die(set, "interrupted") end
  for i, t in ipairs(tasks) do
    t.built = kernels[i].built
    local bytes = t.built.cubin and host.read(t.built.cubin)
    local why = bytes and rules.cubin(bytes)[1]
    if why then
      catch(t, "cubin rule", why)
    elseif t.built.error and not t.kind then
      t.error = t.built.error
    end
  end
end

-- A pointer that is no opaque handle compiles for nvcc, and not for the CPU device.
local function host_compile(tasks)
  local pool = host.pool(host.cpus())
  for i, t in ipairs(tasks) do
    if not t.kind and not t.error then pool:submit { argv = kit.compile(t), timeout = kit.COMPILE, tag = i } end
  end
  while pool:pending() > 0 do
    local result = pool:wait()
    if result.code ~= 0 then kit.not_compiled(set, tasks[result.tag], result) end
  end
  pool:close()
end

-- Problems of the i-th shape, each with its tasks, in the order of the tasks.
local function problems_of(tasks, i)
  local order, by_title = {}, {}
  for _, t in ipairs(tasks) do
    local s = t.base.gpu[i]
    local title = string.format("%d %d %d %s %s %s", s[1], s[2], s[3], t.layout, t.dtype, t.acc)
    if not by_title[title] then
      local p = { M = s[1], N = s[2], K = s[3], layout = t.layout, dtype = t.dtype, acc = t.acc, tasks = {} }
      p.job = measure.problem_job(p)
      by_title[title], order[#order + 1] = p, p
    end
    table.insert(by_title[title].tasks, t)
  end
  return order
end

local function time_one(session, problem, t)
  local status, answer = session:time(problem, t.built.cubin_sha, { { "cubin", t.built.cubin },
    { "desc", t.dir .. "/k.json" }, { "blocks", BLOCKS } })
  if status == "interrupted" then kit.die(set, "interrupted") end
  if status == "unprepared" then
    t.error = "the worker takes no problem: " .. (answer.why or "")
  elseif status ~= "ok" then
    catch(t, status, answer.why or "")
  end
end

local function time_all(tasks, session)
  local p = progress.new("worker", 2 * #tasks)
  for i = 1, 2 do
    for _, problem in ipairs(problems_of(tasks, i)) do
      for _, t in ipairs(problem.tasks) do
        if not t.kind and not t.error then time_one(session, problem, t) end
        p:step(t.name)
      end
    end
  end
  p:done()
end

function cuda.run(tasks, show)
  local opt = { device = device.get("h200"), backend = "cuda" }
  local backend = measure.backend(opt)
  read_sources(tasks)
  build_all(tasks, opt)
  host_compile(tasks)
  local session = worker.session { argv = backend.argv, log = set.work .. "/worker.log", timeouts = { time = TIME } }
  time_all(tasks, session)
  session:stop()
  for _, t in ipairs(tasks) do show(t) end
end

-- The words of a verdict that counts; nil where today's worker lacks a check.
function cuda.expected(cheat)
  local needs = cheat.cuda:match("^needs: (.*)")
  if needs then return nil, "not caught, needs: " .. needs end
  return cheat.cuda
end

local backends = { cpu = cpu, cuda = cuda }

-- ------------------------------------------------------------------------------- output

-- Counts a finished cheat, where it counts; the line about it.
local function judge(t, expected, why_not, tally)
  if not expected then
    tally.beyond = tally.beyond + 1
    return t.kind and string.format("caught as %s, though it is said to be %s", t.kind, why_not) or why_not
  end
  tally.all = tally.all + 1
  if not t.kind then return "MISSED: " .. t.plant.why end
  tally.caught = tally.caught + 1
  if expected == "any" or (" " .. expected .. " "):find(" " .. t.kind .. " ", 1, true)
     or expected == t.kind then
    return string.format("%s: %s", t.kind, t.why:sub(1, 120))
  end
  tally.odd = tally.odd + 1
  return string.format("caught as %s, expected %s: %s", t.kind, expected, t.why:sub(1, 120))
end

local function verdict_of(t, backend, tally)
  if t.error then
    tally.errors = tally.errors + 1
    if t.plant and backend.expected(t.plant) then tally.all = tally.all + 1 end
    return "ERROR " .. t.error
  elseif not t.plant then
    if t.kind then tally.false_ = tally.false_ + 1 end
    return t.kind and string.format("FALSE REPORT %s: %s (%s)", t.kind, t.why, t.at) or "right"
  end
  local expected, why_not = backend.expected(t.plant)
  return judge(t, expected, why_not, tally)
end

local function print_list()
  host.out("| cheat | kernel | why it is one | on a GPU | on the CPU device |\n|---|---|---|---|---|\n")
  for _, c in ipairs(list.cheats) do
    host.out(string.format("| %s | %s | %s | %s | %s |\n", c.name, c.base, c.why, c.cuda, c.cpu))
  end
  return 0
end

local function main(names)
  if host.getenv("LIST") == "1" then return print_list() end
  local named = host.getenv("BACKEND")
  local name = measure.backend_name { backend = named ~= "" and named or nil }
  local backend = backends[name] or kit.die(set, "BACKEND '%s' is neither cuda nor cpu", name)
  local began, tally = host.now(), { all = 0, caught = 0, beyond = 0, false_ = 0, errors = 0, odd = 0 }
  backend.run(kit.tasks(set, names), function(t) host.out(kit.line(t, verdict_of(t, backend, tally))) end)
  if tally.beyond > 0 then
    host.out(string.format("%d not counted: %s\n", tally.beyond,
                           name == "cpu" and "out of the CPU device's reach" or "the worker lacks their check"))
  end
  if tally.false_ > 0 then host.out(string.format("%d good kernels refused\n", tally.false_)) end
  if tally.odd > 0 then host.out(string.format("%d caught as something else than expected\n", tally.odd)) end
  if tally.errors > 0 then host.out(string.format("%d could not be run\n", tally.errors)) end
  host.out(string.format("%s, %.0f s\n", name, host.now() - began))
  host.out(string.format("cheats: %d of %d caught\n", tally.caught, tally.all))
  return tally.caught == tally.all and tally.false_ == 0 and tally.errors == 0 and 0 or 1
end

return kit.main(main, { ... })
