-- Races: who goes on, what the finals in fresh processes say together, and that nothing but that is shown.

local bench = require "bench"
local bench_kit = require "bench_kit"
local campaign = require "campaign"
local device = require "device"
local kit = require "cpu_kit"
local narrow_kit = require "narrow_kit"
local pooled = require "pooled"
local race = require "race"
local random = require "mutate_random"
local rank = require "rank"
local search = require "search"
local sh = require "tests_sh"
local store = require "store"
local store_kit = require "store_kit"

local dir

local problems = bench_kit.problems

-- A fresh folder, and a run in it with the fake worker: exit code, stdout, stderr. `go` is bench.run or campaign.run.
local function fresh()
  dir = sh.tmpdir "race"
end

local function run(go, more, faults)
  local opt = { backend = "fake", device = device.get "h200", problems = problems(256), n = 6, out = dir, given = {},
                timeout = 5 }
  return bench_kit.run(go, opt, more, faults)
end

local function sql(text) return bench_kit.sql(dir, text) end

local function of_pass(pass)
  return sql("SELECT * FROM rows WHERE pass = " .. pass .. " ORDER BY rowid")
end

local function width(row, name)
  return math.log(row[name .. "_hi"] / row[name .. "_lo"])
end

-- ------------------------------------------------------------------------------- heats

-- How many start in each pass, by the size of the field.
local function fields()
  local list = { { M = 4096, N = 4096, K = 4096, layout = "tn", dtype = "f16", acc = "f32" } }
  for _, case in ipairs { { 1, "0 0 3 1" }, { 3, "0 0 9 3" }, { 4, "0 4 9 3" }, { 5, "5 4 9 3" }, { 24, "24 6 9 3" } } do
    fresh()
    run(bench.run, { n = case[1], space = { "hopper" }, problems = list })
    local count = {}
    for pass = 1, 4 do count[pass] = #of_pass(pass) end
    assert(table.concat(count, " ") == case[2], case[1] .. ": " .. table.concat(count, " "))
  end
end

