-- The store of measured rows, and ranks made from it.

local bench = require "bench"
local fail = require "fail"
local outdir = require "outdir"
local rank = require "rank"
local sh = require "tests_sh"
local store = require "store"

local path = sh.tmpdir "store" .. "/store.db"
local shown = outdir.shown(path)

local function fresh()
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(path .. tail) end
  return store.open(path)
end

local problem = { M = 512, N = 256, K = 128, layout = "tn", dtype = "f16", acc = "f32" }

local function row(run, key, ratio, more)
  local r = {
    run = run, m = 512, n = 256, k = 128, layout = "tn", dtype = "f16", acc = "f32", key = key,
    hash = key, backend = "fake", preset = "h200", device = "fake", driver = "0", cuda = "0",
    cublas = "0", nvcc = "none", pass = 1, status = "ok", us = 10.0 / ratio, us_pdl = 9.0 / ratio,
    cublas_nn_us = 10.0, cublas_tn_us = 11.0, ratio = ratio, ratio_lo = ratio - 0.01,
    ratio_hi = ratio + 0.01, ratio_pdl = ratio * 1.1, ratio_pdl_lo = ratio,
    ratio_pdl_hi = ratio * 1.2,
  }
  for k, v in pairs(more or {}) do r[k] = v end
  return r
end

local function refusal(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok, "it is not refused")
  return fail.text(err) or error("an internal fault: " .. tostring(err))
end

-- What `f` prints to stdout.
local function printed(f, ...)
  local out, parts = host.out, {}
  host.out = function(text) parts[#parts + 1] = text end
  local ok, err = pcall(f, ...)
  host.out = out
  if not ok then error(err, 0) end
  return table.concat(parts)
end

local function written_at_once()
  local st = fresh()
  local run = st:new_run()
  st:add(row(run, "a", 0.9, { why = "it's; quoted", regs = 168 }))
  local rows = store.open(path):latest(problem)
  assert(#rows == 1 and rows[1].key == "a" and rows[1].regs == 168 and rows[1].ratio == 0.9)
  assert(rows[1].why == "it's; quoted" and rows[1].spills == nil and rows[1].loom == host.version)
  assert(rows[1].time > 1600000000)
end

-- Two measurements are two rows, also where they are equal and of the same second.
local function equal_rows()
  local st = fresh()
  local run = st:new_run()
  for _ = 1, 3 do st:add(row(run, "a", 0.9)) end
  assert(#st:latest(problem) == 3)
  st:close()
end

local function latest_run()
  local st = fresh()
  local one, two = st:new_run(), st:new_run()
  assert(two > one)
  st:add(row(one, "old", 1.5))
  st:add(row(two, "new", 0.8))
  st:add(row(two, "cuda", 0.7, { backend = "cuda" }))
  local three = st:new_run()
  st:add(row(three, "other", 1.0, { m = 1024 }))
  assert(#st:latest(problem) == 2 and st:latest(problem)[1].key == "new")
  assert(#st:latest(problem, { backend = "cuda" }) == 1)
  assert(#st:latest(problem, { preset = "a100" }) == 0)
  assert(#st:problems {} == 2 and #st:problems { backend = "cuda" } == 1)
  assert(st:problems({})[2].M == 1024 and st:problems({})[2].acc == "f32")
end

local function newer_schema()
  local st = fresh()
  st.db:exec("PRAGMA user_version = 99")
  st:close()
  local said = refusal(store.open, path)
  assert(said == "the store '" .. shown .. "' has schema 99, this loom knows 4: use a newer loom "
         .. "or move the file away", said)
end

local function no_database()
  fresh():close()
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(path .. tail) end
  host.write(path, ("this is no database\n"):rep(100))
  local said = refusal(store.open, path)
  assert(said:find("cannot use the store '" .. shown .. "': ", 1, true) == 1, said)
  assert(not said:find("\n"), said)
  host.remove(path)
end

local function order()
  local sorted = rank.sort {
    row(1, "slow", 0.5), row(1, "lucky", 1.2), row(1, "a", 1.1), row(1, "b", 1.1),
    row(1, "lucky", 0.9, { pass = 2 }), row(1, "bad", 9.0, { status = "wrong", why = "C differs" }),
    row(1, "dies", 1.0), row(1, "dies", 1.0, { pass = 2, status = "crash" }),
  }
  local keys = {}
  for i, r in ipairs(sorted.ranked) do keys[i] = r.key end
  assert(table.concat(keys, " ") == "lucky a b slow", table.concat(keys, " "))
  assert(#sorted.failed == 2 and sorted.failed[1].key == "bad" and sorted.failed[2].key == "dies")
end

local function ranked_table()
  local st = fresh()
  local run = st:new_run()
  st:add(row(run, "toy:x=1", 0.9, { pass = 4, regs = 96, spills = 16, warnings = "C7510" }))
  st:add(row(run, "toy:x=2", 1.1, { pass = 4 }))
  st:add(row(run, "toy:x=3", 1.0, { status = "wrong", why = "C differs" }))
  st:close()
  local text = printed(bench.rank, { store = path, problems = {}, device = { name = "h200" } })
  assert(text:find("512x256x128 tn f16 acc f32", 1, true), text)
  assert(text:find("cuBLAS nn 10.00 us, tn 11.00 us", 1, true), text)
  assert(text:find("1%.100 %[1%.090,1%.110%].*0%.900 %[0%.890,0%.910%]"), text)
  assert(text:find("spills 16 B C7510", 1, true) and text:find("wrong%s+toy:x=3: C differs"), text)
end

local function nothing_to_rank()
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(path .. tail) end
  local opt = { store = path, problems = { problem }, device = { name = "h200" } }
  local said = refusal(bench.rank, opt)
  assert(said == "no store at '" .. shown .. "': run `make bench SHAPE=MxNxK` first", said)
  assert(not host.stat(path), "asking does not make a store")
  fresh():close()
  said = refusal(bench.rank, opt)
  assert(said == "no rows for this in '" .. shown .. "': run `make bench SHAPE=MxNxK` first", said)
end

return {
  { name = "a row is in the file as soon as it is added", run = written_at_once },
  { name = "equal measurements are rows of their own", run = equal_rows },
  { name = "rank sees the latest run that measured the problem", run = latest_run },
  { name = "a store of a newer schema is refused", run = newer_schema },
  { name = "a file that is no database is refused in one line", run = no_database },
  { name = "the second pass decides, failed kernels are not ranked", run = order },
  { name = "rank prints ratios with intervals, flags and failures", run = ranked_table },
  { name = "rank of an empty store says what to run", run = nothing_to_rank },
}
