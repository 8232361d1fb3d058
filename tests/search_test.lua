-- Searches, against the fake worker: they climb to a planted optimum, are the same whenever they are
-- interrupted, and survive whatever a mutator or a kernel does.

local device = require "device"
local fail = require "fail"
local journal = require "journal"
local measure = require "measure"
local narrow_kit = require "narrow_kit"
local random = require "mutate_random"
local rng = require "rng"
local search = require "search"
local sh = require "tests_sh"
local space = require "space"

local dir = sh.tmpdir "search"
local narrow = narrow_kit.write(dir, narrow_kit.searched)

local optimum = "optimum=tile_m:128,tile_n:256,schedule:cooperative,consumers:2,stages:4,group_m:8"

-- search.run: exit code, stdout, stderr. `more` overrides its knobs.
local function run(more, mutator)
  local opt = { backend = "fake", device = device.get "h200", space = { narrow }, out = dir,
    problems = { { M = 4096, N = 4096, K = 4096, layout = "tn", dtype = "f16", acc = "f32" } },
    run = "a", seed = 1, budget = 10, timeout = 2, env = { "LOOM_FAKE=" .. optimum } }
  for k, v in pairs(more or {}) do opt[k] = v end
  local out, err, said, errors = host.out, host.err, {}, {}
  host.out = function(text) said[#said + 1] = text end
  host.err = function(text) errors[#errors + 1] = text end
  local ok, code = pcall(search.run, opt, mutator or random)
  host.out, host.err = out, err
  if not ok then error(code, 0) end
  return code, table.concat(said), table.concat(errors)
end

local function refusal(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok, "it is not refused")
  return fail.text(err) or error("an internal fault: " .. tostring(err), 0)
end

local function path(name, file)
  return string.format("%s/search/%s/%s", dir, name, file)
end

local function forget(name)
  sh.remove(dir .. "/search/" .. name)
end

local function lineage_of(name)
  return assert(host.read(path(name, "lineage.tsv")))
end

-- The lineage of an undisturbed run, by its knobs.
local function fresh(name, more, mutator)
  forget(name)
  local opt = { run = name }
  for k, v in pairs(more or {}) do opt[k] = v end
  local code, text = run(opt, mutator)
  assert(code == 0, text)
  return lineage_of(name), text
end

-- ------------------------------------------------------------------------------- parts

local function random_numbers()
  local r = rng.new "any"
  r[1], r[2], r[3], r[4] = 1, 2, 3, 4 -- the published test of xoshiro256**
  for _, want in ipairs { 11520, 0, 1509978240, 1215971899390074240, 1216172134540287360 } do
    assert(r:bits() == want)
  end
  assert(rng.new("x"):bits() == rng.new("x"):bits() and rng.new("x"):bits() ~= rng.new("y"):bits())
  local seen = {}
  for _ = 1, 200 do seen[r:int(6)] = true end
  assert(#seen == 6 and not seen[0] and not seen[7])
end

local head = { { "seed", 1 }, { "spec", "ab" } }

local function journal_lines()
  local file = dir .. "/j/journal.tsv"
  host.remove(file)
  local j = journal.open(file, head)
  local text = "100 %09\ttab\nline\r"
  local back = j:add("time a:b=1,c=2", { { "why", text }, { "ratio", 0.1 }, { "none", nil }, { "ms", 400 } })
  assert(back.why == text and tonumber(back.ratio) == 0.1 and back.ms == "400" and not back.none)
  j:close()
  j = journal.open(file, head)
  assert(j:find("time a:b=1,c=2").why == text and not j:find "other")
  j:close()
  local said = refusal(journal.open, file, { { "seed", 2 }, { "spec", "ab" } })
  assert(said:find("belongs to a search with seed 1, this one has 2: say RUN=name", 1, true), said)
end

local function torn_journal()
  local file = dir .. "/j/torn.tsv"
  host.remove(file)
  local j = journal.open(file, head)
  for i = 1, 3 do j:add("id " .. i, { { "ms", i } }) end
  j:close()
  local whole = host.read(file)
  for _, cut in ipairs { 1, 5, 20 } do -- bytes that the last line lost
    host.write(file, whole:sub(1, -1 - cut))
    j = journal.open(file, head)
    assert(j:find "id 2" and not j:find "id 3")
    j:add("id 3", { { "ms", 3 } })
    j:close()
    assert(host.read(file) == whole)
  end
  host.write(file, (whole:gsub("id 2\tms=2", "id 2\tms=9")))
  local said = refusal(journal.open, file, head)
  assert(said:find("torn.tsv:3: broken line", 1, true), said)
end

local function one_writer()
  local file = dir .. "/j/locked.tsv"
  local j = journal.open(file, head)
  local said = refusal(journal.open, file, head)
  assert(said:find("another process is at work on this search", 1, true), said)
  j:close()
  journal.open(file, head):close()
end

local function statements(sp)
  local out = {}
  for _, st in ipairs(sp.statements) do
    if st.kind == "let" or st.kind == "must" or st.kind == "prefer" or st.kind == "given" then
      out[#out + 1] = string.format("%s %s: %s (%s)", st.kind, st.name or "", tostring(st.expr), st.why or "")
    elseif st.kind == "param" then
      out[#out + 1] = string.format("param %s %s %s %s", st.name, table.concat(st.names, ","), st.when or "", st.doc)
    end
  end
  return table.concat(out, "\n")
end

local function narrow_is_hopper()
  local sp, shipped = space.load(narrow), space.load "hopper"
  assert(statements(sp) == statements(shipped), "rules, lets and parameters are those of spaces/hopper.lua")
  assert(sp.template == shipped.template and sp.arch == shipped.arch and sp.doc == shipped.doc)
  assert(host.read(narrow_kit.path) == narrow_kit.text(), "spaces/hopper.lua has changed: " .. narrow_kit.again)
end

-- ------------------------------------------------------------------------------- whole searches

local function reaches_optimum()
  local rows, text = fresh("top", { budget = 100 })
  -- or next to it: tiles come in steps of 8
  for _, want in ipairs { "tile_m=1%d%d,", "tile_n=2%d%d,", "schedule=cooperative,consumers=2,", "stages=4,", "group_m=8," } do
    assert((text:match "\n +1  FASTER [^\n]*" or ""):find(want), text)
  end
  assert(text:find("how the best one came about", 1, true) and text:find("best_ratio: 1%.[12]%d+ x\n"), text)
  local winner = text:match("its spec: ([^\n]*)")
  local sp = space.load(winner:find("^/") and winner or host.root .. "/" .. winner)
  assert(sp.name == "hopper" and #sp.params == #space.load(narrow).params, "the winning spec loads where it lies")
  local paid = 0
  for line in rows:gmatch("[^\n]+") do
    if line:find("\t%+0%.%d*[1-9]") and line:find "add%-value" then paid = paid + 1 end
  end
  assert(paid >= 3, rows)
end

local function seeds()
  local one, again, two = fresh("s1"), fresh("s2"), fresh("s3", { seed = 2 })
  assert(one == again and one ~= two)
  assert(one:find "^id\tparent\tedits\t" and one:find "\n0000\t%-\t" and one:find "\n0001\t0000\t")
end

local function finished()
  local rows, text = fresh "done"
  local before = host.read(path("done", "journal.tsv"))
  local _, again = run { run = "done" }
  assert(again == text and host.read(path("done", "journal.tsv")) == before and lineage_of "done" == rows)
  run { run = "done", budget = 16 }
  local longer = lineage_of "done"
  assert(#longer > #rows and longer == fresh("longer", { budget = 16 }), "more BUDGET goes on")
end

-- The journal holds more than a smaller BUDGET comes to: the lineage stays as long as it was.
local function smaller_budget()
  local rows = fresh("wide", { budget = 16 })
  local code, text = run { run = "wide", budget = 8 }
  assert(code == 0 and text ~= select(2, run { run = "wide", budget = 16 }), text)
  assert(lineage_of "wide" == rows)
  host.write(path("wide", "lineage.tsv"), "id\tsomething else\n" .. rows)
  run { run = "wide", budget = 8 }
  assert(lineage_of "wide" == fresh("thin", { budget = 8 }), "what does not belong to the journal goes")
end

-- A journal cut anywhere is what a kill leaves behind.
local function killed_anywhere()
  local rows, text = fresh "cut"
  local whole = host.read(path("cut", "journal.tsv"))
  local name = tostring(host.time())
  local r = rng.new(name)
  for _ = 1, 6 do
    local at = r:int(#whole)
    host.write(path("cut", "journal.tsv"), whole:sub(1, at))
    local code, again = run { run = "cut" }
    assert(code == 0 and again == text and lineage_of "cut" == rows,
           string.format("cut at byte %d, drawn from '%s'", at, name))
  end
end

local function other_spec()
  fresh "spec"
  local copy = dir .. "/hopper.lua"
  host.write(copy, host.read(narrow) .. "-- one more line\n")
  local said = refusal(run, { run = "spec", space = { copy } })
  assert(said:find("belongs to a search with spec", 1, true), said)
end

-- The random mutator draws values from the shipped spaces.
local function other_shipped_spaces()
  fresh "shipped"
  local read = host.read
  host.read = function(file)
    local text, err = read(file)
    return text and file:find "/spaces/simt%.lua$" and text .. "-- more\n" or text, err
  end
  local ok, said = pcall(refusal, run, { run = "shipped" })
  host.read = read
  assert(ok and said:find("belongs to a search with shipped %x+, this one has %x+"), said)
end

local function base_travels()
  host.write(dir .. "/family/ground.lua", (host.read(narrow):gsub('space "hopper"', 'space "ground"')))
  host.write(dir .. "/family/child.lua", 'space "child" { format = 1, base = "ground" }\n'
             .. 'param "stages" { 2, 3, doc = "slots" }\n')
  local _, text = fresh("base", { budget = 4, space = { dir .. "/family/child.lua" } })
  local winner = text:match("its spec: ([^\n]*)")
  assert(space.load(winner:find("^/") and winner or host.root .. "/" .. winner).base.name == "ground")
end

-- ------------------------------------------------------------------------------- processes

local function command(name, more)
  local argv = { sh.loom, "search", "SHAPE=4096x4096x4096", "SPACE=" .. narrow, "BACKEND=fake", "DEVICE=h200",
    "BUDGET=20s", "OUT=" .. dir, "RUN=" .. name }
  return { argv = table.move(more or {}, 1, #(more or {}), #argv + 1, argv),
           env = { "LOOM_FAKE=" .. optimum }, stderr = dir .. "/" .. name .. ".err" }
end

-- Reads all a child prints; its exit code and signal.
local function to_end(child)
  while child:recv(60) do end
  return child:close()
end

local function killed_processes()
  local started = host.now()
  local rows = fresh("calm", { budget = 20 })
  local seconds = host.now() - started
  forget "hit"
  local hits = 0
  for _, share in ipairs { 0.1, 0.3, 0.5, 0.8 } do
    local child = host.spawn(command "hit")
    child:recv(share * seconds) -- nothing is printed before the end
    local _, signal = child:kill()
    if signal == 9 then hits = hits + 1 end
  end
  assert(to_end(host.spawn(command "hit")) == 0 and hits > 0)
  assert(lineage_of "hit" == rows, "killed and resumed, the lineage is the same")
end

-- Waits until the file is there.
local function await(file)
  local stop = host.now() + 20
  while not host.stat(file) and host.now() < stop do sh.run { "sleep", "0.02" } end
  assert(host.stat(file), file)
end

local function control_c()
  forget "int"
  host.remove(dir .. "/int.err")
  local child = host.spawn(command("int", { "SEED=3", "N=9" }))
  await(path("int", "0002/hopper.lua"))
  assert(sh.run({ "sh", "-c", "kill -INT " .. child:pid() }).code == 0)
  assert(to_end(child) == 1)
  local said = host.read(dir .. "/int.err")
  assert(said:find("loom: interrupted: %d+ measurements are in .*; the same command goes on\n"), said)
  assert(to_end(host.spawn(command("int", { "SEED=3", "N=9" }))) == 0)
  assert(lineage_of "int" == fresh("int2", { seed = 3, n = 9, budget = 20 }))
end

local function two_at_once()
  local rows = fresh("alone", { budget = 20 })
  forget "left"
  forget "right"
  local left, right = host.spawn(command "left"), host.spawn(command "right")
  await(path("left", "0001/hopper.lua"))
  local second = sh.run(command("left").argv, { env = command("left").env })
  assert(second.code == 1 and second.output:find("another process is at work on this search", 1, true), second.output)
  assert(to_end(left) == 0 and to_end(right) == 0)
  assert(lineage_of "left" == rows and lineage_of "right" == rows)
end

-- ------------------------------------------------------------------------------- what goes wrong

-- A mutator that says `edits` ({kind, param, values...}) each time, by ask and read.
local function scripted(edits)
  local m = { asked = 0 }
  function m.new() return m end
  function m:ask()
    self.asked = self.asked + 1
    return { "line\t" .. self.asked, "" , "more" }
  end
  function m.read(_, lines)
    assert(lines[1]:find "^line\t%d+$" and lines[#lines] == "more")
    local out = {}
    for i, e in ipairs(edits) do
      out[i] = { op = { kind = e[1], param = e[2], values = { table.unpack(e, 3) } }, name = "n" .. i }
    end
    return out, { { text = "garbage", reason = "no edit at all" } }
  end
  return m
end

local function bad_edits()
  local m = scripted { { "add-value", "tile_q", 1 }, { "remove-value", "tile_m", 128 }, { "add-value", "stages", 4 },
    { "add-value", "stages", 5, 5 } }
  local rows, text = fresh("bad", nil, m)
  assert(rows:find "\n0001\t0000\tadd%-value stages 4\tn1?3?", rows)
  for _, want in ipairs { "edits refused: ", "no edit at all", "no param ..", "one value must stay", "given twice" } do
    assert(text:find(want, 1, true), text)
  end
  local asked = m.asked
  run({ run = "bad" }, m)
  assert(m.asked == asked and asked > 1, "a replay asks nobody")
end

-- However many values are refused for one reason, it is one line.
local function counted_by_reason()
  local m = scripted { { "remove-value", "stages", 7 }, { "remove-value", "tile_m", 9 }, { "pin", "tile_q", 1 },
    { "pin", "stagess", 1 }, { "remove-value", "warps", { "pingpong", 9 } }, { "add-value", "stages", 4 },
    { "remove-value", "stages", 8 } }
  local read = m.read
  function m.read(self, lines)
    local edits, rejects = read(self, lines)
    for i, detail in ipairs { "I'd rather not", "it's 'bad': no" } do
      rejects[i + 1] = { text = "", reason = "no JSON", detail = detail }
    end
    return edits, rejects
  end
  local _, text = fresh("reasons", nil, m)
  local list = text:match "edits refused: %d+\n(.-)\n\n"
  local _, count = list:gsub("\n", "")
  assert(count + 1 == 5 and list:find "has no value ..; it has ..\n" and list:find "no JSON\n", list)
end

-- A language model that fails from its second call on; `works`: not any more.
local function failing(edits)
  local m = scripted(edits)
  local ask = m.ask
  m.failures = 0
  function m.ask(self)
    local lines = ask(self)
    if self.works or self.asked == 1 then
      self.failures = 0
      return lines
    end
    self.failures = self.failures + 1
    if self.failures == 5 then return nil, "the model says nothing" end
    return { "line\t0", "more" }, "nothing"
  end
  return m
end

local function given_up()
  local edits = { { "add-value", "stages", 4 }, { "add-value", "tile_n", 256 } }
  local m = failing(edits)
  forget "silent"
  local code, text, said = run({ run = "silent", budget = 60 }, m)
  assert(code == 1 and said == "loom: the model says nothing\n" and m.asked == 6, said)
  assert(text:find "\nbest_ratio: " and text:find "how the best one came about", text)
  assert(lineage_of "silent":find "\n0001\t")
  local _, asks = host.read(path("silent", "journal.tsv")):gsub("\nask ", "")
  assert(asks == 1, "no failure of the streak is journaled")
  m = failing(edits)
  m.works = true
  code, text, said = run({ run = "silent", budget = 60 }, m)
  assert(code == 0 and said == "" and m.asked > 1, text .. said)
end

local function hopeless_edits()
  local rows, text = fresh("hopeless", { n = 1 }, scripted { { "set-domain", "tile_m", 96 } })
  assert(rows:find "\n0001\t0000\t%-\t", rows)
  assert(text:find("no point is left: without rule .. there would be points", 1, true), text)
end

local function no_such_kernel()
  local m = scripted { { "add-value", "warps", { "cooperative", 8 } } } -- 1152 threads
  local loose, count = host.read(narrow):gsub('must "roles" {.-" }\n', "", 1)
  assert(count == 1)
  loose = loose:gsub('(param "tile_m" +{ )128', "%1512"):gsub('(param "warps" +{ {"cooperative", )1', "%14")
  host.write(dir .. "/loose/hopper.lua", loose)
  local _, text = fresh("beyond", { space = { dir .. "/loose/hopper.lua" } }, m)
  assert(text:find("\nrender +hopper:[^\n]*consumers=8[^\n]*: templates/wgmma.cu:%d+: [^\n]*\n"), text)
  assert(text:find "\nfailed: [1-9]")
end

local function kernel_faults()
  local rows = fresh "well"
  local hashes = {}
  for line in host.read(path("well", "journal.tsv")):gmatch("[^\n]+") do
    local key = line:match("^time ([^\t]+)")
    if key then hashes[#hashes + 1] = host.sha256(key):sub(1, 12) end
  end
  local faults = string.format("%s,crash=%s,wrong=%s,refused=%s,hang=%s", optimum, hashes[1], hashes[3], hashes[5],
    hashes[4])
  forget "ill"
  local code, text = run { run = "ill", env = { "LOOM_FAKE=" .. faults }, timeout = 1 }
  assert(code == 0 and rows ~= lineage_of "ill")
  assert(text:find "\ncrash +hopper:" and text:find "failed: [1-4] count", text)
  assert(text == select(2, run { run = "ill", env = { "LOOM_FAKE=" .. faults } }), "failures are remembered too")
end

local function no_time()
  forget "short"
  local code, _, said = run { run = "short", budget = 1 }
  assert(code == 0 or said:find("BUDGET is spent before a kernel was measured", 1, true), said)
end

local function empty_space()
  local problem = { M = 4097, N = 4096, K = 4096, layout = "tn", dtype = "f16", acc = "f32" }
  local said = refusal(run, { run = "empty", problems = { problem } })
  assert(said == "space 'hopper': no point is left: without rule 'eights' there would be points", said)
end

-- Nothing is made where a search cannot be.
local function no_backend()
  local present = measure.gpu_present
  measure.gpu_present = function() return false end
  local ok, said = pcall(refusal, run, { run = "nowhere", backend = "cuda" })
  measure.gpu_present = present
  assert(ok and said:find("no GPU here", 1, true), said)
  said = refusal(run, { run = "nowhere", backend = "cpu" })
  assert(said:find("BACKEND=cpu has no clock", 1, true) and not host.stat(dir .. "/search/nowhere"), said)
end

-- BACKEND=cuda, with tests/fake-nvcc and the fake worker in a script.
local function cuda(words, more)
  local worker = dir .. "/worker.sh"
  host.write(worker, "#!/bin/sh\nexec '" .. host.exe .. "' fake-worker\n")
  assert(sh.run({ "chmod", "+x", worker }).code == 0)
  local present = measure.gpu_present
  measure.gpu_present = function() return not more or more.gpu ~= false end
  local opt = { run = "cuda", backend = "cuda", worker = worker, nvcc = host.root .. "/tests/fake-nvcc", timeout = 20,
    budget = 600, env = { "LOOM_FAKE=" .. optimum, "LOOM_FAKE_NVCC=" .. words } }
  for k, v in pairs(more or {}) do opt[k] = v end
  local ok, code, text = pcall(run, opt, opt.mutator)
  measure.gpu_present = present
  if not ok then error(code, 0) end
  return code, text
end

-- Proposes nothing: the search ends when its only space is measured.
local quiet = { new = function() return { propose = function() return {} end } end }

local function cuda_twins()
  forget "cuda"
  local twins = host.read(narrow):gsub("range = {2, 3}", "3", 1):gsub('(param "group_m" { 1)', "%1, 8")
  host.write(dir .. "/twins/hopper.lua", twins)
  local more = { mutator = quiet, space = { dir .. "/twins/hopper.lua" } }
  local code, text = cuda("same", more)
  assert(code == 0 and text:find "candidates: 2 count" and text:find "failed: 0 count", text)
  assert(text:find "\ngenerations: 1 count", "nothing is left to measure")
  local log = host.read(path("cuda", "journal.tsv"))
  assert(log:find("status=same\twhy=equals hopper:", 1, true), log)
  assert(text == select(2, cuda("same", more)))
  more.gpu = false
  assert(text == select(2, cuda("same", more)), "a finished search needs no GPU to be read")
end

local function cuda_failures()
  local code, text = cuda("fail=^//", { mutator = quiet, out = dir .. "/failing" })
  assert(code == 1 and text:find "\nbuild +hopper:" and text:find "failed: 2 count", text)
end

local function usage(more, want)
  local argv = { sh.loom, "search", "SHAPE=512x512x512", "BACKEND=fake", "OUT=" .. dir }
  local result = sh.run(table.move(more, 1, #more, #argv + 1, argv))
  assert(result.code == 2 and result.output:find(want, 1, true), result.output)
end

return {
  { name = "random numbers are xoshiro256**'s and depend on their name", run = random_numbers },
  { name = "a journal's lines come back as they were, another search's journal is refused", run = journal_lines },
  { name = "a torn last line is cut off, a broken one in the middle is refused with its number", run = torn_journal },
  { name = "a journal has one writer", run = one_writer },
  { name = "tests/gpu/narrow is spaces/hopper.lua with less choice", run = narrow_is_hopper },
  { name = "from a poor spec the random mutator reaches the planted optimum", run = reaches_optimum },
  { name = "the same seed gives the same lineage, another seed another", run = seeds },
  { name = "a finished search measures nothing again, more BUDGET goes on", run = finished },
  { name = "a smaller BUDGET leaves the longer lineage", run = smaller_budget },
  { name = "a search killed anywhere ends with the same lineage", run = killed_anywhere },
  { name = "kill -9 of the process: the same command goes on to the same lineage", run = killed_processes },
  { name = "Ctrl-C ends a search with one line, the same command goes on", run = control_c },
  { name = "two searches at once do not meet, two on the same run are refused", run = two_at_once },
  { name = "a run of another spec's text is refused", run = other_spec },
  { name = "a run of other shipped spaces is refused", run = other_shipped_spaces },
  { name = "a child's base travels with it", run = base_travels },
  { name = "edits that do not parse, apply or fit are counted and never fatal", run = bad_edits },
  { name = "refused edits are counted by their reason", run = counted_by_reason },
  { name = "a mutator that is given up ends a search with its figures, the next one asks afresh", run = given_up },
  { name = "edits that leave no point measure the parent further", run = hopeless_edits },
  { name = "a value no template can render is a failed candidate", run = no_such_kernel },
  { name = "kernels that crash, hang or are wrong are failures of a search that goes on", run = kernel_faults },
  { name = "a BUDGET that is too short says so", run = no_time },
  { name = "a space without a point for the problem is refused", run = empty_space },
  { name = "a BACKEND that cannot time is refused before anything is made", run = no_backend },
  { name = "BACKEND=cuda: equal cubins count once, the search ends when nothing is left", run = cuda_twins },
  { name = "BACKEND=cuda: kernels that do not compile are failures", run = cuda_failures },
  { name = "a search wants one problem and one space", run = function()
    usage({ "LAYOUT=nn,tn" }, "a search wants one problem: SHAPE=MxNxK and one LAYOUT")
    usage({ "SPACE=mma,simt" }, "a search wants one space")
  end },
}
