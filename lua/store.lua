-- store: measured rows in one SQLite file (out/store.db).
--
-- A row is written the moment it is known, so an interrupted bench keeps what it measured. A run is
-- one call of `loom bench`; rows of a run share its device and versions. The schema's version
-- stands in PRAGMA user_version: a newer one is refused, never guessed at.

local fail = require "fail"
local outdir = require "outdir"

local store = { version = 2 }

-- Every column of `rows`, in order; all but the first three may be absent.
local columns = {
  { "run", "INTEGER NOT NULL" }, { "time", "INTEGER NOT NULL" }, { "loom", "TEXT NOT NULL" },
  { "m", "INTEGER" }, { "n", "INTEGER" }, { "k", "INTEGER" },
  { "layout", "TEXT" }, { "dtype", "TEXT" }, { "acc", "TEXT" },
  { "key", "TEXT" }, { "hash", "TEXT" }, { "cubin", "TEXT" }, { "source", "TEXT" },
  { "preset", "TEXT" }, { "device", "TEXT" }, { "uuid", "TEXT" }, { "driver", "TEXT" },
  { "cuda", "TEXT" }, { "cublas", "TEXT" }, { "nvcc", "TEXT" }, { "backend", "TEXT" },
  { "pass", "INTEGER" }, { "status", "TEXT" }, { "why", "TEXT" },
  { "us", "REAL" }, { "us_pdl", "REAL" }, { "cublas_nn_us", "REAL" }, { "cublas_tn_us", "REAL" },
  { "ratio", "REAL" }, { "ratio_lo", "REAL" }, { "ratio_hi", "REAL" },
  { "ratio_pdl", "REAL" }, { "ratio_pdl_lo", "REAL" }, { "ratio_pdl_hi", "REAL" },
  { "ratio_nn", "REAL" }, { "ratio_tn", "REAL" }, { "err", "REAL" }, { "rms", "REAL" },
  { "blocks", "INTEGER" }, { "starved", "INTEGER" }, { "reps", "INTEGER" },
  { "checked", "INTEGER" }, { "clock_mhz", "REAL" }, { "cublas_math", "TEXT" },
  { "regs", "INTEGER" }, { "spills", "INTEGER" }, { "warnings", "TEXT" },
  { "predicted_us", "REAL" }, { "verified", "TEXT" },
}

-- What a store of an older version lacks: SQL by the version that it brings the store to.
local upgrades = { [2] = "ALTER TABLE rows ADD COLUMN predicted_us REAL; ALTER TABLE rows ADD COLUMN verified TEXT;" }

local function schema()
  local defs = {}
  for i, c in ipairs(columns) do defs[i] = c[1] .. " " .. c[2] end
  return string.format([[
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS runs(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS rows(%s);
    CREATE INDEX IF NOT EXISTS rows_by_problem ON rows(m, n, k, layout, dtype, acc, run);
    PRAGMA user_version = %d;
    COMMIT;]], table.concat(defs, ", "), store.version)
end

local Store = {}
Store.__index = Store

local function guarded(path, f)
  local ok, result = pcall(f)
  if ok then return result end
  if type(result) == "table" then error(result, 0) end
  local text = tostring(result)
  fail(string.format("cannot use the store '%s': %s", outdir.shown(path),
                     text:match("db '[^']*': (.*)$") or text))
end

-- Another process may be at it too: the version is read again when the store is ours.
local function upgrade(db)
  db:exec("BEGIN IMMEDIATE")
  for version = db:rows("PRAGMA user_version", {})[1].user_version + 1, store.version do
    db:exec(string.format("%s PRAGMA user_version = %d;", upgrades[version], version))
  end
  db:exec("COMMIT")
end

local function open_schema(db, path)
  local found = db:rows("PRAGMA user_version", {})[1].user_version
  if found > store.version then
    fail(string.format("the store '%s' has schema %d, this loom knows %d: use a newer loom or move "
                       .. "the file away", outdir.shown(path), found, store.version))
  end
  if found == 0 then return db:exec(schema()) end
  if found < store.version then upgrade(db) end
end

-- Opens or creates the store at `path`.
function store.open(path)
  local dir = path:match("^(.*)/[^/]*$")
  if dir and dir ~= "" then host.mkdir(dir) end
  return guarded(path, function()
    local db = host.db(path)
    open_schema(db, path)
    return setmetatable({ db = db, path = path }, Store)
  end)
end

-- A number for a new run.
function Store:new_run()
  return guarded(self.path, function()
    local sql = "INSERT INTO runs(time) VALUES (strftime('%s', 'now')) RETURNING id"
    return self.db:rows(sql, {})[1].id
  end)
end

-- Adds one row (a table of column = value; absent ones are NULL) at once.
function Store:add(row)
  local names, values = { "time", "loom" }, { host.version }
  local marks = { "strftime('%s', 'now')", "?" }
  for _, c in ipairs(columns) do
    local v = row[c[1]]
    if v ~= nil and c[1] ~= "time" and c[1] ~= "loom" then
      names[#names + 1], marks[#marks + 1], values[#values + 1] = c[1], "?", v
    end
  end
  local sql = string.format("INSERT INTO rows(%s) VALUES (%s)", table.concat(names, ", "),
                            table.concat(marks, ", "))
  guarded(self.path, function() return self.db:run(sql, values) end)
end

-- SQL condition of `where` {backend=, preset=, timed=} beside `cond`; its values go into `values`.
local function narrowed(cond, values, where)
  for _, name in ipairs { "backend", "preset" } do
    if where and where[name] then
      cond = cond .. " AND " .. name .. " = ?"
      values[#values + 1] = where[name]
    end
  end
  return where and where.timed and cond .. " AND backend <> 'cpu'" or cond
end

-- The problems that have rows, in order.
function Store:problems(where)
  local values = {}
  local sql = "SELECT DISTINCT m AS M, n AS N, k AS K, layout, dtype, acc FROM rows WHERE "
              .. narrowed("true", values, where) .. " ORDER BY m, n, k, layout, dtype, acc"
  return guarded(self.path, function() return self.db:rows(sql, values) end)
end

local same_problem = "m = ? AND n = ? AND k = ? AND layout = ? AND dtype = ? AND acc = ?"

-- The rows of the latest run that measured `problem`, narrowed by `where`. One run has one device
-- and one set of versions, so these rows compare.
function Store:latest(problem, where)
  local values = { problem.M, problem.N, problem.K, problem.layout, problem.dtype, problem.acc }
  local cond = narrowed(same_problem, values, where)
  return guarded(self.path, function()
    local run = self.db:rows("SELECT max(run) AS run FROM rows WHERE " .. cond, values)[1].run
    if not run then return {} end
    values[#values + 1] = run
    local sql = "SELECT * FROM rows WHERE " .. cond .. " AND run = ? ORDER BY rowid"
    return self.db:rows(sql, values)
  end)
end

function Store:close()
  self.db:close()
end

return store
