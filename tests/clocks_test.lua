-- CLOCKS: the best kernel by other clocks, against the fake worker: rows, tables, what is asked of the worker, and
-- what a campaign does not measure again.

local bench = require "bench"
local bench_kit = require "bench_kit"
local campaign = require "campaign"
local clocks = require "clocks"
local device = require "device"
local fail = require "fail"
local kit = require "cpu_kit"
local knobs = require "knobs"
local measure = require "measure"
local sh = require "tests_sh"
local store = require "store"

local dir

local function script(text)
  host.write(dir .. "/worker.sh", "#!/bin/sh\n" .. text .. "\n")
  assert(sh.run({ "chmod", "+x", dir .. "/worker.sh" }).code == 0)
  return dir .. "/worker.sh"
end

-- A new folder, and the fake worker whose jobs are noted in it.
local function fresh()
  dir = sh.tmpdir "clocks"
  local quoted = ("'%s' | '%s' fake-worker"):format(dir .. "/jobs", host.exe)
  return script("tee -a " .. quoted)
end

local problems = bench_kit.problems

local function options(more)
  local opt = { backend = "fake", device = device.get "h200", problems = problems(256), n = 3, out = dir, given = {},
                space = { "simt" }, timeout = 5, worker = dir .. "/worker.sh", clocks = clocks.names }
  for name, value in pairs(more or {}) do opt[name] = value end
  return opt
end

local function run(f, more)
  host.remove(dir .. "/jobs")
  return kit.caught(f, options(more))
end

local function rows(cond)
  local st = store.open(dir .. "/store.db")
  local list = st.db:rows("SELECT * FROM rows WHERE clock IS NOT NULL AND " .. (cond or "true") .. " ORDER BY rowid", {})
  st:close()
  return list
end

