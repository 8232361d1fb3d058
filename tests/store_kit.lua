-- store_kit.lua -- what the tests of the store share: rows, stores in folders of their own, the program.

local fail = require "fail"
local sh = require "tests_sh"
local store = require "store"
local store_rows = require "store_rows"

local kit = { problem = { M = 512, N = 256, K = 128, layout = "tn", dtype = "f16", acc = "f32" } }

-- A row with every figure that a measured one has.
function kit.row(run, key, ratio, more)
  local r = {
    run = run, m = 512, n = 256, k = 128, layout = "tn", dtype = "f16", acc = "f32", key = key, hash = key,
    source = "s" .. key, backend = "fake", preset = "h200", device = "fake", uuid = "GPU-1", driver = "0", cuda = "0",
    cublas = "0", nvcc = "none", pass = 1, status = "ok", us = 10.0 / ratio, us_pdl = 9.0 / ratio,
    cublas_nn_us = 10.0, cublas_tn_us = 11.0, ratio = ratio, ratio_lo = ratio - 0.01, ratio_hi = ratio + 0.01,
    ratio_pdl = ratio * 1.1, ratio_pdl_lo = ratio, ratio_pdl_hi = ratio * 1.2, clock_mhz = 1755, seed = 1,
  }
  for k, v in pairs(more or {}) do r[k] = v end
  return r
end

function kit.remove(path)
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(path .. tail) end
end

-- A new store with rows of these keys; it is closed.
function kit.made(path, keys, more)
  kit.remove(path)
  local st = store.open(path)
  local run = st:new_run()
  for i, key in ipairs(keys) do st:add(kit.row(run, key, 0.8 + i / 100, more)) end
  st:close()
  return path
end

-- The one line with which f refuses.
function kit.refusal(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok, "it is not refused")
  local text = fail.text(err) or error("an internal fault: " .. tostring(err))
  assert(not text:find("\n"), text)
  return text
end

-- Runs loom with these words: exit code, output.
function kit.loom(...)
  local got = sh.run { sh.loom, ... }
  assert(got.code and not got.output:find("internal error", 1, true), got.output)
  return got.code, got.output
end

-- The same by the shell: "$0" is loom, words are "$1" and on.
function kit.shell(script, ...)
  local got = sh.run { "sh", "-c", script, sh.loom, ... }
  assert(got.code and not got.output:find("internal error", 1, true), got.output)
  return got.code, got.output
end

function kit.has(text, ...)
  for _, piece in ipairs { ... } do
    assert(text:find(piece, 1, true), "lacks '" .. piece .. "':\n" .. text)
  end
end

function kit.read(path)
  return assert(host.read(path))
end

-- The unpacked lines of an export.
function kit.lines(path)
  local out = {}
  for line in assert(host.gunzip(kit.read(path), 1 << 30)):gmatch("([^\n]*)\n") do out[#out + 1] = line end
  return out
end

-- How many rows, and keys in the order of the file.
function kit.keys(path)
  local st = store.reader(path)
  local rows = st.db:rows("SELECT key FROM rows ORDER BY rowid", {})
  st:close()
  for i, row in ipairs(rows) do rows[i] = row.key end
  return table.concat(rows, " ")
end

-- What an older loom made: the tables of version 1 or 2 as they were.
function kit.old(path, version)
  kit.remove(path)
  local db = host.db(path)
  db:exec([[
    CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL);
    CREATE TABLE rows(run INTEGER NOT NULL, time INTEGER NOT NULL, loom TEXT NOT NULL, m INTEGER, n INTEGER, k INTEGER,
      layout TEXT, dtype TEXT, acc TEXT, key TEXT, hash TEXT, cubin TEXT, source TEXT, preset TEXT, device TEXT,
      uuid TEXT, driver TEXT, cuda TEXT, cublas TEXT, nvcc TEXT, backend TEXT, pass INTEGER, status TEXT, why TEXT,
      us REAL, us_pdl REAL, cublas_nn_us REAL, cublas_tn_us REAL, ratio REAL, ratio_lo REAL, ratio_hi REAL,
      ratio_pdl REAL, ratio_pdl_lo REAL, ratio_pdl_hi REAL, ratio_nn REAL, ratio_tn REAL, err REAL, rms REAL,
      blocks INTEGER, starved INTEGER, reps INTEGER, checked INTEGER, clock_mhz REAL, cublas_math TEXT, regs INTEGER,
      spills INTEGER, warnings TEXT);
    CREATE INDEX rows_by_problem ON rows(m, n, k, layout, dtype, acc, run);
    INSERT INTO runs(time) VALUES (1700000000), (1700000001);]])
  if version == 2 then
    db:exec "ALTER TABLE rows ADD COLUMN predicted_us REAL; ALTER TABLE rows ADD COLUMN verified TEXT;"
  end
  db:exec("PRAGMA user_version = " .. version)
  local sql = "INSERT INTO rows(run, time, loom, m, n, k, layout, dtype, acc, key, source, preset, device, uuid, driver, "
              .. "cuda, cublas, nvcc, backend, pass, status, us, cublas_nn_us, cublas_tn_us, ratio, ratio_lo, ratio_hi, "
              .. "blocks, warnings) VALUES (?, ?, '0.0.9', 512, 256, 128, 'tn', 'f16', 'f32', ?, ?, 'h200', 'H200', "
              .. "'GPU-1', '580', '13', '13.1', '13.0', 'fake', 1, 'ok', 3, 10, 11.5, 0.9, 0.875, 0.95, 8, '')"
  for i, key in ipairs { "a", "b", "b", "c" } do -- one stands twice
    db:run(sql, { i > 3 and 2 or 1, 1700000000 + i // 4, key, "s" .. key })
  end
  db:close()
  return path
end

-- What schema 3 made: the store of now without what came since.
local SINCE_3 = { "families", "holes", "ms_families", "ms_changed", "ms", "clock", "load", "p99_us", "p99_us_pdl",
                  "cublas_us", "cublas_p99_us", "enqueue_us", "enqueue_us_pdl", "cublas_enqueue_us", "process",
                  "processes", "sanitizer", "option", "place", "found" }

function kit.third(path, keys, more)
  kit.made(path, keys, more)
  local db = host.db(path)
  for _, row in ipairs(db:rows("SELECT rows.rowid AS at, rows.*, runs.uid AS name FROM rows JOIN runs ON runs.id = run", {})) do
    row.schema = 3
    db:run("UPDATE rows SET schema = 3, digest = ? WHERE rowid = ?", { store_rows.digest(row, row.name), row.at })
  end
  for _, name in ipairs(SINCE_3) do db:exec("ALTER TABLE rows DROP COLUMN " .. name) end
  db:exec "PRAGMA user_version = 3"
  db:close()
  return path
end

return kit