-- Those who go on are the best of the heat, and the order of a process is that of the one before, backwards.
local function best_go_on()
  fresh()
  run(bench.run, { n = 8 })
  local heat, next_heat, finals = of_pass(1), {}, {}
  for _, row in ipairs(of_pass(2)) do next_heat[#next_heat + 1] = row.key end
  for _, row in ipairs(of_pass(3)) do
    finals[row.process] = finals[row.process] or {}
    table.insert(finals[row.process], row.key)
  end
  table.sort(heat, function(x, y) return x.ratio > y.ratio end)
  for i = 1, 4 do assert(next_heat[i] == heat[i].key, "heat 2") end
  assert(#finals == 3)
  for i = 1, 3 do assert(finals[1][i] == finals[3][i] and finals[1][i] == finals[2][4 - i], "order") end
end

-- ------------------------------------------------------------------------------- results

local function row_with(shift, more)
  local parts = {}
  for i = 1, 32 do parts[i] = shift + (i * 37 % 32 - 16) * 50 end
  local row = { samples = "ratio:" .. table.concat(parts, ","), us = 10.0, cublas_nn_us = 11.0, cublas_tn_us = 12.0, blocks = 32 }
  for name, value in pairs(more or {}) do row[name] = value end
  return row
end

local function pooling()
  local one = pooled.figures { row_with(0) }
  local alike = pooled.figures { row_with(0), row_with(0), row_with(0) }
  local apart = pooled.figures { row_with(-8000), row_with(0), row_with(8000) }
  assert(one.processes == 1 and alike.processes == 3 and alike.blocks == 96)
  assert(width(alike, "ratio") < width(one, "ratio"), "more blocks say more where processes agree")
  assert(width(apart, "ratio") > 3 * width(one, "ratio"), "and less where they do not")
  assert(apart.ratio_lo < 0.993 and apart.ratio_hi > 1.007 and math.abs(apart.ratio - 1) < 0.001)
  assert(one.verdict == "SAME" and apart.verdict == "UNDECIDED" and not one.verdict_pdl)
  assert(pooled.figures({ row_with(9000) }).verdict == "FASTER" and pooled.figures({ row_with(-9000) }).verdict == "SLOWER")
  local none, why = pooled.figures { row_with(0), { us = 1.0 } }
  assert(not none and why == "a process said no samples")
end

local function pooled_columns()
  local nv = ";ratio_nv:" .. ("-9000,"):rep(15) .. "-9000"
  local rows = { row_with(9000, { us = 9.0, drift = -0.02, unsteady = 3, throttled = 1, throttle = "power,heat",
                                  best_nv = "lt_best_tn", best_nv_us = 9.5 }),
                 row_with(9000, { us = 11.0, drift = 0.01, unsteady = 1, throttled = 0, throttle = "none", best_nv = "gemmex_nn" }),
                 row_with(9000, { us = 10.5, drift = 0.0, unsteady = 0, throttled = 0, throttle = "power", best_nv = "lt_best_tn",
                                  cublas_math = "strict" }) }
  local out = pooled.figures(rows)
  assert(out.us == 10.5 and out.drift == -0.02 and out.unsteady == 4 and out.throttled == 1 and out.throttle == "power,heat")
  assert(out.best_nv == "lt_best_tn" and out.cublas_math == "strict" and out.verdict == "FASTER" and not out.ratio_nv)
  for _, row in ipairs(rows) do row.samples = row.samples .. nv end
  out = pooled.figures(rows)
  assert(out.verdict == "SLOWER" and out.ratio > 1 and math.abs(out.ratio_nv - math.exp(-0.009)) < 1e-9, "best_nv decides")
  assert(out.best_nv_us == 9.5)
  rows[2].samples, rows[2].best_nv = rows[2].samples:gsub(";ratio_nv:.*", ""), nil
  out = pooled.figures(rows)
  assert(out.verdict == "FASTER" and not out.ratio_nv and not out.best_nv and not out.best_nv_us,
         "best_nv that one process does not know is not known")
end

-- The fake worker's processes differ, so a result is less sure than each of its processes says.
local function wider()
  fresh()
  run(bench.run, nil, "noise=0.0005")
  local results = of_pass(4)
  assert(#results == 3)
  for _, row in ipairs(results) do
    local single, count = 0.0, 0
    for _, part in ipairs(of_pass(3)) do
      if part.key == row.key then single, count = single + width(part, "ratio"), count + 1 end
    end
    assert(count == 3 and row.processes == 3 and row.blocks == 96)
    assert(width(row, "ratio") > 2 * single / 3, string.format("%g %g", width(row, "ratio"), single / 3))
  end
end

-- All kernels are equally fast, and blocks scatter: who won the heats seems to be faster than cuBLAS by far. What is
-- shown is what the finals say.
local function winners_curse()
  fresh()
  local _, said = run(bench.run, { n = 24 }, "optimum=none:1,noise=0.05")
  local top, shown = 0, of_pass(4)
  for pass = 1, 2 do
    for _, row in ipairs(of_pass(pass)) do top = math.max(top, row.ratio) end
  end
  assert(top > 1.02, "the heats' best figure is not too good: " .. top)
  local best = 0
  for _, row in ipairs(shown) do
    assert(math.abs(row.ratio - 1) < 0.015, "the result is off: " .. row.ratio)
    best = math.max(best, row.ratio)
  end
  assert(said:find(string.format("\n   1  %%u+ +%%u+ +%.3f %%[", best)), said)
  local heading = said:match("^(.-)\nraced ")
  assert(heading and not heading:find(string.format("%.3f", top), 1, true), "a raced figure stands among the results")
  assert(said:find("\nraced +[%d.]+, 32 blocks: ") and said:find("\nraced +[%d.]+, 8 blocks: "), said)
  assert(said:find(string.format("geomean_ratio: %.3f x", best), 1, true), said)
end

local function wrong_in_one_process()
  fresh()
  run(bench.run)
  local key, hash = of_pass(4)[1].key, of_pass(4)[1].hash
  fresh()
  local code, said = run(bench.run, nil, "wrong=" .. hash .. ",seed=2")
  local rows = sql("SELECT process, status FROM rows WHERE pass >= 3 AND key = '" .. key .. "' ORDER BY process")
  assert(code == 1 and #rows == 2 and rows[1].status == "ok" and rows[2].status == "wrong" and rows[2].process == 2)
  assert(#of_pass(4) == 2, "the others have results")
  assert(said:find("\nwrong +" .. key:gsub("%p", "%%%0") .. ": C differs"), said)
  assert(not said:find("raced[^\n]*" .. key:gsub("%p", "%%%0")), "it did not only race")
end

local function knobs()
  fresh()
  local _, said = run(bench.run, { processes = 1, baselines = "gemmex" })
  assert(#of_pass(3) == 3 and #of_pass(4) == 3 and of_pass(4)[1].processes == 1 and of_pass(4)[1].blocks == 32)
  assert(said:find("/ ours; 1 process\nrank  verdict  verdict pdl  ratio  ", 1, true), said)
  assert(not said:find("best_nv", 1, true) and of_pass(4)[1].verdict, said)
  fresh()
  _, said = run(bench.run)
  assert(said:find("/ ours; best_nv = [%w_]+, [%d.]+ us; 3 processes\n"), said)
end

-- ------------------------------------------------------------------------------- campaigns

-- A worker that notes its starts and jobs; `before` is done with each line before it is passed on.
local function noting(before)
  local quoted = (host.getenv("LOOM_UNDER_TEST") or host.exe):gsub("'", "'\\''")
  local script = "#!/bin/sh\nd='%s'\necho start >> \"$d/jobs\"\nwhile IFS= read -r line; do\n%s\n"
    .. "printf '%%s\\n' \"$line\" >> \"$d/jobs\"; printf '%%s\\n' \"$line\"\ndone | '%s' fake-worker\n"
  host.write(dir .. "/worker", script:format(dir, before or ":", quoted))
  assert(sh.run({ "chmod", "+x", dir .. "/worker" }).code == 0)
  return dir .. "/worker"
end

local function jobs(pattern)
  local n = 0
  for line in (host.read(dir .. "/jobs") or ""):gmatch("[^\n]+") do
    if line:find(pattern) then n = n + 1 end
  end
  return n
end

-- The sizes of the groups that a campaign has had.
local function groups_of(more)
  local sizes, run_finals = {}, race.run_finals
  race.run_finals = function(ctx, races, ...)
    sizes[#sizes + 1] = #races
    return run_finals(ctx, races, ...)
  end
  local ok, code, said, notes = pcall(run, campaign.run, more)
  race.run_finals = run_finals
  if not ok then error(code, 0) end
  return table.concat(sizes, " "), code, said, notes
end

local function groups()
  fresh()
  local list, usual = problems(64, 128, 192, 256, 320), race.group
  race.group = 2
  local ok, sizes, code, said = pcall(groups_of, { problems = list, n = 6, worker = noting() })
  race.group = usual
  assert(ok, sizes)
  assert(sizes == "2 2 1" and code == 0, sizes)
  assert(jobs "^start" == 1 + 3 * 3, "a process is shared by the problems of a group: " .. jobs "^start")
  assert(jobs "^problem\t[^\n]*seed=2\t" == 5 and jobs "baselines=all" == 15)
  local tables = {}
  for size in said:gmatch("\n(%d+)x256x128 tn f16 acc f32\n") do tables[#tables + 1] = size end
  assert(table.concat(tables, " ") == "64 128 192 256 320", "tables in the order of the file")
  fresh()
  sizes = groups_of { problems = list, n = 3, worker = noting() }
  assert(sizes == "5" and jobs "^start" == 3, "the worker that greeted is the first process: " .. jobs "^start")
  fresh()
  sizes = groups_of { problems = list, n = 3, budget = 2 }
  assert(tonumber(sizes:match "^%d+") <= 2, "BUDGET is near its end: " .. sizes)
end

local function contents()
  local list = {}
  for _, row in ipairs(sql "SELECT * FROM rows ORDER BY m, pass, process, key") do
    list[#list + 1] = string.format("%d %s %d %s %s %.17g %.17g", row.m, row.key, row.pass, tostring(row.process), row.status,
                                    row.ratio, row.ratio_lo)
  end
  return table.concat(list, "\n")
end

-- loom is killed when the second process begins: what the first one measured is not measured again.
local function killed_between_processes()
  fresh()
  local list = { problems = problems(128, 256) }
  run(campaign.run, list)
  local whole = contents()
  fresh()
  host.write(dir .. "/shapes", "128x256x128\n256x256x128\n")
  local worker = noting('case $line in *seed=2*) [ -e "$d/once" ] || { touch "$d/once"; kill -9 $PPID; exit; } ;; esac')
  local argv = { sh.loom, "bench", "SHAPES=" .. dir .. "/shapes", "LAYOUT=tn", "BACKEND=fake", "N=6", "DEVICE=h200", "OUT=" .. dir,
                 "WORKER=" .. worker }
  local got = sh.run(argv)
  assert(got.signal == 9 and host.stat(dir .. "/once"), got.output)
  assert(#of_pass(3) == 6 and #of_pass(4) == 0)
  got = sh.run(argv)
  assert(got.code == 0 and contents() == whole, got.output)
  assert(jobs "^time\t" == #sql "SELECT key FROM rows WHERE pass < 4", "something was measured twice")
  got = sh.run(argv)
  assert(got.code == 0 and jobs "^time\t" == #sql "SELECT key FROM rows WHERE pass < 4" and contents() == whole)
end

-- More processes are added to those that are there, fewer are there already.
local function more_processes()
  fresh()
  run(campaign.run)
  assert(#of_pass(3) == 9 and #of_pass(4) == 3)
  run(campaign.run, { processes = 5 })
  assert(#of_pass(3) == 15 and #of_pass(4) == 6 and of_pass(4)[6].processes == 5)
  local _, said = run(campaign.run, { processes = 2 })
  assert(#of_pass(3) == 15 and #of_pass(4) == 6 and said:find("; 5 processes\n", 1, true), said)
end

local function budget_once()
  fresh()
  local _, _, noted = run(bench.run, { n = 24, budget = 1, worker = noting "case $line in time*) sleep 0.1 ;; esac" })
  local _, times = noted:gsub("BUDGET is spent", "")
  assert(times == 1, noted)
end

-- What follows the results is done to the best kernel, and to the next where that is found to be wrong.
local function followed()
  fresh()
  local calls, real, answer = {}, package.loaded.sanitize, true
  package.loaded.sanitize = { run = function(_, _, kernel, row)
    calls[#calls + 1] = row
    assert(kernel.key == row.key and row.pass == 4)
    if #calls == 1 then row.status, row.why = "wrong", "memcheck: planted" end
    return answer, answer == nil and "planted reason" or nil
  end }
  local ok, code, said = pcall(run, bench.run, { sanitize = true })
  assert(ok, code)
  assert(#calls == 2 and calls[1].ratio > calls[2].ratio, #calls)
  assert(said:find("\n +1 [^\n]*" .. calls[2].key:gsub("%p", "%%%0") .. "\n") and said:find("\nwrong [^\n]*memcheck: planted\n"), said)
  answer = false
  local _, stopped, _, noted = pcall(run, bench.run, { sanitize = true })
  local count = #sql "SELECT key FROM rows WHERE run = (SELECT max(run) FROM rows)"
  assert(stopped == 1 and noted:find("loom: interrupted: " .. count .. " rows are in ", 1, true), noted)
  answer = nil
  _, code, _, noted = pcall(run, bench.run, { sanitize = true })
  assert(code == 0 and noted:find("loom: 256x256x128 tn f16 acc f32: planted reason\n", 1, true), noted)
  answer, calls = true, {}
  run(bench.run, { sanitize = true, clocks = { "call" } })
  local clocked = sql "SELECT key FROM rows WHERE clock IS NOT NULL"
  assert(#clocked == 1 and clocked[1].key == calls[2].key, "no clock for a kernel that is wrong")
  local clocks, asked = package.loaded.clocks, 0
  package.loaded.clocks = { run = function(_, _, _, row)
    asked, row.status = asked + 1, asked == 0 and "wrong" or row.status
    return true
  end }
  calls = { "first" }
  ok, code = pcall(run, bench.run, { sanitize = true, clocks = { "call" } })
  package.loaded.clocks = clocks
  assert(ok, code)
  assert(asked == 2 and #calls == 3 and calls[2].ratio > calls[3].ratio, "the next one has a sanitizer's word as well")
  calls = { "once" }
  _, code = pcall(run, bench.run, { sanitize = false })
  assert(code == 0 and #calls == 1, "nobody asked")
  package.loaded.sanitize = real
end

-- The last word of a search are the same finals, and its journal has them: it is not measured again.
local function of_a_search()
  fresh()
  local more = { space = { narrow_kit.write(dir, narrow_kit.searched) }, run = "a", seed = 1, budget = 12, processes = 2 }
  local function go(opt) return search.run(opt, random) end
  local code, said = run(go, more)
  local results, finals = of_pass(4), of_pass(3)
  assert(code == 0 and #of_pass(2) == 0 and #results == 3 and #finals == 6 and results[1].processes == 2, #finals)
  local best = results[1]
  for _, row in ipairs(results) do best = row.ratio > best.ratio and row or best end
  assert(said:find(string.format("\nbest_ratio: %.3f x\n", best.ratio), 1, true) and best.ratio_nv, said)
  assert(said:find("; best_nv = [%w_]+, [%d.]+ us; 2 processes\nrank  verdict ") and not said:find("raced", 1, true), said)
  local journal = dir .. "/search/a/journal.tsv"
  local text, rows = host.read(journal), #sql "SELECT key FROM rows"
  local _, again = run(go, more)
  assert(again == said and #sql "SELECT key FROM rows" == rows)
  local cut = text:find("\nfinal %d+ 2 ") -- killed before the second process
  host.write(journal, text:sub(1, cut))
  _, again = run(go, more)
  assert(again == said and #of_pass(3) == 6 + 3 and #of_pass(4) == 6 and #of_pass(1) == rows - 9, again)
end

-- ------------------------------------------------------------------------------- rank

-- What `loom rank` prints of a store with these rows {key, ratio, more}; `present` are the GPUs here.
local function ranked(rows, present, old, space)
  fresh()
  local path = dir .. "/store.db"
  local st = store.open(path)
  local runs = {}
  for _, r in ipairs(rows) do
    local number = (r[3] or {}).run or 1
    runs[number] = runs[number] or st:new_run()
    local row = store_kit.row(runs[number], r[1], r[2], r[3])
    row.run = runs[number]
    st:add(row)
  end
  if old then st.db:exec("UPDATE rows SET schema = 3") end
  st:close()
  local here = bench.present
  bench.present = function() return present or {} end
  local ok, code, said, noted = pcall(kit.caught, bench.rank, { store = path, problems = {}, space = space,
                                                                device = { name = "h200" } })
  bench.present = here
  if not ok then error(code, 0) end
  return said, noted
end

-- A run that was killed before its finals does not hide the results of the one before, nor does one of other spaces.
local function unfinished()
  local rows = { { "a:1", 1.1, { pass = 4 } }, { "a:1", 1.3, { pass = 1, run = 2 } },
                 { "a:2", 1.2, { pass = 1, run = 2, status = "wrong" } } }
  for _, present in ipairs { {}, { "GPU-1" } } do
    local said, noted = ranked(rows, present)
    assert(said:find("\n +1 +1%.100 [^\n]*a:1\n") and not said:find("1.300", 1, true), said)
    assert(noted:find("acc f32: the newest run has no results (1 raced, 1 failed): this is one before it\n", 1, true), noted)
  end
  rows[4] = { "b:1", 1.0, { pass = 4, run = 3 } }
  local said, noted = ranked(rows)
  assert(said:find("\n +1 +1%.000 [^\n]*b:1\n") and noted == "", said)
  said = ranked(rows, nil, nil, { "a" })
  assert(said:find("\n +1 +1%.100 [^\n]*a:1\n"), said)
  said, noted = ranked { rows[1], { "a:1", 1.3, { pass = 1, run = 2, status = "wrong", why = "planted" } } }
  assert(said:find("\nwrong +a:1: planted\n") and not said:find("rank ", 1, true) and noted == "", said)
  said, noted = ranked { rows[2] }
  assert(said:find("\nraced +1%.300") and noted == "", said)
end

local function two_gpus()
  local rows = { { "one", 1.1, { pass = 4, uuid = "GPU-1" } }, { "two", 1.2, { pass = 4, uuid = "GPU-2" } },
                 { "three", 1.0, { pass = 4, uuid = "GPU-2", nvcc = "12.8" } }, { "four", 0.9, { pass = 4, uuid = "GPU-2" } } }
  local said = ranked(rows)
  assert(said:find(" two\n") and said:find(" four\n") and not said:find(" one\n") and not said:find(" three\n"), said)
  said = ranked(rows, { "GPU-1" })
  assert(said:find(" one\n") and not said:find(" two\n") and not said:find(" four\n"), said)
  said = ranked(rows, { "GPU-7" })
  assert(said:find(" four\n") and not said:find(" one\n"), said)
  rows[5] = { "five", 1.3, { pass = 4, uuid = "GPU-1", run = 2 } }
  said = ranked(rows)
  assert(said:find(" five\n") and not said:find(" four\n"), said)
  said = ranked(rows, { "GPU-2" })
  assert(said:find(" four\n") and not said:find(" five\n"), said)
end

local function old_stores()
  local rows = { { "a", 1.3 }, { "b", 1.2 }, { "a", 0.9, { pass = 2 } }, { "b", 1.0, { pass = 2 } }, { "c", 1.1 } }
  local said = ranked(rows, nil, true)
  assert(said:find("\n +1  1%.000 [^\n]*  2  b\n +2  0%.900 [^\n]*  2  a\n +3  1%.100 [^\n]*  1  c\n"), said)
  said = ranked(rows)
  assert(not said:find("rank", 1, true) and said:find("\nraced +1%.000, 0 blocks: b\nraced +0%.900, 0 blocks: a\nraced +1%.100"), said)
  rows[6] = { "b", 1.05, { pass = 4 } }
  said = ranked(rows)
  assert(said:find("\n +1 +1%.050 [^\n]*b\n") and not said:find("raced[^\n]*: b\n") and said:find("raced[^\n]*: a\n"), said)
end

local function notes()
  local said = ranked { { "a", 1.1, { pass = 4, blocks = 96, throttled = 1, throttle = "heat", unsteady = 20, drift = -0.012 } },
    { "b", 1.0, { pass = 4, blocks = 96, throttled = 0, throttle = "none", unsteady = 19, drift = 0.009 } } }
  assert(said:find("  a +throttled: heat unsteady 20 of 96 drift %-1%.2 %%\n") and said:find("  b\n"), said)
end

-- Size classes, losses and verdicts over problems; what one row lacks is not averaged.
local function summary()
  local function row(m, ratio, nv, verdict)
    return { m = m, n = 1024, k = 1024, ratio = ratio, us = 10.0, ratio_nv = nv, verdict = verdict, pass = 4,
             backend = "fake" }
  end
  local best = { row(64, 1.1, 1.0, "FASTER"), row(1024, 0.9, 0.8, "SLOWER"), row(8192, 1.0, 0.9, "UNDECIDED"),
                 row(65536, 1.2, 1.1, "FASTER") }
  local function said() return select(2, kit.caught(rank.summary, best, 5)) end
  local text = said()
  for _, want in ipairs { "< 2^30 +1  1.100", "< 2^33 +1  0.900", "< 2^36 +1  1.000", ">= 2^36 +1  1.200" } do
    assert(text:find("\n *" .. want:gsub("[.^]", "%%%0")), text)
  end
  for _, want in ipairs { "problems: 5 count", "problems_with_a_kernel: 4 count", "geomean_ratio: 1.044 x", "geomean_vs_best_nv: 0.943 x",
    "total_time_ratio: 1.050 x", "total_time_vs_best_nv: 0.950 x", "losses: 1 count", "losses_to_best_nv: 2 count",
    "verdict_faster: 2 count",
    "verdict_same: 0 count", "verdict_slower: 1 count", "verdict_undecided: 1 count" } do
    assert(text:find("\n" .. want .. "\n", 1, true), want .. "\n" .. text)
  end
  best[2].ratio_nv = nil
  text = said()
  assert(not text:find("geomean_vs_best_nv:", 1, true) and not text:find("losses_to_best_nv:", 1, true), text)
end

return {
  { name = "all start, a quarter goes on, three are finalists; a heat that all would pass is left out", run = fields },
  { name = "the best of a heat go on, and take turns in the finals", run = best_go_on },
  { name = "processes that differ widen the interval, and a verdict needs it on one side", run = pooling },
  { name = "a result's columns are pooled, best_nv decides where all processes know it", run = pooled_columns },
  { name = "a result of the fake worker's processes is less sure than each of them", run = wider },
  { name = "the figure that won the heats is not what is shown", run = winners_curse },
  { name = "a kernel that is wrong in one process is out", run = wrong_in_one_process },
  { name = "PROCESSES and BASELINES", run = knobs },
  { name = "the finals of a group share their processes; BUDGET's end makes groups small", run = groups },
  { name = "BUDGET is told once", run = budget_once },
  { name = "a run without results does not hide the one before", run = unfinished },
  { name = "a campaign that is killed between two processes measures nothing again", run = killed_between_processes },
  { name = "what follows the results is done to the best, and to the next where that is wrong", run = followed },
  { name = "more PROCESSES are added to those that are there", run = more_processes },
  { name = "a search ends with the same finals, and its journal remembers them", run = of_a_search },
  { name = "rank shows one GPU and one compiler, this machine's first", run = two_gpus },
  { name = "older stores rank by their last pass, raced rows of newer ones are no results", run = old_stores },
  { name = "throttling, unsteady clocks and drift stand in the notes", run = notes },
  { name = "figures over problems: size classes, losses, verdicts, best_nv", run = summary },
}
