-- run.lua -- planted bugs: every one of list.lua must be found by the CPU device, the good kernels must not.
--
--   loom --script tests/mutants/run.lua [NAME...]     NAME: a bug or a kernel of list.lua; default: all
--   TABLE=1 prints the table of bench/cpu/README.md; SEED=2 runs other inputs and orders of late copies.
--
-- A bug is one substitution in the text that emit.lua makes of a kernel. It is compiled as any kernel
-- is, and run on the CPU device under all schedules, families of inputs and shapes of its kernel.

require "strict"

local device = require "device"
local emit = require "emit"
local fail = require "fail"
local space = require "space"

local here = host.root .. "/tests/mutants"
local work = host.root .. "/out/build/mutants"
local loom_cpu = host.getenv("LOOM_CPU") or host.root .. "/out/build/loom-cpu"
local list = dofile(here .. "/list.lua")

local JOB = "pdl=1 seed=" .. (host.getenv("SEED") or "1") .. " schedules=0,1,2,3 families=ternary,cancel,onehot,slice,special"
local COMPILE, RUN = 60, 60 -- seconds that one may take

local function die(...)
  fail("mutants: " .. string.format(...))
end

-- ------------------------------------------------------------------------------- kernels and bugs

-- Spaces of our own lie here, with their templates; the others are the shipped ones.
local function locate(name)
  local own = here .. "/spaces/" .. name .. ".lua"
  if host.stat(own) then return own, here end
  return name, nil
end

-- The kernel of a base, as the product emits it: {text, desc, ...}.
local function render(base)
  local path, folder = locate(base.key:match("^[^:]*"))
  local _, part, cand, sp = space.parse_key(base.key, space.load(path))
  local shape = base.shapes[1]
  local problem = { M = shape[1], N = shape[2], K = shape[3], layout = part.layout, dtype = part.dtype, acc = part.acc }
  local b = space.bind(sp, problem, device.get("h200"))
  emit.dir = folder
  local kernel = emit.render { b = b, cand = cand, full = b:full(cand), key = b:key(cand) }
  emit.dir = nil
  return kernel
end

local function line_of(text, at)
  local _, ends = text:sub(1, at - 1):gsub("\n", "")
  return ends + 1
end

-- The text with the bug in it, and its first line; what it replaces must stand there exactly once.
local function planted(text, bug)
  local at, last = text:find(bug.find, 1, true)
  if not at then die("'%s': its text is not in kernel '%s'", bug.name, bug.base) end
  if text:find(bug.find, at + 1, true) then die("'%s': its text stands twice in kernel '%s'", bug.name, bug.base) end
  return text:sub(1, at - 1) .. bug.replace .. text:sub(last + 1), line_of(text, at)
end

local function put(path, text)
  local wrote, err = host.write(path, text)
  if wrote == nil then die("%s", err) end
end

-- A task: a kernel in a folder of its own, good or with a bug.
local function task_of(base, bug, kernel)
  local t = { base = base, bug = bug, name = bug and bug.name or base.name, layout = base.key:match("layout=(%l%l)") }
  t.dir = work .. "/" .. (bug and "bug " or "good ") .. t.name:gsub("[^%w]+", "-")
  local text = kernel.text
  if bug then text, t.line = planted(text, bug) end
  assert(host.mkdir(t.dir))
  put(t.dir .. "/k.cu", text)
  put(t.dir .. "/k.json", kernel.desc)
  return t
end

