-- Campaigns against the fake worker: a call that BUDGET ends at any place, and the same call again, leave
-- the store and the tables that one undisturbed call leaves.

local bench_kit = require "bench_kit"
local campaign = require "campaign"
local device = require "device"
local kit = require "cpu_kit"
local knobs = require "knobs"
local picks = require "picks"
local sh = require "tests_sh"

local dir = sh.tmpdir "campaign"

local problems = bench_kit.problems

local function fresh()
  dir = sh.tmpdir "campaign"
end

-- campaign.run with the fake worker: exit code, stdout, stderr.
local function run(more, faults)
  local opt = { backend = "fake", device = device.get "h200", problems = problems(256, 512), n = 3, out = dir, given = {},
                space = { "simt" }, timeout = 5, processes = 2 }
  return bench_kit.run(campaign.run, opt, more, faults)
end

local function sql(text) return bench_kit.sql(dir, text) end

local function change(text) bench_kit.change(dir, text) end

local function count()
  return sql("SELECT count(*) AS n FROM rows")[1].n
end

-- Rows that something was launched for.
local function launched()
  return sql("SELECT count(*) AS n FROM rows WHERE pass < 4")[1].n
end

-- The rows as a text, without what differs from call to call.
local function contents()
  local list = {}
  local names = { "m", "key", "pass", "process", "status", "why", "us", "ratio", "ratio_lo", "blocks", "cubin", "verdict" }
  for _, row in ipairs(sql("SELECT * FROM rows ORDER BY m, pass, process, key")) do
    local parts = {}
    for i, name in ipairs(names) do parts[i] = tostring(row[name]) end
    list[#list + 1] = table.concat(parts, " ")
  end
  return table.concat(list, "\n")
end

local GOES_ON = "(%d+) of (%d+) problems done; the same command goes on\n$"

-- Calls with a BUDGET that is spent at once, until all is done: the last exit code and output.
local function in_pieces(more, faults)
  local opt, before = { budget = 0 }, nil
  for name, value in pairs(more or {}) do opt[name] = value end
  for call = 1, 120 do
    local code, said, notes = run(opt, faults)
    local now = launched()
    if not said:find(GOES_ON) then return code, said, call end
    assert(code == 0 and now == (before or 0) + 1, "a call measures one kernel: " .. notes)
    before = now
  end
  error("it does not end")
end

-- ------------------------------------------------------------------------------- going on

local function pieces()
  fresh()
  local _, first = run()
  local whole, rows = contents(), launched()
  local key = sql("SELECT hash FROM rows GROUP BY hash HAVING count(DISTINCT m) = 2 LIMIT 1")[1].hash
  fresh()
  local code, said, calls = in_pieces()
  assert(code == 0 and contents() == whole and calls >= rows - 1, calls)
  assert(said == first, said)
  for _, r in ipairs(sql("SELECT count(DISTINCT run) AS n FROM rows GROUP BY m")) do
    assert(r.n == 1, "the rows of a problem are of one run")
  end
  fresh() -- the same with heats
  local heats = { n = 6, problems = problems(256) }
  _, first = run(heats)
  whole = contents()
  fresh()
  code, said = in_pieces(heats)
  assert(code == 0 and contents() == whole and said == first, said)
  fresh() -- the same with a kernel that stops its worker: quarantine lasts over calls
  local crash = "crash=" .. key
  code, first = run(nil, crash)
  whole = contents()
  assert(code == 1 and whole:find("quarantined", 1, true), whole)
  fresh()
  local again
  again, said = in_pieces(nil, crash)
  assert(again == 1 and contents() == whole and said == first, said)
end

local function nothing_twice()
  fresh()
  local code, first, notes = run()
  local rows = count()
  assert(code == 0 and not notes:find("done already", 1, true))
  local again, said, more = run()
  assert(again == 0 and said == first and count() == rows)
  assert(more:find("note: 2 of 2 problems are done already; FRESH=1 measures them again", 1, true), more)
  run({ problems = problems(256, 384, 512) })
  assert(count() == rows // 2 * 3, "a longer file costs what is new in it")
  run({ fresh = true })
  assert(count() == rows // 2 * 3 + rows)
end

-- What makes a row another measurement's.
local function measured_again()
  fresh()
  run()
  local rows, best = count(), sql("SELECT key FROM rows WHERE m = 256 AND pass = 4 ORDER BY ratio DESC LIMIT 1")[1].key
  for _, column in ipairs { "source", "cubin" } do
    change(string.format("UPDATE rows SET %s = 'old' WHERE m = 256 AND key = '%s'", column, best))
    sh.remove(dir .. "/cache") -- a changed header is a changed stamp of what was picked
    run()
    assert(count() == rows + 3, column .. ": one kernel, in two processes, and its result")
    rows = count()
  end
  for _, column in ipairs { "driver", "nvcc", "device", "preset", "cublas" } do
    fresh()
    run()
    rows = count()
    change(string.format("UPDATE rows SET %s = 'other'", column))
    run()
    assert(count() == 2 * rows, column)
  end
end

local function interim()
  fresh()
  local small = problems(256, 384, 512)
  run({ problems = { small[1] } })
  local code, said, notes = run { problems = small, budget = 0 }
  assert(code == 0 and said:find("\n1 of 3 problems done; the same command goes on\n$"), said)
  assert(said:find("\nproblem +layout +verdict +verdict pdl +ratio +ratio pdl +vs best_nv +vs best_nv pdl +us +us pdl "
                   .. "+cuBLAS nn +tn +best_nv +key\n256x256x128 +tn +%u+"), said)
  assert(said:find("problems: 1 count", 1, true) and not said:find("\n384x256x128 +tn +%u"), said)
  assert(notes:find("note: 1 of 3 problems are done already", 1, true) and notes:find("bench 1/3", 1, true), notes)
  code, said = run { problems = small, budget = 0, fresh = true }
  assert(code == 0 and said:find("0 of 3 problems done; the same command without FRESH=1 goes on", 1, true), said)
end

local function progress_line()
  fresh()
  local progress = require "progress"
  local interval = progress.interval
  progress.interval = 0
  local _, _, notes = run { budget = 3600, n = 6 }
  progress.interval = interval
  assert(notes:find("bench 0/2  BUDGET %d+ [^\n]*; bench 256x256x128 tn f16 acc f32 1/10\n"), notes)
  assert(notes:find("bench 0/2  %d+ s left, BUDGET [^\n]*; bench 512x256x128 tn f16 acc f32 1/10\n"), notes)
  assert(notes:find("bench 0/2  %d+ s left, BUDGET [^\n]*; finals of 2 problems 12/12\n"), notes)
  assert(notes:find("bench 2/2  %d+ s left, BUDGET [^\n]*; best ratio %d%.%d+ at %d+x256x128 tn\n"), notes)
  assert(campaign.span(34.2) == "35 s" and campaign.span(61) == "2 min" and campaign.span(3 * 3600 + 100) == "3 h 2 min")
end

-- Many problems: one line each, and no table of every one.
local function many()
  fresh()
  local sizes = {}
  for i = 1, 21 do sizes[i] = 64 * i end
  local code, said = run { problems = problems(table.unpack(sizes)), n = 1 }
  local _, tables = said:gsub("\nrank ", "")
  local _, lines = said:gsub("\n%d+x256x128 +tn +%u+ ", "")
  assert(code == 0 and tables == 0 and lines == 21, said)
end

-- A problem that cannot be measured is said, the others go on; no BUDGET excuses it.
local function lost()
  fresh()
  local list = problems(256, 512)
  list[1].K = 127
  local code, said, notes = run { problems = list, space = { "hopper" } }
  assert(code == 1 and notes:find("loom: 256x256x127 tn f16 acc f32: ", 1, true), notes)
  assert(said:find("problems_with_a_kernel: 1 count", 1, true), said)
end

local function on_the_cpu_device()
  fresh()
  local cpu = { backend = "cpu", worker = kit.fake, cxx = kit.fake, cpu_worker = kit.fake }
  local _, first = run(cpu)
  local whole = contents()
  fresh()
  cpu.budget = 0
  local code, said = in_pieces(cpu)
  assert(code == 0 and contents() == whole and said == first, said)
  assert(said:find("\nproblem +layout +predicted us +verified at +key\n"), said)
end

local function interrupted_or_killed()
  fresh()
  local file = dir .. "/shapes.txt"
  host.write(file, "256x256x128\n512x256x128\n# the last\n384x256x128\n")
  local words = { "BACKEND=fake", "DEVICE=h200", "SPACE=simt", "N=3", "LAYOUT=tn", "OUT=" .. dir, "SHAPES=" .. file }
  local argv = { sh.loom, "bench", table.unpack(words) }
  sh.run({ "timeout", "-s", "KILL", "0.3", table.unpack(argv) })
  local done = sh.run(argv)
  assert(done.code == 0 and done.output:find("problems_with_a_kernel: 3 count", 1, true), done.output)
  local twice = sql("SELECT count(*) AS times FROM rows GROUP BY m, key, pass, process HAVING times > 1")
  assert(#twice == 0, "nothing is measured twice")
end

-- ------------------------------------------------------------------------------- picks and files

local function remembered()
  fresh()
  local opt = { device = device.get "h200", out = dir }
  local p = problems(256)[1]
  local memory = picks.open(opt)
  local kernels = { { hash = "0a", text = "one" }, { hash = "0b", text = "two" } }
  assert(not memory:recall(p))
  memory:keep(p, kernels)
  local list = picks.open(opt):recall(p)
  assert(#list == 2 and list[2].hash == "0b" and list[2].source == host.sha256 "two")
  assert(not picks.open({ device = opt.device, out = dir, n = 5 }):recall(p), "another N is another pick")
  assert(not picks.open({ device = device.get "a100", out = dir }):recall(p))
  local path = memory.dir .. "/256x256x128-tn-f16-f32"
  host.write(path, (host.read(path):gsub("[^\n]*\n$", "")))
  assert(not memory:recall(p), "a file that was cut short says nothing")
  local own = picks.open { device = opt.device, out = dir, space = { "tests/spaces/large.lua" } }
  own:keep(p, kernels)
  assert(not own:recall(p))
end

local function shipped_lists()
  for _, list in ipairs { { "grid", 1000, "64x64x64" }, { "llm", 276, "1x6144x4096" }, { "first", 6, "1024x1024x1024" } } do
    local path = host.root .. "/bench/shapes/" .. list[1] .. ".txt"
    local opt, _, notes = kit.caught(knobs.parse, "bench", { "DEVICE=h200", "LAYOUT=tn", "SHAPES=" .. path })
    local p = opt.problems[1]
    assert(#opt.problems == list[2] and notes == "", notes)
    assert(string.format("%dx%dx%d", p.M, p.N, p.K) == list[3])
  end
end

local function duplicates()
  fresh()
  local path = dir .. "/s.txt"
  host.write(path, "64x64x64 # a\n\n  128x64x64\r\n64x64x64\n")
  local opt, _, notes = kit.caught(knobs.parse, "bench", { "DEVICE=h200", "LAYOUT=tn", "SHAPES=" .. path })
  assert(#opt.problems == 2 and opt.problems[2].M == 128)
  assert(notes == "note: " .. path .. ": 1 line has a shape again, each is taken once\n", notes)
end

return {
  { name = "BUDGET may end a campaign at every kernel, and calls that go on give the whole", run = pieces },
  { name = "nothing is measured twice, unless FRESH=1", run = nothing_twice },
  { name = "another text, cubin, driver, compiler or device is another measurement", run = measured_again },
  { name = "a campaign that stops shows what it has and says how to go on", run = interim },
  { name = "the progress line says problems done, time left, best ratio", run = progress_line },
  { name = "of many problems each has one line", run = many },
  { name = "a problem that cannot be measured is said, and the others are", run = lost },
  { name = "campaigns on the CPU device go on too", run = on_the_cpu_device },
  { name = "a campaign that was killed goes on", run = interrupted_or_killed },
  { name = "candidates are remembered by all that decides them", run = remembered },
  { name = "the shipped lists of problems are read", run = shipped_lists },
  { name = "a shape that stands twice is taken once, with a note", run = duplicates },
}
