-- What a campaign takes from earlier calls, and what it does not: kernels that failed, results of other processes.

local bench_kit = require "bench_kit"
local campaign = require "campaign"
local device = require "device"
local sh = require "tests_sh"
local store = require "store"

local dir

local function fresh()
  dir = sh.tmpdir "settled"
end

-- A campaign of one problem with the fake worker: exit code, stdout, stderr.
local function run(more, faults)
  local opt = { backend = "fake", device = device.get "h200", problems = bench_kit.problems(256), n = 6, out = dir, given = {},
                timeout = 5 }
  return bench_kit.run(campaign.run, opt, more, faults)
end

local function change(text, ...)
  local st = store.open(dir .. "/store.db")
  local n = st.db:run(text, { ... })
  st:close()
  return n
end

local function of_pass(cond)
  return bench_kit.sql(dir, "SELECT * FROM rows WHERE pass " .. cond .. " ORDER BY rowid")
end

-- The campaign's rows of its best kernel.
local function best_of_a_campaign(more, faults)
  fresh()
  run(more, faults)
  local best
  for _, row in ipairs(of_pass "= 4") do best = (not best or row.ratio > best.ratio) and row or best end
  return best, "\nwrong +" .. best.key:gsub("%p", "%%%0") .. ": ", "\n +%d [^\n]*" .. best.key:gsub("%p", "%%%0") .. "\n"
end

-- Who was wrong in the fourth process is wrong, also where three are asked for.
local function wrong_in_another_process()
  local best, wrong, ranked = best_of_a_campaign()
  fresh()
  run({ processes = 5 }, "wrong=" .. best.hash .. ",seed=4")
  local count = #of_pass "> 0"
  local code, said = run({ processes = 3 })
  assert(code == 1 and said:find(wrong) and not said:find(ranked) and #of_pass "> 0" == count, said)
  code, said = run({ processes = 3, n = 7 }) -- chosen and built anew
  assert(code == 1 and said:find(wrong) and not said:find(ranked), said)
end

-- A result that a sanitizer found wrong stays so, however many processes are asked for.
local function wrong_afterwards()
  local best, wrong, ranked = best_of_a_campaign()
  change("UPDATE rows SET status = 'wrong', why = 'memcheck: planted' WHERE pass = 4 AND key = ?", best.key)
  local code, said = run({ processes = 5 })
  assert(code == 1 and said:find(wrong .. "memcheck: planted\n") and not said:find(ranked), said)
  assert(#of_pass "= 3" == 9 + 4, "it is not measured any more")
end

-- FRESH=1 was killed after its last process: the results of before are not those of these processes.
local function stale_results()
  best_of_a_campaign()
  run({ fresh = true })
  assert(change("DELETE FROM rows WHERE pass = 4 AND run = 2") == 3)
  run()
  local list = of_pass "= 4"
  assert(#list == 6 and list[6].run == 2 and #of_pass "= 3" == 18, #list)
  run()
  assert(#of_pass "= 4" == 6)
end

-- Finals beside cublasGemmEx alone are none of BASELINES=all; the other way round they are.
local function other_baselines()
  fresh()
  run { baselines = "gemmex" }
  local heats = #of_pass "< 3"
  local _, said = run()
  assert(#of_pass "= 3" == 18 and #of_pass "< 3" == heats and said:find("; best_nv = ", 1, true), said)
  local _, again = run { baselines = "gemmex" }
  assert(#of_pass "= 3" == 18 and #of_pass "= 4" == 6 and again == said, again)
end

return {
  { name = "a kernel that was wrong in any process is out, whatever PROCESSES says", run = wrong_in_another_process },
  { name = "a result that was found wrong stays so with more processes", run = wrong_afterwards },
  { name = "finals beside less than is asked for are run again", run = other_baselines },
  { name = "results older than their processes are made again", run = stale_results },
}
