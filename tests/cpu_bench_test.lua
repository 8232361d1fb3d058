-- BACKEND=cpu of the bench, and the search's check of edited specs, against the stand-in of cpu_kit.

local bench = require "bench"
local fail = require "fail"
local kit = require "cpu_kit"
local measure = require "measure"
local mutate = require "mutate_random"
local narrow_kit = require "narrow_kit"
local predict = require "predict"
local release = require "release"
local search = require "search"
local select_ = require "select"
local emit = require "emit"
local sh = require "tests_sh"
local store = require "store"

local dir = sh.tmpdir "cpu bench"
local narrow = narrow_kit.write(dir, narrow_kit.searched)
local problem = { M = 512, N = 520, K = 4096, layout = "tn", dtype = "f16", acc = "f32" }

-- bench.run on the CPU device: exit code, stdout, notes, rows.
local function run(words, more)
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(dir .. "/store.db" .. tail) end
  local opt = kit.opt(dir, words, { backend = "cpu", problems = { problem }, n = 6, worker = kit.fake })
  for name, value in pairs(more or {}) do opt[name] = value end
  local code, said, notes = kit.caught(bench.run, opt)
  local st = store.open(dir .. "/store.db")
  local rows = st:latest(opt.problems[1])
  st:close()
  return code, said, rows, notes
end

