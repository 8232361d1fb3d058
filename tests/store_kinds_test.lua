-- Whose row is it, and of what kind: rows of another GPU or compiler, of another clock, of a finalist's process, of
-- the libraries. None of them is ever taken for an ordinary row of one's own.

local bench = require "bench"
local cpu_kit = require "cpu_kit"
local done = require "done"
local kit = require "store_kit"
local sh = require "tests_sh"
local store = require "store"
local store_rows = require "store_rows"
local text_ = require "store_text"

local dir = sh.tmpdir "store kinds"
local path = dir .. "/store.db"
local has, loom = kit.has, kit.loom

-- A new store with these rows, all of one run unless they say another; it is open.
local function made(rows)
  kit.remove(path)
  local st = store.open(path)
  local runs = {}
  for _, more in ipairs(rows) do
    local name = more.of or 1
    runs[name] = runs[name] or st:new_run()
    st:add(kit.row(runs[name], more.key or "k", more.ratio or 0.9, more))
  end
  return st
end

local function keys_of(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = row.key end
  return table.concat(out, " ")
end

local OTHERS = { { "uuid", "GPU-2" }, { "nvcc", "13.1" }, { "device", "H100" }, { "driver", "590" }, { "cuda", "14" },
                 { "cublas", "14" }, { "backend", "cuda" }, { "preset", "h100" } }

-- ------------------------------------------------------------------------------- one's own

-- The rows that a bench of this GPU and compiler goes on with.
local function own_rows(st)
  local common = kit.row(1, "k", 0.9)
  return done.open { store = st, common = common, opt = { baselines = "gemmex" } }:problem(kit.problem)
end

local function not_ones_own()
  for _, other in ipairs(OTHERS) do
    local st = made { { [other[1]] = other[2] } }
    local known = own_rows(st)
    assert(not known:row({ hash = "k", source = "sk" }, 1) and not known.run, other[1] .. ": another's row is known")
    st:add(kit.row(st:new_run(), "k", 0.9))
    assert(own_rows(st):row({ hash = "k", source = "sk" }, 1), other[1] .. ": one's own row is not known")
    st:close()
  end
end

local function quarantine_is_ones_own()
  for _, other in ipairs(OTHERS) do
    local st = made { { cubin = "bad", status = "crash", why = "it dies", [other[1]] = other[2] } }
    assert(#done.open({ store = st, common = kit.row(1, "k", 0.9) }):quarantined() == 0, other[1])
    st:close()
  end
  local st = made { { cubin = "bad", status = "crash", why = "it dies" }, { cubin = "bad", clock = "server" } }
  local list = done.open({ store = st, common = kit.row(1, "k", 0.9) }):quarantined()
  assert(#list == 1 and list[1].cubin == "bad", "a row of another clock ends no quarantine")
  st:close()
end

-- Two GPUs in one store, the other one measured last.
local function latest_of_a_gpu()
  local st = made { { key = "mine" }, { of = 2, key = "theirs", uuid = "GPU-2" },
                    { of = 3, key = "older nvcc", nvcc = "12.8" } }
  st.db:exec "UPDATE rows SET time = time + run * 10"
  assert(keys_of(st:latest(kit.problem)) == "older nvcc")
  assert(keys_of(st:latest(kit.problem, { uuid = "GPU-2" })) == "theirs")
  assert(keys_of(st:latest(kit.problem, { uuid = "GPU-1", nvcc = "none" })) == "mine")
  assert(keys_of(st:latest(kit.problem, { uuid = "GPU-3" })) == "" and #st:problems { uuid = "GPU-3" } == 0)
  assert(keys_of(st:history { uuid = "GPU-1" }) == "mine older nvcc")
  st:close()
end

-- ------------------------------------------------------------------------------- kinds

local function nvidia(key, more)
  local row = { key = "nvidia:option=" .. key .. ",layout=tn", option = key, backend = "nvidia", us = 9.0 }
  for name, value in pairs(more or {}) do row[name] = value end
  return row
end

local function kinds()
  return made {
    { key = "plain" }, { key = "plain", pass = 3, process = 1, ratio = 0.91 }, { key = "plain", pass = 3, process = 2 },
    { of = 2, key = "hot", clock = "hot" }, { of = 2, key = "server", clock = "server", load = 10, cublas_us = 11.0 },
    { of = 3, key = "x", clock = "hot", n = 64 }, nvidia("gemmex", { of = 4 }), nvidia("lt_best", { of = 4, n = 32 }),
  }
end

local function kernels_alone()
  local st = kinds()
  st.db:exec "UPDATE rows SET time = time + run * 10"
  assert(keys_of(st:latest(kit.problem)) == "plain plain plain", "the offline rows of kernels are the latest")
  assert(#st:problems {} == 1 and #st:problems { clock = "hot" } == 2 and #st:problems { backend = "nvidia" } == 2)
  assert(keys_of(st:latest(kit.problem, { clock = "server" })) == "server")
  assert(keys_of(st:latest(kit.problem, { backend = "nvidia" })) == "nvidia:option=gemmex,layout=tn")
  assert(keys_of(st:history {}) == "plain plain plain" and #st:history { backend = "nvidia" } == 2)
  assert(#st:timed_rows("plain", "splain") == 3 and #st:timed_rows("hot", "shot") == 0)
  st:close()
  local _, said = cpu_kit.caught(bench.rank, { store = path, problems = {}, device = { name = "h200" } })
  assert(not said:find("nvidia", 1, true) and not said:find("hot", 1, true), said)
  has(said, "512x256x128 tn f16 acc f32")
end

local function of_a_process()
  local st = kinds()
  local known = own_rows(st)
  local candidate = { hash = "plain", source = "splain" }
  assert(known:row(candidate, 1) and not known:row(candidate, 1, 1) and not known:row(candidate, 3))
  assert(known:row(candidate, 3, 1).ratio == 0.91 and known:row(candidate, 3, 2).process == 2)
  assert(not known:row(candidate, 3, 3) and not known:row({ hash = "hot", source = "shot" }, 1))
  st:close()
end

-- Each of these is a measurement of its own, and ends by itself.
local function marks()
  kit.made(path, {})
  local st = store.open(path)
  local run = st:new_run()
  local function in_flight() return st.db:rows("SELECT count(*) AS n FROM started", {})[1].n end
  local rows = { kit.row(run, "k", 0.9) }
  for _, more in ipairs { { process = 1 }, { process = 2 }, { clock = "hot" }, { clock = "server", load = 10 },
    { clock = "server", load = 50 } } do
    rows[#rows + 1] = kit.row(run, "k", 0.9, more)
  end
  for _, row in ipairs(rows) do assert(st:start(row) == nil) end
  assert(in_flight() == #rows)
  st:add(rows[2])
  assert(in_flight() == #rows - 1)
  st:unstart(rows[4])
  assert(in_flight() == #rows - 2)
  for _ = 1, 2 do
    rows[3].run = st:new_run()
    st:start(rows[3])
  end
  assert(st:start(rows[3]) == "loom ended 3 times while it was measured" and not st:start(rows[1]))
  st:close()
end

local function all_or_none()
  kit.made(path, {})
  local st = store.open(path)
  local run = st:new_run()
  local flight = kit.row(run, "job", 0.9)
  st:start(flight)
  local bad = setmetatable({}, { __index = function(_, name) if name == "why" then error "stop" end end })
  assert(not pcall(st.add_all, st, { kit.row(run, "a", 0.9), bad }, flight))
  assert(kit.keys(path) == "", "half of a measurement is in the store")
  st:add_all({ kit.row(run, "a", 0.9), kit.row(run, "b", 0.9) }, flight)
  assert(kit.keys(path) == "a b" and st.db:rows("SELECT count(*) AS n FROM started", {})[1].n == 0)
  st:close()
end

-- ------------------------------------------------------------------------------- flaws

local function flaws()
  local function flaw(more, without)
    local row = kit.row(1, "k", 0.9, more)
    for name in (without or ""):gmatch("%S+") do row[name] = nil end
    return store_rows.flaw(row)
  end
  assert(not flaw {})
  assert(flaw({}, "cublas_nn_us") == "it has no cublas_nn_us")
  assert(flaw({ cublas_us = 11.0 }, "cublas_nn_us") == "it has no cublas_nn_us")
  assert(flaw({ clock = "hot" }, "cublas_nn_us") == "it has no cublas_nn_us")
  assert(not flaw({ clock = "server", cublas_us = 11.0 }, "cublas_nn_us cublas_tn_us"))
  assert(flaw({ clock = "server", cublas_us = 11.0 }, "ratio_lo") == "it has no ratio_lo")
  assert(flaw { clock = "server", cublas_us = 0.0 } == "cublas_us is not above 0")
  assert(flaw { clock = "server", cublas_us = 1.0, p99_us = -1.0 } == "p99_us is not above 0")
  local bare = "cublas_nn_us cublas_tn_us ratio ratio_lo ratio_hi"
  assert(not flaw(nvidia("gemmex"), bare))
  assert(flaw(nvidia("gemmex"), bare .. " us") == "it has no us" and flaw(nvidia("gemmex"), "uuid") == "it has no uuid")
  assert(flaw(nvidia("gemmex"), "option") == "it has no option")
  assert(not flaw(nvidia("gemmex", { status = "refused", why = "no" }), bare .. " us"))
end

-- ------------------------------------------------------------------------------- versions

-- What an older loom wrote has the identity that it gave it.
local function old_identity()
  local row = {
    time = 1700000000, loom = "0.0.9", m = 512, n = 256, k = 128, layout = "tn", dtype = "f16", acc = "f32", key = "k",
    source = "s", cubin = "c", backend = "cuda", preset = "h200", device = "H200", uuid = "GPU-1", driver = "580",
    cuda = "13", cublas = "13.1", nvcc = "13.0", pass = 2, status = "ok", us = 10.25, ratio = 0.9, ratio_lo = 0.875,
    ratio_hi = 0.95, verdict = "WIN", schema = 3,
  }
  assert(store_rows.digest(row, "r") == "607768a3ae2ee2632558c70d709ce811", store_rows.digest(row, "r"))
  row.process = 1
  assert(store_rows.digest(row, "r") ~= "607768a3ae2ee2632558c70d709ce811")
end

local function export(from, to)
  local code, said = loom("store", "export", to, "STORE=" .. from)
  assert(code == 0, said)
  return kit.read(to)
end

local function third_version()
  kit.third(path, { "a", "b" })
  local bytes, asis = kit.read(path), export(path, dir .. "/old.gz")
  local st = store.reader(path)
  assert(keys_of(st:latest(kit.problem)) == "a b" and #st:latest(kit.problem, { clock = "hot" }) == 0)
  assert(#st:history { backend = "nvidia" } == 0 and #st:of_size(kit.problem) == 2)
  st:close()
  assert(kit.read(path) == bytes, "reading does not upgrade")
  store.open(path):close()
  assert(export(path, dir .. "/new.gz") == asis, "an upgrade changes no row")
  st = store.open(path)
  st:add(kit.row(st:new_run(), "c", 0.9, { process = 1, clock = "hot", ms = 12.5 }))
  st:close()
  kit.third(dir .. "/other.db", { "d" })
  local code, said = loom("store", "merge", dir .. "/other.db", dir .. "/old.gz", "STORE=" .. path)
  assert(code == 0, said)
  has(said, "1 rows, 1 of them new", "2 rows, 0 of them new")
  code, said = loom("store", "verify", "STORE=" .. path)
  assert(code == 0, said)
  has(said, "schema 4", "rows: 4 count")
end

-- An upgrade does not give a damaged row a new identity, which would hide the damage.
local function damage_stays()
  kit.third(path, { "a", "b" })
  local db = host.db(path)
  db:exec "UPDATE rows SET ratio = 1.5, ratio_hi = 2.0 WHERE key = 'b'"
  db:close()
  store.open(path):close()
  local code, said = loom("store", "verify", "STORE=" .. path)
  assert(code == 1, said)
  has(said, "row 2: it is not what was written", "odd_rows: 1 count")
end

-- ------------------------------------------------------------------------------- a part of an export

local function one_backend()
  kinds():close()
  local whole = export(path, dir .. "/all.gz")
  local code, said = loom("store", "export", dir .. "/nv.gz", "BACKEND=nvidia", "STORE=" .. path)
  assert(code == 0, said)
  has(said, "2 rows in ")
  kit.remove(dir .. "/nv.db")
  loom("store", "import", dir .. "/nv.gz", "STORE=" .. dir .. "/nv.db")
  assert(export(dir .. "/nv.db", dir .. "/again.gz") == kit.read(dir .. "/nv.gz"), "the bytes differ")
  loom("store", "export", dir .. "/rest.gz", "BACKEND=fake", "STORE=" .. path)
  kit.remove(dir .. "/both.db")
  loom("store", "merge", dir .. "/rest.gz", dir .. "/nv.gz", "STORE=" .. dir .. "/both.db")
  assert(export(dir .. "/both.db", dir .. "/both.gz") == whole, "the parts are not the whole")
  code, said = loom("store", "verify", "BACKEND=nvidia", "STORE=" .. path)
  assert(code == 2 and said == "loom: BACKEND is for store export\n", said)
  code, said = loom("store", "export", dir .. "/x.gz", "BACKEND=nvida", "STORE=" .. path)
  assert(code == 2, said)
  has(said, "did you mean 'nvidia'?")
  code, said = loom("bench", "SHAPE=64x64x64", "BACKEND=nvidia")
  assert(code == 2, said)
end

-- Rows of a library are small: what is absent costs nothing once packed.
local function lean()
  local rows = {}
  for i = 1, 1000 do
    rows[i] = kit.row(1, "nvidia:option=lt_best,layout=tn", 0.9, nvidia("lt_best", { m = i, us = 1.0 + i / 7 }))
    rows[i].run_uid, rows[i].time, rows[i].digest = "r", 1, host.sha256(tostring(i)):sub(1, 32)
  end
  local size = #host.gzip(text_.of(rows))
  assert(size < 60000, size)
end

return {
  { name = "a row of another GPU, compiler or version is never known as one's own", run = not_ones_own },
  { name = "quarantine comes from one's own offline rows", run = quarantine_is_ones_own },
  { name = "the latest rows may be asked for by GPU and compiler", run = latest_of_a_gpu },
  { name = "another clock's rows and the libraries' are shown to those who ask", run = kernels_alone },
  { name = "a finalist has a row for each process", run = of_a_process },
  { name = "process, clock and load tell what is in flight", run = marks },
  { name = "the rows of one measurement come all or none", run = all_or_none },
  { name = "what a row cannot do without depends on its kind", run = flaws },
  { name = "older rows keep their identity", run = old_identity },
  { name = "a store of version 3 is read, upgraded, merged and exported", run = third_version },
  { name = "an upgrade does not hide a damaged row", run = damage_stays },
  { name = "an export may be of one backend", run = one_backend },
  { name = "a thousand rows of the libraries pack into 60 KB", run = lean },
}
