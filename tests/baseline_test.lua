-- The verb `baseline` against the fake worker: what it stores, that calls go on where another one ended, what is
-- refused; and what is made of the rows: the fastest option, the table, its figures.

local baselines = require "baselines"
local bench_kit = require "bench_kit"
local device = require "device"
local fake_baseline = require "fake_baseline"
local kit = require "store_kit"
local sh = require "tests_sh"
local store = require "store"
local verb = require "verbs_baseline"

local dir
local has, loom = kit.has, kit.loom

local function fresh()
  dir = sh.tmpdir "baseline"
end

local function shapes(...)
  local list = {}
  for i, m in ipairs { ... } do list[i] = { m, 256, 128 } end
  return list
end

-- The verb with the fake worker: exit code, stdout, stderr.
local function run(more, faults)
  local opt = { backend = "fake", device = device.get "h200", shapes = shapes(512, 256, 1024), out = dir, given = {},
                layout = { "nn", "tn" }, dtype = "f16", acc = "f32" }
  return bench_kit.run(verb.baseline, opt, more, faults)
end

local function sql(text) return bench_kit.sql(dir, text) end

local function change(text) bench_kit.change(dir, text) end

local function count(where)
  return sql("SELECT count(*) AS n FROM rows WHERE " .. (where or "true"))[1].n
end

-- The rows as a text, without what differs from call to call.
local function contents()
  local list = {}
  local text = "SELECT m, n, k, key, layout, option, status, why, us, best_nv_algo, place, found, blocks FROM rows "
               .. "ORDER BY m, n, k, key"
  for i, row in ipairs(sql(text)) do
    list[i] = string.format("%d %d %d %s %s %s %s %s %s %s %s %s %s", row.m, row.n, row.k, row.key, row.layout,
                            tostring(row.option), row.status, tostring(row.why), tostring(row.us),
                            tostring(row.best_nv_algo), tostring(row.place), tostring(row.found), tostring(row.blocks))
  end
  return table.concat(list, "\n")
end

-- ------------------------------------------------------------------------------- rows

local function rows()
  fresh()
  local code, said = run { options = { "lt", "autotune", "exhaustive" }, sweep = 5 }
  assert(code == 0, said)
  assert(count() == 3 * 10 and count "backend = 'nvidia' AND nvcc = 'none' AND pass = 1 AND device = 'fake'" == 30)
  local p = { M = 512, N = 256, K = 128, dtype = "f16", acc = "f32" }
  local times = fake_baseline.times(p, "tn")
  local row = sql("SELECT * FROM rows WHERE m = 512 AND option = 'lt_best' AND layout = 'tn'")[1]
  assert(row.key == "nvidia:option=lt_best,layout=tn" and math.abs(row.us / times.lt_best - 1) < 1e-5)
  assert(row.found == "answers=8 looked=8 failed=0" and row.place == 3 and row.best_nv_algo:find("^id=66 tile="))
  assert(row.blocks == 4 and row.clock_mhz == 1755 and row.uuid == "fake" and row.seed == 1)
  for _, name in ipairs { "throttle", "throttled", "starved", "unsteady", "cublas_math", "best_nv", "ratio", "ms" } do
    assert(row[name] == nil, name .. " takes room")
  end
  row = sql("SELECT * FROM rows WHERE m = 512 AND option = 'lt_exhaustive' AND layout = 'nn'")[1]
  assert(row.found == "checked=5000 accepted=900 raced=900 whole=1", row.found)
  assert(count "option = 'gemmex' AND layout = 'nn' AND ms > 0" == 3 and count "ms IS NOT NULL" == 3)
  assert(count "status = 'refused'" == count "why LIKE 'tunes again in every call%' AND us IS NULL")
  local verified, text = loom("store", "verify", "OUT=" .. dir)
  assert(verified == 0, text)
end

