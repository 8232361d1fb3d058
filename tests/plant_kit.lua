-- plant_kit.lua -- what tests/mutants and tests/cheats share: a kernel as the product emits it, something planted in
-- it, and a run of that on the CPU device.
--
-- A set is {name, bases, plants, work}: its name in messages, the good kernels {name, key, shapes}, what is planted in
-- them {name, base, find, replace, ...}, and the folder that it writes to. A shape is {M, N, K, job = "words of a job"}.

local device = require "device"
local emit = require "emit"
local fail = require "fail"
local space = require "space"

local keys = dofile(host.root .. "/tests/key_kit.lua") -- a script's path has no tests/

local kit = {}

local here = host.root .. "/tests/mutants"
local loom_cpu = host.getenv("LOOM_CPU") or host.root .. "/out/build/loom-cpu"

kit.COMPILE = 60 -- seconds that one compilation may take
local RUN = 60

function kit.die(set, ...)
  fail(set.name .. ": " .. string.format(...))
end

function kit.put(set, path, text)
  local wrote, err = host.write(path, text)
  if wrote == nil then kit.die(set, "%s", err) end
end

-- ------------------------------------------------------------------------------- kernels and plants

-- Spaces of our own lie in tests/mutants, with their templates, or in tests/spaces; the others are the shipped ones.
local function locate(name)
  local own, other = here .. "/spaces/" .. name .. ".lua", host.root .. "/tests/spaces/" .. name .. ".lua"
  if host.stat(own) then return own, here end
  return host.stat(other) and other or name, nil
end

-- The kernel of a base, whose key names what matters there, as the product emits it: {text, desc, launch, key, ...}.
function kit.render(base)
  local path, folder = locate(base.key:match("^[^:]*"))
  local sp = space.load(path)
  local _, part, cand = space.parse_key(keys.key(base.key, sp), sp)
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

