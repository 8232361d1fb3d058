-- search: a spec that evolves: measure points of it, edit its text towards what was fast, repeat.
--
-- A generation is one child (breed.lua): its points (candidates.lua) are built and timed
-- (answers.lua), every answer goes to the journal. A search is a function of its spec, problem, seed
-- and answers: killed anywhere and started again, it runs from its seed through the journal and goes
-- on. At the end the best three are measured again by fresh workers, and only what those say together is
-- reported.

local answers = require "answers"
local breed = require "breed"
local candidates = require "candidates"
local emit = require "emit"
local fail = require "fail"
local journal = require "journal"
local lineage = require "lineage"
local measure = require "measure"
local outdir = require "outdir"
local progress = require "progress"
local rank = require "rank"
local rng = require "rng"
local space = require "space"

local search = { n = 8, budget = 60 }

local FAKE_MS = 400  -- what an answer of the fake backend takes
local MOST_IDLE = 30 -- generations in a row without anything new to measure, before a search ends

-- ------------------------------------------------------------------------------- generations

local function before(x, y)
  local a, b = x.ratio or 0.0, y.ratio or 0.0
  if a ~= b then return a > b end
  return x.key < y.key
end

-- A new row, in its place among the others: best first.
local function enter(s, row, node)
  row.node = node
  s.known[row.key] = row
  local at = #s.rows + 1
  while at > 1 and before(row, s.rows[at - 1]) do at = at - 1 end
  table.insert(s.rows, at, row)
  node.measured = node.measured + 1
  if row.status ~= "ok" and row.status ~= "same" then node.failed = node.failed + 1 end
  s.lineage:credit(row)
end

local function note(s, text)
  local best = s.rows[1] and s.rows[1].ratio
  s.p.count = s.ms // 1000
  s.p:note(string.format("generation %d: %d measured, best %s  %s", s.generation, #s.rows,
                         best and string.format("%.3f", best) or "-", text))
end

-- What the build tells while it goes on; the search's own line stays.
local function build_progress(s)
  local function nothing() end
  return { step = function(_, stem) note(s, "build " .. stem) end, done = nothing, clear = nothing }
end

-- Measures `items` for `node`: "done", "spent", or "interrupted".
local function measure_items(s, node, items)
  local function id_of(item) return "time " .. item.key end
  if not answers.build(s, items, id_of) then return "interrupted" end
  for _, item in ipairs(items) do
    if answers.spent(s) then return "spent" end
    local row = answers.time(s, item, id_of(item))
    if not row then return "interrupted" end
    enter(s, row, node)
    note(s, emit.stem(node.space.name, item.key))
  end
  return #items > 0 and "done" or "idle"
end