-- A job that says nothing of an option, or something odd of it.
local function poor_answers()
  local worker = dir .. "/worker"
  local function answering(text)
    fresh()
    worker = dir .. "/worker"
    host.write(worker, "#!/bin/sh\nprintf 'ready\\tworker=1\\tdevice=fake\\tarch=sm_90\\tdriver=0\\tcuda=0\\tcublas=0"
               .. "\\tuuid=u\\n'\nwhile read -r line; do printf '" .. text .. "\\n'; done\n")
    assert(kit.shell('chmod +x "$1"', worker) == 0)
    return run { shapes = shapes(512), worker = worker }
  end
  local code, said, notes = answering "ok\\tgemmex_nn_us=5\\tgemmex_tn_us=6\\tlt_first_nn_us=4"
  assert(code == 0, notes)
  has(said, "geomean_lt_first: 1.2500 x", "geomean_best_nv: 1.2500 x")
  has(notes, "refused at 1 problem: lt_best: the library has no algorithm for it")
  assert(count "status = 'refused'" == 3)
  for _, text in ipairs { "ok", "ok\\tgemmex_nn_us=0\\tgemmex_tn_us=nan", "ok\\tlt_best_nn_us=5" } do
    code, said, notes = answering(text)
    assert(code == 1 and count() == 1, said)
    has(notes, "error 512x256x128: the worker's answer has no time of cublasGemmEx")
  end
end

-- ------------------------------------------------------------------------------- going on

local GOES_ON = "(%d+) of (%d+) problems done; the same command goes on\n$"

local function table_of(said)
  return said:gsub("jobs: .*", "")
end

local function pieces()
  fresh()
  local _, first = run()
  local whole = contents()
  assert(count() == 18 and count "run = 1" == 18)
  fresh()
  for call = 1, 3 do
    local code, said, notes = run { budget = 0 }
    assert(code == 0 and count() == 6 * call, notes)
    assert((said:find(GOES_ON) ~= nil) == (call < 3), said)
    has(said, "jobs: 1 count")
    if call == 3 then assert(table_of(said) == table_of(first), said) end
  end
  assert(contents() == whole)
  local order = sql "SELECT DISTINCT m FROM rows ORDER BY rowid"
  assert(order[1].m == 256 and order[3].m == 1024, "small buffers first")
end

local function nothing_twice()
  fresh()
  local _, first = run()
  local code, said, notes = run()
  assert(code == 0 and count() == 18 and table_of(said) == table_of(first))
  has(said, "jobs: 0 count")
  has(notes, "note: 3 of 3 problems are done already; FRESH=1 measures them again")
  run { shapes = shapes(512, 256, 1024, 2048) }
  assert(count() == 24, "a longer file costs what is new in it")
  run { options = { "gemmex" } }
  assert(count() == 24, "what has more options has these")
  run { options = { "autotune", "lt" } }
  assert(count() == 24 + 3 * 8, "more options are a new job")
  run { dtype = "bf16" }
  assert(count() == 24 + 3 * 8 + 18)
  run { fresh = true }
  assert(count() == 24 + 3 * 8 + 18 + 18)
  code, said = run { fresh = true, budget = 0 }
  assert(code == 0)
  has(said, "1 of 3 problems done; the same command without FRESH=1 goes on")
end

-- Rows of another GPU, driver, toolkit or library are nobody's here, and stay out of the table.
local function ones_own()
  for _, column in ipairs(baselines.same) do
    fresh()
    run()
    change(string.format("UPDATE rows SET %s = 'other', us = us * 0.5 WHERE option = 'lt_best'", column))
    change(string.format("UPDATE rows SET %s = 'other' WHERE option <> 'lt_best'", column))
    local code, said = run()
    assert(code == 0 and count() == 36, column)
    has(said, "problems: 3 count", "jobs: 3 count")
    assert(not said:find "geomean_lt_best: 2", said)
  end
end