-- The pattern of a text in which blanks and new lines are one: how a template is indented is no matter here.
local function pattern_of(find)
  local words = {}
  for word in find:gmatch "%S+" do words[#words + 1] = (word:gsub("%p", "%%%0")) end
  return table.concat(words, "%s+")
end

-- The text with `replace` in the place of `find`, and its line; what is replaced must stand there exactly once.
function kit.planted(set, text, plant, find, replace)
  local pattern = pattern_of(find)
  local at, last = text:find(pattern)
  if not at then kit.die(set, "'%s': its text is not in kernel '%s'", plant.name, plant.base) end
  if text:find(pattern, at + 1) then kit.die(set, "'%s': its text stands twice in kernel '%s'", plant.name, plant.base) end
  return text:sub(1, at - 1) .. replace .. text:sub(last + 1), line_of(text, at)
end

-- Text and descriptor with a plant of several edits in them, and the line of the first: plant.edits are {find, replace},
-- plant.desc the same of the descriptor.
function kit.edited(set, text, desc, plant)
  local line
  for _, edit in ipairs(plant.edits) do
    local new, at = kit.planted(set, text, plant, edit[1], edit[2])
    text, line = new, line or at
  end
  for _, edit in ipairs(plant.desc) do desc = kit.planted(set, desc, plant, edit[1], edit[2]) end
  return text, desc, line
end

-- A task: a kernel in a folder of its own, good or with a plant; set.plant(text, desc, plant) plants it.
local function task_of(set, base, plant, kernel)
  local t = { base = base, plant = plant, name = plant and plant.name or base.name, launch = kernel.launch, key = kernel.key }
  t.layout, t.dtype, t.acc = kernel.key:match "layout=(%l%l),dtype=(%w+),acc=(%w+)"
  t.dir = set.work .. "/" .. (plant and "bug " or "good ") .. t.name:gsub("[^%w]+", "-")
  t.text, t.desc = kernel.text, kernel.desc
  if plant then t.text, t.desc, t.line = set.plant(t.text, t.desc, plant) end
  assert(host.mkdir(t.dir))
  kit.put(set, t.dir .. "/k.cu", t.text)
  kit.put(set, t.dir .. "/k.json", t.desc)
  return t
end

-- Tasks for the good kernels and the plants that `names` has, for all of them where it has none.
function kit.tasks(set, names)
  local wanted, tasks, kernels, bases = {}, {}, {}, {}
  for _, name in ipairs(names) do wanted[name] = 0 end
  local function asked(name)
    if wanted[name] then wanted[name] = wanted[name] + 1 end
    return #names == 0 or wanted[name] ~= nil
  end
  for _, base in ipairs(set.bases) do
    bases[base.name], kernels[base.name] = base, kit.render(base)
    if asked(base.name) then tasks[#tasks + 1] = task_of(set, base, nil, kernels[base.name]) end
  end
  for _, plant in ipairs(set.plants) do
    if not bases[plant.base] then kit.die(set, "'%s': no kernel '%s'", plant.name, plant.base) end
    if asked(plant.name) then tasks[#tasks + 1] = task_of(set, bases[plant.base], plant, kernels[plant.base]) end
  end
  for _, name in ipairs(names) do
    if wanted[name] == 0 then kit.die(set, "no bug and no kernel '%s'", name) end
  end
  return tasks
end

-- ------------------------------------------------------------------------------- compile and run

-- Registers that nobody sets hold nonsense, as on a GPU. The object is there at once or not at all: two runs of
-- a script may share the folder.
function kit.compile(t)
  return { "sh", "-c", 'so=$1; shift; "$@" -o "$so.$$" && mv -f "$so.$$" "$so"', "sh", t.dir .. "/k.so",
    "g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-ftrivial-auto-var-init=pattern", "-fstack-reuse=none",
    "-I" .. host.root .. "/templates/lib", "-I" .. host.root .. "/bench/cpu", "-fmacro-prefix-map=" .. t.dir .. "/=",
    '-DLOOM_KERNEL="' .. t.dir .. '/k.cu"', host.root .. "/bench/cpu/entry.cpp" }
end

-- Leading dimensions of the second shape and those after it: rows lie further apart than they are long, by an odd
-- number of elements where the kernel takes that.
local function padded(shape, layout, legal)
  local M, N, K = shape[1], shape[2], shape[3]
  local a, b = layout:sub(2, 2) == "n" and K or M, layout:sub(1, 1) == "n" and N or K
  if legal.ld == 1 then return string.format("lda=%d ldb=%d ldc=%d", a + 8 | 1, b + 14 | 1, N + 6 | 1) end
  return string.format("lda=%d ldb=%d ldc=%d", a + 8, b + 16, N + 8)
end

-- One process of the CPU device for all shapes: jobs in, answers out.
local function run(set, t, job)
  local jobs = {}
  for i, shape in ipairs(t.base.shapes) do
    local words = { "check", "so=" .. t.dir .. "/k.so", "desc=" .. t.dir .. "/k.json", "report=" .. t.dir .. "/report" .. i,
      "counters=" .. t.dir .. "/counters" .. i }
    local lds = i > 1 and padded(shape, t.layout, t.launch.legal) or ""
    local more = string.format("M=%d N=%d K=%d %s %s %s", shape[1], shape[2], shape[3], shape.job or "", lds, job)
    for word in more:gmatch("%S+") do words[#words + 1] = word end
    jobs[i] = table.concat(words, "\t") .. "\n"
  end
  kit.put(set, t.dir .. "/jobs", table.concat(jobs))
  t.jobs = #jobs
  return { "sh", "-c", 'exec "$0" < "$1"', loom_cpu, t.dir .. "/jobs" }
end

-- Answer line -> its verb and fields.
local function parse(line)
  local verb, fields = line:match("^[^\t]*"), {}
  for name, value in line:gmatch("\t(%w+)=([^\t]*)") do fields[name] = value end
  return verb, fields
end

-- What the answers say of a task: t.kind, t.at, t.why of the first finding; t.error when it could not be told.
local function judge(t, result)
  t.ms = math.floor(result.seconds * 1000 + 0.5)
  if result.timeout then t.error = "the CPU device did not end" return end
  local answers = 0
  for line in result.output:gmatch("[^\n]+") do
    local verb, fields = parse(line)
    if verb == "wrong" then
      answers = answers + 1
      if not t.kind then t.kind, t.at, t.other, t.why = fields.kind, fields.at or "", fields.other or "", fields.why or "" end
    elseif verb == "ok" then
      answers = answers + 1
    elseif verb ~= "ready" then
      t.error = t.error or line
    end
  end
  if answers < t.jobs and not t.kind then t.error = t.error or "no answer: " .. result.output:sub(-200) end
end

-- A task that g++ refuses: an error, or a catch of a kind that the set has for it.
function kit.not_compiled(set, t, result)
  local why = result.output:match("(k%.cu:[^\n]*error:[^\n]*)") or result.output:match("[^\n]*error:[^\n]*") or result.output:sub(1, 200)
  if set.refused_as then
    t.kind, t.at, t.why = set.refused_as, "", why
  else
    t.error = "g++: " .. why
  end
end

-- Shows what is finished and has nothing unfinished before it; returns the first that is not shown.
local function show_done(tasks, done, next_, show)
  while tasks[next_] and done[next_] do
    show(tasks[next_])
    next_ = next_ + 1
  end
  return next_
end

-- Compiles and runs all tasks, some at a time, but those that have t.kind already; shows them in their order.
-- `job` are the words of a job of the CPU device.
function kit.run_all(set, tasks, job, show)
  local pool, done = host.pool(host.cpus()), {}
  for i, t in ipairs(tasks) do
    done[i] = t.kind ~= nil
    if not t.kind then pool:submit { argv = kit.compile(t), timeout = kit.COMPILE, tag = { i, "compile" } } end
  end
  local next_ = show_done(tasks, done, 1, show)
  while pool:pending() > 0 do
    local result = pool:wait()
    local i, what = result.tag[1], result.tag[2]
    local t = tasks[i]
    if what == "run" then
      judge(t, result)
    elseif result.code == 0 then
      pool:submit { argv = run(set, t, job), timeout = RUN, tag = { i, "run" } }
    else
      kit.not_compiled(set, t, result)
    end
    done[i] = what == "run" or t.error ~= nil or t.kind ~= nil
    next_ = show_done(tasks, done, next_, show)
  end
  pool:close()
end

-- ------------------------------------------------------------------------------- output

function kit.line(t, verdict)
  local line = t.line and "line " .. t.line or ""
  return string.format("%-44s %-16s %-8s %5d ms  %s\n", t.name, t.plant and t.base.name or "good kernel", line, t.ms or 0, verdict)
end

-- Runs a script's main; its exit code.
function kit.main(main, names)
  local ok, code = pcall(main, names)
  if not ok and not fail.text(code) then error(code, 0) end
  if not ok then host.err(fail.text(code) .. "\n") end
  return ok and code or 2
end

return kit