-- What the mutator is told of edits that were tried: a child's have one gain together.
local function remember(s, node)
  if #node.edits > 0 then
    s.history[#s.history + 1] = { edits = node.edits, gain = node.born.gain }
  end
end

-- One generation: "done", "idle" (nothing new to measure), "spent" (also: the mutator is given up, no
-- child is to be had any more), "interrupted".
local function generation(s, g)
  s.generation = g
  if answers.spent(s) then return "spent" end
  local from = s.ms
  local node = g == 0 and s.root or breed.child(s, g)
  if not node then return s.given_up and "spent" or "interrupted" end
  for _, row in ipairs(s.rows) do lineage.credit(node, row) end
  local draw = rng.new(string.format("%d pick %d", s.seed, g))
  local parent = node.parent
  local items = candidates.pick(node.bound, parent and parent.bound, s.rows, s.known, s.n, draw)
  if #items == 0 and #node.edits == 0 and node.parent then return "idle" end
  breed.write(s, node)
  s.lineage:add(node)
  local how = measure_items(s, node, items)
  if how == "interrupted" then return how end
  node.ms = s.ms - from
  lineage.born(node)
  remember(s, node)
  if s.live then s.lineage:write() end
  return how
end

-- Until the time is spent, the mutator given up, or nothing new comes up; false when interrupted.
local function evolve(s)
  local g, idle = 0, 0
  while idle < MOST_IDLE do
    local how = generation(s, g)
    if how == "interrupted" or how == "spent" then return how == "spent" end
    idle = how == "idle" and idle + 1 or 0
    g = g + 1
  end
  return true
end

-- The best kernels in fresh workers: their rows, nil when interrupted.
local function finals(s)
  local items, id = {}, tostring(#s.rows)
  for _, row in ipairs(s.rows) do
    if row.status == "ok" and #items < answers.finalists then
      local b = row.node.bound
      items[#items + 1] = { b = b, cand = row.cand, key = row.key, full = b:full(row.cand) }
    end
  end
  local function id_of(item) return answers.result_id(s, id, item) end
  return answers.build(s, items, id_of) and answers.finals(s, items, id) or nil
end

-- ------------------------------------------------------------------------------- begin

-- What a search reads besides its spec: what kernels are made of, and the shipped spaces, whose
-- values the random mutator knows.
local function shipped_hash()
  local parts = {}
  for _, folder in ipairs { "/templates", "/templates/lib", "/spaces" } do
    local dir = host.root .. folder
    for _, name in ipairs(host.list(dir) or {}) do
      if name:find("%.cuh?$") or name:find("%.lua$") then
        parts[#parts + 1] = name .. "\0" .. (host.read(dir .. "/" .. name) or "")
      end
    end
  end
  return host.sha256(table.concat(parts, "\0")):sub(1, 12)
end

local function spec_hash(sp, text)
  local parts = { text }
  while sp.base do
    sp = sp.base
    parts[#parts + 1] = breed.read_base(sp)
  end
  return host.sha256(table.concat(parts, "\0")):sub(1, 12)
end

local function run_name(opt, sp)
  local p, backend = opt.problems[1], opt.backend
  return string.format("%s-%dx%dx%d-%s-%s-%s-%s-%d%s", sp.name, p.M, p.N, p.K, p.layout, p.dtype,
                       p.acc, opt.mutator or "random", opt.seed or 1,
                       backend == "cuda" and "" or "-" .. backend)
end

-- What the search is: a journal of anything else is refused.
local function head_of(s, sp, text)
  local opt = s.opt
  return {
    { "problem", rank.title(s.problem) }, { "spec", spec_hash(sp, text) },
    { "shipped", shipped_hash() }, { "seed", s.seed }, { "mutator", opt.mutator or "random" },
    { "n", s.n }, { "backend", opt.backend }, { "device", s.device.name },
    { "loom", host.version },
  }
end

-- A search needs times.
local function need_clock(opt)
  opt.backend = opt.backend or "cuda"
  if opt.backend ~= "cpu" then return end
  fail("BACKEND=cpu has no clock, and a search goes by times: BACKEND=cuda where a GPU is, BACKEND=fake to see "
       .. "the loop")
end

local function begin(opt, mutator)
  need_clock(opt)
  local path, sp, problem = space.path(opt.space[1]), space.load(opt.space[1]), opt.problems[1]
  local text, err = host.read(path)
  if not text then fail(err) end
  emit.need_template(sp)
  local bound = space.bind(sp, problem, opt.device)
  if bound:total() == 0 then
    fail(string.format("space '%s': %s", sp.name, breed.why_empty(bound)))
  end
  problem.job = measure.problem_job(problem)
  local run = opt.run or run_name(opt, sp)
  local dir = outdir.path(opt, "search/" .. run)
  -- a new search needs a backend: refused before anything is made; one that is done may do without
  if not host.stat(dir .. "/journal.tsv") then measure.backend(opt) end
  local s = {
    opt = opt, problem = problem, device = opt.device, path = path, run = run, dir = dir,
    seed = opt.seed or 1, n = opt.n or search.n, budget_ms = (opt.budget or search.budget) * 1000,
    ms = 0, timed = 0, timed_ms = 0, prepare_ms = 0, mark = host.now(),
    fixed_ms = opt.backend == "fake" and FAKE_MS or nil,
    rows = {}, known = {}, first = {}, refused = {}, reasons = {}, history = {}, generation = 0,
    root = breed.node(0, nil, text, bound, {}), lineage = lineage.new(dir .. "/lineage.tsv"),
  }
  s.mutator = mutator.new { dir = dir }
  s.journal = journal.open(dir .. "/journal.tsv", head_of(s, sp, text))
  s.note = function(what) note(s, what) end
  s.p = progress.new("search " .. rank.title(problem), s.budget_ms // 1000)
  opt.progress = build_progress(s)
  return s
end

-- ------------------------------------------------------------------------------- report

local function report_winner(s, best)
  host.out("\nhow the best one came about (reward, gain over the parent, edits):\n")
  for _, node in ipairs(lineage.path(best.node)) do
    host.out(string.format("  %s  %.3f  %+.3f  %s\n", lineage.name(node.id), node.born.reward,
                           node.born.gain, lineage.edits(node, "text")))
  end
  host.out(string.format("its spec: %s\nall specs: %s\n", outdir.shown(best.node.path),
                         outdir.shown(s.lineage.path)))
end

local function report_refused(s)
  local total = 0
  for _, reason in ipairs(s.reasons) do total = total + s.reasons[reason] end
  if total == 0 then return end
  host.out(string.format("\nedits refused: %d\n", total))
  for _, reason in ipairs(s.reasons) do
    host.out(string.format("  %4d  %s\n", s.reasons[reason], reason))
  end
end

local function report_failed(s)
  local failed = 0
  for _, row in ipairs(s.rows) do
    if row.status ~= "ok" and row.status ~= "same" then
      failed = failed + 1
      host.out(string.format("%-11s %s: %s\n", row.status, row.key, row.why or ""))
    end
  end
  return failed
end

-- Tables and figures; the exit code: 0 when there is a kernel, and the mutator was not given up.
local function report(s, device, rows)
  device.backend, device.loom = s.opt.backend, host.version
  host.out(rank.device_line(device) .. "\n")
  local best = rank.print(s.problem, rows)
  local failed = report_failed(s)
  if best then report_winner(s, s.known[best.key]) end
  report_refused(s)
  host.out(string.format("\nsearch: %s\ngenerations: %d count\ncandidates: %d count\n", s.run,
                         #s.lineage.nodes, #s.rows))
  host.out(string.format("failed: %d count\nseconds: %.1f s\n", failed, s.ms / 1000))
  local why = s.given_up
  if best then
    host.out(string.format("best_ratio: %.3f x\n", best.ratio))
  elseif not why then
    why = #s.rows > 0 and "no kernel is right" or "BUDGET is spent before a kernel was measured"
  end
  if why then host.err("loom: " .. why .. "\n") end
  return why and 1 or 0
end

local function interrupted(s)
  host.err(string.format("loom: interrupted: %d measurements are in %s; the same command goes on\n",
                         #s.rows, s.journal.shown))
  return 1
end

-- opt: problems (one), space (one), n, seed, budget, run, mutator (its name), and what measure.start
-- reads; `mutator` is the module, with new{dir=} (mutate_random.lua). Returns the exit code.
function search.run(opt, mutator)
  local s = begin(opt, mutator)
  local device = answers.device(s)
  local rows = device and evolve(s) and finals(s)
  s.p:clear()
  answers.close(s, not rows)
  if rows then s.lineage:write(answers.more(s)) end
  local code = rows and report(s, device, rows) or interrupted(s)
  s.journal:close(s.given_up)
  return code
end

return search