local function tasks_of(names)
  local wanted, tasks, kernels, bases = {}, {}, {}, {}
  for _, name in ipairs(names) do wanted[name] = 0 end
  local function asked(name)
    if wanted[name] then wanted[name] = wanted[name] + 1 end
    return #names == 0 or wanted[name] ~= nil
  end
  for _, base in ipairs(list.bases) do
    bases[base.name], kernels[base.name] = base, render(base)
    if asked(base.name) then tasks[#tasks + 1] = task_of(base, nil, kernels[base.name]) end
  end
  for _, bug in ipairs(list.bugs) do
    if not bases[bug.base] then die("'%s': no kernel '%s'", bug.name, bug.base) end
    if asked(bug.name) then tasks[#tasks + 1] = task_of(bases[bug.base], bug, kernels[bug.base]) end
  end
  for _, name in ipairs(names) do
    if wanted[name] == 0 then die("no bug and no kernel '%s'", name) end
  end
  return tasks
end

-- ------------------------------------------------------------------------------- compile and run

-- Registers that nobody sets hold nonsense, as on a GPU. The object is there at once or not at all: two runs of
-- this script may share the folder.
local function compile(t)
  return { "sh", "-c", 'so=$1; shift; "$@" -o "$so.$$" && mv -f "$so.$$" "$so"', "sh", t.dir .. "/k.so",
    "g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-ftrivial-auto-var-init=pattern", "-fstack-reuse=none",
    "-I" .. host.root .. "/templates/lib", "-I" .. host.root .. "/bench/cpu", "-fmacro-prefix-map=" .. t.dir .. "/=",
    '-DLOOM_KERNEL="' .. t.dir .. '/k.cu"', host.root .. "/bench/cpu/entry.cpp" }
end

-- Leading dimensions of the second shape and those after it: rows lie further apart than they are long.
local function padded(shape, layout)
  local M, N, K = shape[1], shape[2], shape[3]
  local a, b = layout:sub(2, 2) == "n" and K or M, layout:sub(1, 1) == "n" and N or K
  return string.format("lda=%d ldb=%d ldc=%d", a + 8, b + 16, N + 8)
end

-- One process of the CPU device for all shapes: jobs in, answers out.
local function run(t)
  local jobs = {}
  for i, shape in ipairs(t.base.shapes) do
    local words = { "check", "so=" .. t.dir .. "/k.so", "desc=" .. t.dir .. "/k.json", "report=" .. t.dir .. "/report" .. i,
      "counters=" .. t.dir .. "/counters" .. i }
    local more = string.format("M=%d N=%d K=%d %s %s", shape[1], shape[2], shape[3], i > 1 and padded(shape, t.layout) or "", JOB)
    for word in more:gmatch("%S+") do words[#words + 1] = word end
    jobs[i] = table.concat(words, "\t") .. "\n"
  end
  put(t.dir .. "/jobs", table.concat(jobs))
  t.jobs = #jobs
  return { "sh", "-c", 'exec "$0" < "$1"', loom_cpu, t.dir .. "/jobs" }
end

-- Answer line -> its verb and fields.
local function parse(line)
  local verb, fields = line:match("^[^\t]*"), {}
  for name, value in line:gmatch("\t(%w+)=([^\t]*)") do fields[name] = value end
  return verb, fields
end

-- What the answers say of a task: t.kind, t.at, t.text of the first finding; t.error when it could not be told.
local function judge(t, result)
  t.ms = math.floor(result.seconds * 1000 + 0.5)
  if result.timeout then t.error = "the CPU device did not end" return end
  local answers = 0
  for line in result.output:gmatch("[^\n]+") do
    local verb, fields = parse(line)
    if verb == "wrong" then
      answers = answers + 1
      if not t.kind then t.kind, t.at, t.other, t.text = fields.kind, fields.at or "", fields.other or "", fields.why or "" end
    elseif verb == "ok" then
      answers = answers + 1
    elseif verb ~= "ready" then
      t.error = t.error or line
    end
  end
  if answers < t.jobs and not t.kind then t.error = t.error or "no answer: " .. result.output:sub(-200) end
end

local function expected(t)
  for _, kind in ipairs(t.bug.expect) do
    if kind == t.kind then return true end
  end
  return false
end

-- Counts a finished task; the line about it.
local function verdict_of(t, tally)
  local verdict
  if t.error then
    verdict, tally.errors = "ERROR " .. t.error, tally.errors + 1
  elseif not t.bug then
    verdict = t.kind and string.format("FALSE REPORT %s: %s (%s)", t.kind, t.text, t.at) or "clean"
    if t.kind then tally.false_ = tally.false_ + 1 end
  elseif not t.kind then
    verdict = "MISSED: " .. t.bug.why
  elseif expected(t) then
    verdict, tally.caught = t.kind, tally.caught + 1
  else
    verdict = string.format("caught as %s, expected %s", t.kind, table.concat(t.bug.expect, ", "))
    tally.caught, tally.odd = tally.caught + 1, tally.odd + 1
  end
  return verdict
end

local function plain_line(t, verdict)
  local line = t.line and "line " .. t.line or ""
  return string.format("%-44s %-16s %-8s %5d ms  %s\n", t.name, t.bug and t.base.name or "good kernel", line, t.ms or 0, verdict)
end

local function table_row(t, verdict)
  if not t.bug then return "" end
  return string.format("| %s | %s | %s | %s |\n", t.bug.name, t.base.name, t.bug.why, verdict)
end

-- Shows what is finished and has nothing unfinished before it; returns the first that is not shown.
local function show_done(tasks, done, next_, show, tally)
  while tasks[next_] and done[next_] do
    host.out(show(tasks[next_], verdict_of(tasks[next_], tally)))
    next_ = next_ + 1
  end
  return next_
end

-- Compiles and runs all tasks, some at a time; shows them in their order.
local function run_all(tasks, show)
  local tally = { caught = 0, false_ = 0, errors = 0, odd = 0 }
  local pool, done, next_ = host.pool(host.cpus()), {}, 1
  for i, t in ipairs(tasks) do pool:submit { argv = compile(t), timeout = COMPILE, tag = { i, "compile" } } end
  while pool:pending() > 0 do
    local result = pool:wait()
    local i, what = result.tag[1], result.tag[2]
    local t = tasks[i]
    if what == "run" then
      judge(t, result)
    elseif result.code == 0 then
      pool:submit { argv = run(t), timeout = RUN, tag = { i, "run" } }
    else
      t.error = "g++: " .. (result.output:match("[^\n]*error:[^\n]*") or result.output:sub(1, 200))
    end
    done[i] = what == "run" or t.error ~= nil
    next_ = show_done(tasks, done, next_, show, tally)
  end
  pool:close()
  return tally
end

local function main(names)
  local began, as_table = host.now(), host.getenv("TABLE") == "1"
  local tasks, bugs = tasks_of(names), 0
  for _, t in ipairs(tasks) do bugs = bugs + (t.bug and 1 or 0) end
  if as_table then host.out("| bug | kernel | what it breaks | found as |\n|---|---|---|---|\n") end
  local tally = run_all(tasks, as_table and table_row or plain_line)
  if tally.odd > 0 then host.out(string.format("%d caught as something else than expected\n", tally.odd)) end
  if tally.errors > 0 then host.out(string.format("%d could not be run\n", tally.errors)) end
  host.out(string.format("%.0f s\n", host.now() - began))
  host.out(string.format("mutants: %d of %d caught, %d false\n", tally.caught, bugs, tally.false_))
  return tally.caught == bugs and tally.false_ == 0 and tally.errors == 0 and 0 or 1
end

local ok, code = pcall(main, { ... })
if not ok and not fail.text(code) then error(code, 0) end
if not ok then host.err(fail.text(code) .. "\n") end
return ok and code or 2