-- What the worker was asked about the clocks, in its order, without the kernel.
local function asked()
  local out = {}
  for line in host.read(dir .. "/jobs"):gmatch("[^\n]+") do
    local cache = line:match("^problem\t.*\tcache=(%l+)")
    local rest = line:match("^clock\tcubin=[^\t]*\tdesc=[^\t]*\t(.*)$") or line:match("^time\t.*\t(chain=1)$")
    if cache then out[#out + 1] = cache end
    if rest then out[#out + 1] = (rest:gsub("\t", " ")) end
  end
  return table.concat(out, "; ")
end

-- ------------------------------------------------------------------------------- rows and tables

local NAMES = "hot chain call server10 server50 server-graph10 server-graph50"

local function all_of_them()
  fresh()
  local code, said, notes = run(bench.run)
  assert(code == 0, said .. notes)
  assert(asked() == "chain=1; kind=call seconds=2; kind=server seconds=2 load=10; kind=server seconds=2 load=50; "
         .. "kind=server-graph seconds=2 load=10; kind=server-graph seconds=2 load=50; hot", asked())
  local list, best, by = rows(), said:match("\n +1 [^\n]*(simt:%S+)"), {}
  assert(#list == 7, #list)
  for _, row in ipairs(list) do
    local name = row.clock .. (row.load or "")
    by[name] = row
    assert(row.status == "ok" and row.key == best and row.run == list[1].run and row.cublas_us > 0, name)
    assert(row.ratio_lo < row.ratio and row.ratio_pdl < row.ratio_pdl_hi and row.us_pdl > 0, name)
  end
  for name in NAMES:gmatch "%S+" do assert(by[name], name) end
  assert(by.call.enqueue_us and by.call.cublas_enqueue_us and by.call.p99_us > by.call.us and not by.call.blocks)
  assert(by.server50.us > by.server10.us and by.server50.cublas_p99_us and not by.server50.enqueue_us)
  assert(by.chain.us > by.hot.us and by.chain.verdict and by.chain.blocks == 32 and not by.chain.cublas_nn_us)
  assert(math.abs(by.chain.ratio - by.chain.cublas_us / by.chain.us) < 0.01, "the chain's own ratio")
  assert(by.hot.cublas_us == math.min(by.hot.cublas_nn_us, by.hot.cublas_tn_us))
  assert(said:find("\nother clocks, the first kernel; [^\n]*\nclock +time +load %% +us +us pdl +p99 [^\n]*verdict pdl\n"
                   .. "hot +device time +%- +%d[^\n]*\nchain +device time[^\n]*\ncall +host time +%- [^\n]*\n"
                   .. "server +host time +10 [^\n]*\nserver +host time +50 [^\n]*\nserver%-graph +host time +10 "), said)
  local _, shown = kit.caught(bench.rank, { out = dir, problems = options().problems, given = {} })
  assert(shown:find("\nserver%-graph +host time +50 [^\n]*\n$") and shown:find(best, 1, true), shown)
end

-- Rows of other clocks are no results of the offline clock.
local function apart()
  fresh()
  run(bench.run, { clocks = false })
  local _, before = kit.caught(bench.rank, { out = dir, problems = options().problems, given = {} })
  assert(asked() == "" and not before:find("other clocks", 1, true), asked())
  fresh()
  run(bench.run)
  local _, after = kit.caught(bench.rank, { out = dir, problems = options().problems, given = {} })
  assert(after:gsub("other clocks.*$", "") == before, after)
  local verify = sh.run { sh.loom, "store", "verify", "STORE=" .. dir .. "/store.db" }
  assert(verify.code == 0 and verify.output:find("odd_rows: 0 count", 1, true), verify.output)
end

-- ------------------------------------------------------------------------------- what fails

local function unknown_words()
  local ok, err = pcall(knobs.parse, "bench", { "SHAPE=64x64x64", "CLOCKS=hot,cold", "DEVICE=h200" })
  assert(not ok and err.code == 2)
  assert(fail.text(err):find("CLOCKS 'cold' is none of hot, chain, call, server, server-graph", 1, true), fail.text(err))
  for _, name in ipairs(clocks.names) do
    assert(knobs.parse("bench", { "SHAPE=64x64x64", "DEVICE=h200", "CLOCKS=" .. name }).clocks[1] == name)
  end
  assert(#clocks.names == 5)
  local got = sh.run { sh.loom, "bench", "SHAPE=64x64x64", "DEVICE=h200", "BACKEND=cpu", "CLOCKS=hot" }
  assert(got.code == 2 and got.output:find("the CPU device has no clock", 1, true), got.output)
  got = sh.run { sh.loom, "bench", "SHAPE=64x64x64", "DEVICE=h200", "BACKEND=fake", "SANITIZE=1" }
  assert(got.code == 2 and got.output:find("SANITIZE=1 runs kernels on a GPU", 1, true), got.output)
end

-- A worker that does not take one of the jobs: its row says so, and what stopped the worker twice is not tried again.
local function a_clock_that_fails()
  fresh()
  script("sed -u 's/kind=server\t/kind=other\t/' | '" .. host.exe .. "' fake-worker")
  local code, said = run(bench.run, { clocks = { "server", "call" } })
  assert(code == 1, said)
  assert(said:find("\ncall +host time [^\n]*\nerror +clock server at 10 %%: unknown kind 'other'\n"
                   .. "quarantined clock server at 50 %%: "), said)
  local list = rows("status <> 'ok'")
  assert(#list == 2 and list[1].why == "unknown kind 'other'" and not list[1].us)
end

local function without_a_worker()
  fresh()
  local opt = options()
  local ctx = measure.start(opt)
  local p = opt.problems[1]
  local kernel = bench.open(ctx, p, nil, ctx.common.run).kernels[1]
  p.job = measure.problem_job(p)
  ctx.session.clock = function() return "interrupted", { why = "interrupted" } end
  local row = {}
  assert(clocks.run(ctx, p, kernel, row) == false and #row.clocks == 1 and row.clocks[1].clock == "chain")
  assert(#ctx.store.db:rows("SELECT * FROM started", {}) == 0, "nothing is in flight")
  ctx.session.clock = function() return "unprepared", { why = "no memory" } end
  local ok, why = clocks.run(ctx, p, kernel, row)
  assert(ok == nil and why == "no memory")
  ctx.session:stop()
  ctx.store:close()
end

-- A kernel that is wrong in one clock is asked of no other, its result is wrong, and the next one follows.
local function wrong_in_a_clock(go)
  fresh()
  script(("exec 4>&1\nwhile IFS= read -r line; do\ncase $line in\nclock*) if [ ! -e '%s' ]; then touch '%s'; "
          .. "printf 'wrong\\twhy=planted\\n' >&4; continue; fi ;;\nesac\nprintf '%%s\\n' \"$line\"\ndone | '%s' fake-worker")
         :format(dir .. "/once", dir .. "/once", host.exe))
  local two = { clocks = { "call", "server" } }
  local code, said, notes = run(go, two)
  local list = rows()
  assert(code == 1 and #list == 4 and list[1].status == "wrong" and list[2].key ~= list[1].key, said .. notes)
  local key = list[1].key:gsub("%p", "%%%0")
  assert(said:find("\nwrong +" .. key .. ": clock call: planted\n") and not said:find("\n +%d [^\n]*" .. key .. "\n"), said)
  assert(said:find("\n +1 [^\n]*" .. list[2].key:gsub("%p", "%%%0") .. "\n") and said:find("\nother clocks, ", 1, true), said)
  local _, shown = kit.caught(bench.rank, { out = dir, problems = options().problems, given = {} })
  assert(shown:find("\nwrong +" .. key .. ": clock call: planted\n"), shown)
  if go == campaign.run then run(go, two) end
  assert(#rows() == 4, "nothing is measured again")
end

-- ------------------------------------------------------------------------------- campaigns

local function going_on()
  fresh()
  local few = { problems = problems(256, 512), clocks = { "call" } }
  local code, said, notes = run(campaign.run, few)
  assert(code == 0 and #rows() == 2, said .. notes)
  local _, again, noted = run(campaign.run, few)
  assert(#rows() == 2 and noted:find("2 of 2 problems are done already", 1, true), noted)
  assert(again == said, again)
  few.clocks = { "call", "server" } -- one more: that alone is measured
  code, said = run(campaign.run, few)
  assert(code == 0 and #rows() == 6, #rows())
  assert(asked() == ("kind=server seconds=2 load=10; kind=server seconds=2 load=50; "):rep(2):sub(1, -3), asked())
  assert(not host.read(dir .. "/jobs"):find("\ntime\t") and said:find("\ncall +host time"), said)
  few.fresh = true
  run(campaign.run, few)
  assert(#rows() == 12, "FRESH=1 measures again")
end

local function another_machine()
  fresh()
  local few = { problems = problems(256), clocks = { "call" } }
  run(campaign.run, few)
  local st = store.open(dir .. "/store.db")
  st.db:exec("UPDATE rows SET driver = 'other' WHERE clock IS NOT NULL")
  st:close()
  run(campaign.run, few)
  assert(#rows() == 2, "another driver is another measurement")
end

return {
  { name = "every clock has its rows and a line of the table under the ranking", run = all_of_them },
  { name = "rows of other clocks leave the ranking as it is", run = apart },
  { name = "a clock that does not exist is refused, so are clocks without a GPU", run = unknown_words },
  { name = "a clock that fails is a row with its reason", run = a_clock_that_fails },
  { name = "a kernel that one clock finds wrong is wrong", run = function() wrong_in_a_clock(bench.run) end },
  { name = "so it is in a campaign", run = function() wrong_in_a_clock(campaign.run) end },
  { name = "interrupted, or without a problem: nothing is in flight", run = without_a_worker },
  { name = "a campaign measures what clocks are missing, and nothing twice", run = going_on },
  { name = "rows of another driver are no rows of this one", run = another_machine },
}