local function verified()
  local code, said, rows = run()
  assert(code == 0 and #rows == 6, said)
  assert(said:find("^nothing was timed: [^\n]*verified on the CPU device, ranked by predicted time"), said)
  assert(said:find("predicted us  verified at", 1, true) and not said:find("cuBLAS", 1, true), said)
  assert(not said:find("ratio", 1, true), said)
  for _, row in ipairs(rows) do
    assert(row.backend == "cpu" and row.status == "ok" and row.predicted_us > 2 and row.pass == 1)
    assert(not row.us and not row.ratio and not row.cubin and row.source)
    assert(row.verified:find "^%d+x%d+x%d+", row.verified)
  end
  local last = 0.0
  for us in said:gmatch("\n *%d+ +(%d+%.%d+)  %d+x") do
    assert(tonumber(us) >= last, said)
    last = tonumber(us)
  end
  assert(last > 0 and said:find("with the same remainders", 1, true), said)
end

local function failures_are_rows()
  local _, _, rows = run()
  sh.remove(dir .. "/cache") -- what did compile would compile
  local kinds = { "wrong", "deadlock", "crash", "refused", "fail" }
  local words = {}
  for i, kind in ipairs(kinds) do words[i] = kind .. "=" .. rows[i].key:gsub("^.*acc=f32", "") end
  local code, said, after = run(table.concat(words, " "))
  assert(code == 1 and #after == 6, said)
  local want = { "wrong", "wrong", "crash", "refused", "build", "ok" }
  for i, row in ipairs(after) do
    assert(row.status == want[i] and (row.status == "ok") == (row.predicted_us ~= nil), i .. " " .. row.status)
  end
  assert(after[2].why:find("templates/[%w_]+.cu:%d+"), after[2].why)
  assert(said:find("problems_with_a_kernel: 1 count", 1, true), said)
end

local function the_default()
  local present = measure.gpu_present
  measure.gpu_present = function() return false end
  local opt = kit.opt(dir, nil, { problems = { problem }, n = 1 })
  local ok, code, said = pcall(kit.caught, bench.run, opt)
  local name = measure.backend_name(opt)
  measure.gpu_present = function() return true end
  local with = measure.backend_name(opt)
  measure.gpu_present = present
  assert(ok and code == 0 and said:find("^nothing was timed: no GPU here; "), tostring(said or code))
  assert(name == "cpu" and with == "cuda")
end

local function ranked()
  run()
  local code, said = kit.caught(bench.rank, kit.opt(dir, nil, { n = 3 }))
  assert(code == 0 and said:find("^nothing was timed: verified on the CPU device"), said)
  local lines = 0
  for _ in said:gmatch("\n *%d+ +%d+%.%d+  %d+x") do lines = lines + 1 end
  assert(lines == 3, said)
  local st = store.open(dir .. "/store.db") -- something timed, before those
  st:add { run = 0, m = 512, n = 520, k = 4096, layout = "tn", dtype = "f16", acc = "f32", key = kit.hopper,
    backend = "fake", pass = 4, status = "ok", us = 9.5, ratio = 1.5, ratio_lo = 1.4, ratio_hi = 1.6, cublas_nn_us = 14.25,
    cublas_tn_us = 14.25 }
  st:close()
  code, said = kit.caught(bench.rank, kit.opt(dir, nil))
  assert(code == 0 and said:find(" 9.50 ", 1, true) and not said:find("predicted", 1, true), said)
  code, said = kit.caught(bench.rank, kit.opt(dir, nil, { backend = "cpu" }))
  assert(code == 0 and said:find("predicted", 1, true) and not said:find(" 9.50 ", 1, true), said)
end

local function never_released()
  run()
  local ok, err = pcall(kit.caught, release.run, kit.opt(dir, nil, { given = {} }))
  assert(not ok, "rows without times are released")
  assert((fail.text(err) or ""):find("nothing to release: ", 1, true), tostring(err))
end

local function predicted()
  local opt = kit.opt(dir, nil, { key = kit.hopper })
  local p = { M = 4096, N = 4096, K = 4096, layout = "tn", dtype = "f16", acc = "f32" }
  local kernel = emit.render(select_.pick(p, opt.device, opt)[1])
  local shape = { M = 384, N = 384, K = 576 }
  local function us(wavefronts, q) return predict.us(kernel, q or p, opt.device, shape, { wavefronts = wavefronts }) end
  assert(us(0) > 139 and us(0) < 250, us(0)) -- 137 GFLOP at 989 TFLOP/s
  assert(us(1e7) > us(0) and us(2e7) > us(1e7), "conflicts cost")
  assert(us(0, { M = 8192, N = 4096, K = 4096 }) > 1.8 * us(0) - 4)
end

local function budget()
  local code, _, rows, notes = run(nil, { budget = 0 })
  assert(code == 0 and #rows == 1 and notes:find("BUDGET is spent: 5 of 6 kernels left", 1, true), notes)
end

-- ------------------------------------------------------------------------------- the search

local optimum = "LOOM_FAKE=optimum=tile_m:128,tile_n:256,schedule:cooperative,consumers:2,stages:4,group_m:8"

-- Says the same two edits each time.
local turns = { new = function()
  return { propose = function()
    return { { op = { kind = "add-value", param = "warps", values = { { "pingpong", 2 } } }, name = "turns", hypothesis = "" },
             { op = { kind = "add-value", param = "stages", values = { 4 } }, name = "deeper", hypothesis = "" } }
  end }
end }

local function searched(name, words, more, mutator)
  local opt = kit.opt(dir, words, { backend = "fake", check = true, run = name, seed = 1, budget = 12,
    space = { narrow },
    problems = { { M = 4096, N = 4096, K = 4096, layout = "tn", dtype = "f16", acc = "f32" } } })
  opt.env[#opt.env + 1] = optimum
  for key, value in pairs(more or {}) do opt[key] = value end
  local code, said, notes = kit.caught(search.run, opt, mutator or mutate)
  return code, said, notes, assert(host.read(dir .. "/search/" .. name .. "/journal.tsv"))
end

local function screened()
  host.remove(dir .. "/count")
  local _, said, _, journal = searched("screen", "deadlock=pingpong,", nil, turns)
  local refused = 0
  for line in journal:gmatch("[^\n]+") do
    if line:find("status=wrong", 1, true) then
      refused = refused + 1
      assert(line:find("pingpong,", 1, true) and line:find("why=on the CPU device: deadlock: ", 1, true), line)
    end
  end
  assert(refused > 0 and said:find("\nwrong%s+hopper:[^\n]*on the CPU device: deadlock"), said)
  local jobs, root = kit.count(dir, "job"), 0
  for _ in journal:gmatch("\ntime [^\n]*status=ok") do root = root + 1 end
  assert(jobs > refused and root > 0)
  host.remove(dir .. "/count")
  local _, again, _, same = searched("screen", "deadlock=pingpong,", nil, turns)
  assert(again == said and same == journal and kit.count(dir, "") == 0, "the journal is enough the second time")
end

local function the_first_spec_is_launched()
  host.remove(dir .. "/count")
  local quiet = { new = function() return { propose = function() return {} end } end }
  local opt = kit.opt(dir, nil, { backend = "fake", check = true, run = "first", seed = 1, budget = 10, env = { optimum },
    space = { narrow },
    problems = { { M = 4096, N = 4096, K = 4096, layout = "tn", dtype = "f16", acc = "f32" } } })
  assert(kit.caught(search.run, opt, quiet) == 0 and kit.count(dir, "") == 0)
end

local function unscreened()
  host.remove(dir .. "/count")
  searched("off", nil, { check = false })
  assert(kit.count(dir, "") == 0)
  local opt = { check = true, cpu_worker = dir .. "/nowhere" }
  local _, _, notes = searched("none", nil, opt)
  local _, count = notes:gsub("kernels of edited specs are launched unchecked: no CPU device", "")
  assert(count == 1, notes)
end

local function old_store()
  local path = dir .. "/old.db"
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(path .. tail) end
  local st = store.open(path)
  st.db:exec("ALTER TABLE rows DROP COLUMN predicted_us; ALTER TABLE rows DROP COLUMN verified; PRAGMA user_version = 1;")
  st:close()
  st = store.open(path)
  st:add { run = st:new_run(), m = 1, n = 2, k = 3, layout = "nn", dtype = "f16", acc = "f32", predicted_us = 1.5 }
  st:close()
  st = store.open(path)
  local rows = st:latest { M = 1, N = 2, K = 3, layout = "nn", dtype = "f16", acc = "f32" }
  assert(rows[1].predicted_us == 1.5)
  st:close()
end

return {
  { name = "BACKEND=cpu verifies, ranks by predicted time, and says that nothing was timed", run = verified },
  { name = "whatever is wrong on the CPU device is a row with its reason", run = failures_are_rows },
  { name = "without a GPU the CPU device is the default", run = the_default },
  { name = "rank shows verified rows as what they are", run = ranked },
  { name = "a release ships no row without a time", run = never_released },
  { name = "predicted time follows size and conflicts", run = predicted },
  { name = "BUDGET ends the verification", run = budget },
  { name = "kernels of edited specs are checked before their launch, once", run = screened },
  { name = "the first spec's kernels are launched as they are", run = the_first_spec_is_launched },
  { name = "without a CPU device it is said once that kernels are launched unchecked", run = unscreened },
  { name = "a store of the first version is taken on", run = old_store },
}