local function killed()
  fresh()
  local file = dir .. "/shapes.txt"
  local lines = {}
  for i = 1, 150 do lines[i] = 64 * i .. "x64x64" end
  host.write(file, table.concat(lines, "\n") .. "\n")
  local argv = { sh.loom, "baseline", "BACKEND=fake", "DEVICE=h200", "OUT=" .. dir, "SHAPES=" .. file }
  sh.run { "timeout", "-s", "KILL", "0.3", table.unpack(argv) }
  local stopped = sh.run { "timeout", "-s", "INT", "0.3", table.unpack(argv) }
  assert(stopped.code ~= 0 or stopped.output:find("problems: 150 count", 1, true), stopped.output)
  local ended = sh.run(argv)
  assert(ended.code == 0, ended.output)
  has(ended.output, "problems: 150 count")
  assert(count() == 150 * 6 and #sql "SELECT 1 FROM rows GROUP BY m, key HAVING count(*) > 1" == 0, "measured twice")
end

-- ------------------------------------------------------------------------------- samples

local function names(n, seed)
  fresh()
  run { shapes = shapes(64, 128, 192, 256, 320, 384, 448, 512, 576, 640), n = n, seed = seed, options = { "gemmex" } }
  local list = {}
  for i, row in ipairs(sql "SELECT DISTINCT m FROM rows ORDER BY m") do list[i] = row.m end
  return table.concat(list, " ")
end

local function samples()
  local four = names(4, 1)
  assert(four == names(4) and four ~= names(4, 2), "SEED=1 is the default, and another seed is another sample")
  local seven = " " .. names(7) .. " "
  for m in four:gmatch("%d+") do assert(seven:find(" " .. m .. " ", 1, true), "a larger sample holds the smaller") end
  assert(select(2, seven:gsub("%d+", "")) == 7 and select(2, names(99):gsub("%d+", "")) == 10)
end

-- ------------------------------------------------------------------------------- trouble

local function crashes()
  fresh()
  local code, _, notes = run(nil, "baseline=crash:512x256x128,once=" .. dir .. "/once")
  assert(code == 0 and count() == 18, notes) -- a fresh worker does it
  fresh()
  local said
  code, said, notes = run(nil, "baseline=crash:512x256x128")
  assert(code == 1 and count() == 13, said)
  has(notes, "crash 512x256x128: the worker exited with 3", "loom: 1 problem failed; FRESH=1 tries again")
  has(said, "problems: 2 count", "problems_failed: 1 count")
  local row = sql("SELECT * FROM rows WHERE m = 512")[1]
  assert(row.status == "crash" and not row.option and row.key == "nvidia:options=gemmex,lt" and row.us == nil)
  code = run()
  assert(code == 1 and count() == 13, "a problem that failed is done")
  run { options = { "autotune", "lt" } }
  assert(count "m = 512" == 1, "with more options it would fail as well")
  code = run { options = { "gemmex" } }
  assert(code == 0 and count "m = 512" == 3, "with fewer it may not")
  code, said = run { fresh = true }
  assert(code == 0 and count "m = 512" == 9, "FRESH=1 tries again")
  has(said, "problems_failed: 0 count")
  code = run()
  assert(code == 0)
  code, said, notes = run({ fresh = true }, "baseline=crash:512x256x128")
  assert(code == 1, "what fails now is told, though there are older figures")
  has(said, "problems: 3 count")
  has(notes, "crash 512x256x128: the worker exited with 3", "loom: 1 problem failed; FRESH=1 tries again")
end

local function hangs()
  fresh()
  local limit = verb.limit
  verb.limit = 0.3
  local ok, code, _, notes = pcall(run, nil, "baseline=hang:256x256x128")
  verb.limit = limit
  assert(ok and code == 1 and count "status = 'hang'" == 1 and count() == 13, tostring(code))
  has(notes, "hang 256x256x128: no answer in 0.3 s")
  local verified, text = loom("store", "verify", "OUT=" .. dir)
  assert(verified == 0, text)
  has(text, "in_flight: 0 count")
end

-- What took loom, or the machine, down three times is not started again.
local function given_up()
  fresh()
  run { shapes = shapes(64) }
  local st = store.open(dir .. "/store.db")
  local flight = st:latest({ M = 64, N = 256, K = 128, layout = "nn", dtype = "f16", acc = "f32" },
                           { backend = "nvidia" })[1]
  flight.m, flight.key, flight.option = 512, "nvidia:options=gemmex,lt", nil
  for _ = 1, 3 do
    flight.run = st:new_run()
    st:start(flight)
  end
  st:close()
  local code, _, notes = run()
  assert(code == 1 and count "m = 512" == 1, notes)
  has(notes, "quarantined 512x256x128: loom ended 3 times while it was measured")
end

local function wrong_words()
  fresh()
  for _, case in ipairs {
    { "OPTIONS 'fast' is none of gemmex, lt, autotune, exhaustive", "OPTIONS=fast", "SHAPE=64x64x64" },
    { "OPTIONS 'lt,lt' has 'lt' twice", "OPTIONS=lt,lt", "SHAPE=64x64x64" },
    { "does not read the knob 'LAYOUT'", "LAYOUT=nn", "SHAPE=64x64x64" },
    { "SWEEP is for OPTIONS=exhaustive", "SWEEP=5s", "SHAPE=64x64x64" },
    { "SWEEP is above 600s", "SWEEP=11m", "OPTIONS=exhaustive", "SHAPE=64x64x64" },
    { "SEED is of the sample that N=... takes", "SEED=5", "SHAPE=64x64x64" },
    { "BACKEND=cpu has none of NVIDIA's libraries", "BACKEND=cpu", "SHAPE=64x64x64" },
    { "OPTIONS is for measuring, which wants SHAPE=MxNxK or SHAPES=file", "OPTIONS=lt" },
    { "bf16 with f16 accumulation does not exist", "DTYPE=bf16", "ACC=f16", "SHAPE=64x64x64" },
  } do
    local words = { "baseline", "OUT=" .. dir, "DEVICE=h200", table.unpack(case, 2) }
    local code, said = loom(table.unpack(words))
    assert(code == 2, said)
    has(said, case[1])
    assert(not host.stat(dir .. "/store.db"))
  end
  local code, said
  if not require("measure").gpu_present() then
    code, said = loom("baseline", "OUT=" .. dir, "DEVICE=h200", "SHAPE=64x64x64")
    assert(code == 1, said)
    has(said, "no GPU here: baseline times NVIDIA's libraries on one")
  end
  code, said = loom("baseline", "OUT=" .. dir, "DEVICE=h200")
  assert(code == 1, said)
  has(said, "no store at '")
  store.open(dir .. "/store.db"):close()
  code, said = loom("baseline", "OUT=" .. dir, "DEVICE=h200")
  assert(code == 1, said)
  has(said, "no rows of NVIDIA's libraries for f16 acc f32 in '", "run `make baseline SHAPES=file` first")
end

-- ------------------------------------------------------------------------------- what is made of the rows

-- A store with the given jobs {size m, {option = {nn us, tn us}}, more columns}, each a run of its own.
local function jobs(list)
  kit.remove(dir .. "/jobs.db")
  local st = store.open(dir .. "/jobs.db")
  for _, job in ipairs(list) do
    local run_ = st:new_run()
    for _, option in ipairs(baselines.options) do
      for i, us in ipairs(job[2][option] or {}) do
        local row = kit.row(run_, "nvidia:option=" .. option, 0.9, job[3])
        row.m, row.option, row.layout, row.backend = job[1], option, i == 1 and "nn" or "tn", "nvidia"
        row.us, row.status = us or nil, us and "ok" or "refused"
        row.why = not us and "planted (it never ends)" or nil
        st:add(row)
      end
    end
  end
  st.db:exec "UPDATE rows SET time = time + run * 10"
  return st
end

local function at(m)
  return { M = m, N = 256, K = 128, dtype = "f16", acc = "f32" }
end

local function fastest()
  fresh()
  local st = jobs {
    { 64, { gemmex = { 10.0, 9.0 }, lt_first = { 9.0, 9.5 }, lt_best = { 9.0, 9.5 } } },
    { 128, { gemmex = { 10.0, 12.0 }, lt_best = { 9.0, 8.0 } } },
    { 128, { gemmex = { 20.0, 24.0 }, lt_exhaustive = { 15.0, 17.0 } } }, -- another day, at half the clock
    { 256, { gemmex = { 10.0, 9.0 }, autotune = { false, 8.0 }, lt_best = { false, false } } },
    { 512, { gemmex = { 10.0, 10.0 }, lt_best = { 5.0, 6.0 } }, { uuid = "GPU-2" } },
    { 512, { gemmex = { 8.0, 10.0 }, lt_best = { 7.0, 6.4 } } },
  }
  local row, ratio = baselines.best(st, at(64))
  assert(row.option == "gemmex" and row.layout == "tn" and ratio == 1.0, "of equals the plainest, in the faster layout")
  row, ratio = baselines.best(st, at(128))
  assert(row.option == "lt_exhaustive" and row.us == 15.0 and math.abs(ratio - 20 / 15) < 1e-12,
         "times of two jobs are compared by what cublasGemmEx took in each")
  row = baselines.best(st, at(256))
  assert(row.option == "autotune" and row.layout == "tn", "an option that one layout refuses has the other")
  row = baselines.best(st, at(512))
  assert(row.uuid == "GPU-1" and row.us == 6.4, "the newest row's GPU, where none is named")
  row = baselines.best(st, at(512), { uuid = "GPU-2" })
  assert(row.us == 5.0 and row.layout == "nn")
  assert(baselines.best(st, at(512), { uuid = "GPU-3" }) == nil and baselines.best(st, at(1024)) == nil)
  assert(baselines.best(st, { M = 64, N = 256, K = 128, dtype = "bf16", acc = "f32" }) == nil)
  st:close()
end

local function figures()
  fresh()
  local st = jobs {
    { 64, { gemmex = { 8.0, 9.0 }, lt_best = { 4.0, 5.0 } } }, -- 2 x
    { 1 << 15, { gemmex = { 80.0, 90.0 }, lt_best = { 160.0, 170.0 }, autotune = { false, false } } }, -- 0.5 x
    { 1 << 21, { gemmex = { 90.0, 80.0 }, lt_best = { 20.0, 30.0 } } }, -- 4 x
  }
  st:close()
  local code, said, notes = run { shapes = false, backend = false, store = dir .. "/jobs.db" }
  assert(code == 0 and not said:find "jobs: ", said)
  has(said, "problems: 3 count", "best_at_gemmex: 1 count", "best_at_lt_best: 2 count", "geomean_gemmex: 1.0000 x",
      "geomean_lt_best: 1.5874 x", "geomean_best_nv: 2.0000 x", "total_gemmex: 0.168 ms", "total_best_nv: 0.104 ms")
  has(notes, "refused at 1 problem: autotune: planted\n")
  for _, line in ipairs {
    "under 2%^30 +lt_best +1 +2%.000 +2%.000 +1%.000 +1 +0\n", "2%^30 to 2%^33 +autotune +0 +%- +%- +%- +0 +1\n",
    "2%^30 to 2%^33 +lt_best +1 +0%.500 +0%.500 +2%.000 +0 +0\n", "2%^36 and more +gemmex +1 +1%.000 +1%.000 +4%.000 ",
    "\nall +lt_best +3 +1%.587 +0%.913 +1%.260 +2 +0\n", "\nall +best_nv +3 +2%.000 +1%.615 +1%.000 +%- +0\n",
  } do
    assert(said:find(line), line .. " is not in\n" .. said)
  end
  assert(not said:find("2^33 to 2^36", 1, true), "a class without problems has no lines")
end

-- Two machines' stores joined in either order; the table is of the one that was measured last.
local function merged()
  fresh()
  local parts = {}
  for i, name in ipairs { "one", "two" } do
    run { shapes = shapes(table.unpack({ 256, 512, 1024 }, 1, i + 1)), store = dir .. "/" .. name .. ".db" }
    if i == 2 then
      local st = store.open(dir .. "/two.db")
      local again = st.db:rows("SELECT * FROM rows", {})
      st.db:exec "DELETE FROM rows"
      for _, row in ipairs(again) do
        row.uuid = "GPU-2"
        st:add(row)
      end
      st:close()
    end
    parts[i] = dir .. "/" .. name .. ".db"
  end
  for i, order in ipairs { { 1, 2 }, { 2, 1 } } do
    local code, said = loom("store", "merge", parts[order[1]], parts[order[2]], "STORE=" .. dir .. "/" .. i .. ".db")
    assert(code == 0, said)
    loom("store", "export", dir .. "/" .. i .. ".gz", "BACKEND=nvidia", "STORE=" .. dir .. "/" .. i .. ".db")
  end
  assert(kit.read(dir .. "/1.gz") == kit.read(dir .. "/2.gz") and #kit.lines(dir .. "/1.gz") == 1 + 12 + 18)
  local before = store.open(dir .. "/1.db")
  before.db:exec "UPDATE rows SET time = time + 100 WHERE uuid = 'GPU-2'"
  before:close()
  local code, said, notes = run { shapes = false, backend = false, store = dir .. "/1.db" }
  assert(code == 0, said)
  has(said, "problems: 3 count")
  has(notes, "note: 12 rows of other GPUs or versions are left out")
  code, said = run { store = dir .. "/1.db" }
  assert(code == 0)
  has(said, "jobs: 1 count", "problems: 3 count") -- of this GPU one problem is new
end

return {
  { name = "a problem's rows: options, layouts, counts, and nothing that says nothing", run = rows },
  { name = "options that an answer lacks are refused, an answer without cublasGemmEx failed", run = poor_answers },
  { name = "BUDGET ends a call after a problem, and calls that go on give the whole", run = pieces },
  { name = "nothing is measured twice, unless FRESH=1 or with more options", run = nothing_twice },
  { name = "another GPU, driver or library is measured again", run = ones_own },
  { name = "a call that was killed or interrupted goes on", run = killed },
  { name = "a sample depends on its seed alone, a larger one holds a smaller", run = samples },
  { name = "a problem that stops its worker has one row that says why", run = crashes },
  { name = "a job that hangs is given up", run = hangs },
  { name = "what loom did not survive three times is not measured again", run = given_up },
  { name = "what baseline cannot do is said in one line", run = wrong_words },
  { name = "the fastest option, by its own job's cublasGemmEx", run = fastest },
  { name = "the table's classes and figures", run = figures },
  { name = "two stores that are merged, in any order", run = merged },
}
