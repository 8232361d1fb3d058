-- store: measured rows in one SQLite file (out/store.db).
--
-- A row is written the moment it is known, and what is about to be measured is written before its first
-- launch (`started`), so what is killed loses the measurement in flight and no other, and says which one
-- it was. A run is one call of `loom bench` or `loom search`; rows of a run share its device and
-- versions, and several processes may add to a store at the same time. The schema's version stands in
-- PRAGMA user_version: an older store is upgraded by who writes to it, and read as it is; a newer one is
-- refused, never guessed at.

local fail = require "fail"
local outdir = require "outdir"
local store_rows = require "store_rows"

local store = { version = 4 }

local STARTS = 3 -- of a measurement that ended with loom, or the machine, down; then it is not started again

local Store = {}
Store.__index = Store

-- ------------------------------------------------------------------------------- errors

-- What SQLite says, and what to do about it.
local HINTS = {
  { "disk is full", "what was measured before is kept: free some space, then the same command goes on" },
  { "disk I/O error", "what was measured before is kept: is the disk full, or a limit on files reached?" },
  { "unable to open", "can files be made in its folder? `loom rank` and `loom store` need none; or say STORE=file" },
  { "readonly", "it can still be read; make it and its folder writable, or say STORE=file" },
  { "is read-only", "it can still be read; make it writable, or say STORE=file" },
  { "malformed", "it is damaged: `loom store verify` says what can be read, if anything" },
  { "not a database", "is it a store? Say STORE=file, or move it away" },
  { "locked", "another process has kept it for 10 s" },
}

local function hint(text)
  for _, h in ipairs(HINTS) do
    if text:find(h[1], 1, true) then return string.format("%s: %s", text, h[2]) end
  end
  return text
end

function store.guarded(path, f)
  local ok, result = pcall(f)
  if ok then return result end
  if type(result) == "table" then error(result, 0) end
  local text = tostring(result)
  fail(string.format("cannot use the store '%s': %s", outdir.shown(path),
                     hint(text:match("db '[^']*': (.*)$") or text)))
end

local guarded = store.guarded

-- All of f or nothing.
local function transaction(db, f)
  db:exec("BEGIN IMMEDIATE")
  local ok, result = pcall(f)
  if ok then
    local whole, err = pcall(db.exec, db, "COMMIT")
    if whole then return result end
    result = err
  end
  pcall(db.exec, db, "ROLLBACK") -- the error may have done it
  error(result, 0)
end

-- ------------------------------------------------------------------------------- schema

-- Version 1; later ones add columns, and what stands in NAMES.
local TABLES = [[
  CREATE TABLE runs(id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL);
  CREATE TABLE rows(%s);
  CREATE INDEX rows_by_problem ON rows(m, n, k, layout, dtype, acc, run);]]

-- Names of runs and rows that hold for every store, and what is in flight.
local NAMES = [[
  CREATE TABLE IF NOT EXISTS started(mark TEXT NOT NULL, run INTEGER NOT NULL, key TEXT, starts INTEGER NOT NULL,
                                     time INTEGER NOT NULL, PRIMARY KEY(mark, run));
  CREATE UNIQUE INDEX IF NOT EXISTS runs_by_uid ON runs(uid);
  CREATE UNIQUE INDEX IF NOT EXISTS rows_by_digest ON rows(digest);]]

-- The name of a run that an older loom made: equal in every copy of its store.
function store.old_run(run, first)
  local text = { "run", run.id, run.time }
  for _, name in ipairs { "time", "device", "uuid", "key", "source" } do
    text[#text + 1] = first and tostring(first[name]) or ""
  end
  return host.sha256(table.concat(text, "\t")):sub(1, 32)
end

local function name_runs(db)
  local uids = {}
  for _, run in ipairs(db:rows("SELECT * FROM runs", {})) do
    if not run.uid then
      local first = db:rows("SELECT * FROM rows WHERE run = ? ORDER BY rowid LIMIT 1", { run.id })[1]
      run.uid = store.old_run(run, first)
      db:run("UPDATE runs SET uid = ? WHERE id = ?", { run.uid, run.id })
    end
    uids[run.id] = run.uid
  end
  return uids
end

-- Rows that are equal in everything are one. A row that has its identity keeps it: if it was damaged
-- since, that must stay to be seen.
local function name_rows(db, uids)
  local seen = {}
  for row in db:each("SELECT rowid AS at, * FROM rows WHERE digest IS NULL ORDER BY rowid", {}) do
    local digest = store_rows.digest(row, uids[row.run] or "")
    local sql = seen[digest] and "DELETE FROM rows WHERE rowid = ?" or "UPDATE rows SET digest = ? WHERE rowid = ?"
    db:run(sql, seen[digest] and { row.at } or { digest, row.at })
    seen[digest] = true
  end
end

local function version_of(db)
  return db:rows("PRAGMA user_version", {})[1].user_version
end

-- Without a version it is a new file, or somebody else's.
local function check_new(db, path)
  if db:rows("SELECT count(*) AS n FROM sqlite_master", {})[1].n == 0 then return end
  fail(string.format("'%s' is a database, and no store: say STORE=file", outdir.shown(path)))
end

local function columns_of(db, name)
  local has = {}
  for _, c in ipairs(db:rows("SELECT name FROM pragma_table_info(?)", { name })) do has[c.name] = true end
  return has
end

-- Brings a store to this version, whichever it has.
local function complete(db)
  local has = columns_of(db, "rows")
  db:exec(store_rows.additions(has))
  if not has.digest then db:exec("ALTER TABLE rows ADD COLUMN digest TEXT") end
  if not columns_of(db, "runs").uid then db:exec("ALTER TABLE runs ADD COLUMN uid TEXT") end
  name_rows(db, name_runs(db))
  db:exec(NAMES)
  db:exec("PRAGMA user_version = " .. store.version)
end

-- Another process may be at it too: the version is read again when the store is ours.
local function upgrade(db, path)
  transaction(db, function()
    local found = version_of(db)
    if found == 0 then
      check_new(db, path)
      db:exec(string.format(TABLES, store_rows.definition()))
    end
    if found < store.version then complete(db) end
  end)
end

local function check_version(found, path)
  if found <= store.version then return end
  fail(string.format("the store '%s' has schema %d, this loom knows %d: use a newer loom or move "
                     .. "the file away", outdir.shown(path), found, store.version))
end

-- ------------------------------------------------------------------------------- open

-- SQLite takes an empty file for a new store, and removes the log of one.
local function check_file(path)
  local st, log = host.stat(path), host.stat(path .. "-wal")
  if st and st.dir then fail(string.format("the store '%s' is a folder", outdir.shown(path))) end
  if not st or st.size > 0 or not log or log.size == 0 then return end
  fail(string.format("the store '%s' is empty, and its log '%s-wal' is not: the store was cut off; put the file "
                     .. "back, or move both away", outdir.shown(path), outdir.shown(path)))
end

-- Opens or creates the store at `path`.
function store.open(path)
  check_file(path)
  local dir = path:match("^(.*)/[^/]*$")
  if dir and dir ~= "" then host.mkdir(dir) end
  return guarded(path, function()
    local db = host.db(path)
    local found = version_of(db)
    check_version(found, path)
    if found < store.version then upgrade(db, path) end
    return setmetatable({ db = db, path = path, found = store.version }, Store)
  end)
end

-- A db to read from, also where nothing can be written.
local function reader(path)
  local db = host.db(path, "read")
  local ok, err = pcall(db.rows, db, "SELECT count(*) FROM sqlite_master", {})
  if ok then return db end
  local unwritable = err:find("unable to open", 1, true) or err:find("readonly", 1, true)
  if not unwritable then error(err, 0) end
  db:close()
  local log = host.stat(path .. "-wal")
  if log and log.size > 0 then
    fail(string.format("the store '%s' cannot be read where it lies: its newest rows are in its log, and its "
                       .. "folder is read-only; copy '%s' and '%s-wal' elsewhere", outdir.shown(path),
                       outdir.shown(path), outdir.shown(path)))
  end
  return host.db(path, "still")
end

-- Opens the store at `path` to read: it is neither made nor upgraded, so rows of an older loom lack columns.
function store.reader(path)
  if not host.stat(path) then fail(string.format("no store at '%s'", outdir.shown(path))) end
  check_file(path)
  return guarded(path, function()
    local db = reader(path)
    local found = version_of(db)
    check_version(found, path)
    if found == 0 then -- an empty file: a store without rows, elsewhere
      check_new(db, path)
      db = host.db(":memory:")
      upgrade(db, path)
    end
    return setmetatable({ db = db, path = path, found = found }, Store)
  end)
end

-- ------------------------------------------------------------------------------- runs

local function new_uid()
  local text = host.read("/proc/sys/kernel/random/uuid")
             or table.concat({ host.time(), host.now(), host.cpu(), tostring({}) }, " ")
  return host.sha256(text):sub(1, 32)
end

-- A number for a new run.
function Store:new_run()
  return guarded(self.path, function()
    local sql = "INSERT INTO runs(time, uid) VALUES (strftime('%s', 'now'), ?) RETURNING id"
    return self.db:rows(sql, { new_uid() })[1].id
  end)
end

-- The number of the run of this name, which is made where it is not known.
function Store:run_of(uid, time)
  local run = self.db:rows("SELECT id FROM runs WHERE uid = ?", { uid })[1]
  return run and run.id or self.db:rows("INSERT INTO runs(time, uid) VALUES (?, ?) RETURNING id", { time, uid })[1].id
end

-- ------------------------------------------------------------------------------- rows

-- What a measurement in flight is known by: one of another GPU, compiler or text is another.
local MARK = { "m", "n", "k", "layout", "dtype", "acc", "key", "source", "cubin", "pass", "backend", "preset", "device",
               "uuid", "driver", "cuda", "cublas", "nvcc" }
-- Where a row has them: a finalist's process, another clock. Without them it has the mark it always had.
local MARK_TOO = { "process", "clock", "load" }

local function mark_of(row)
  local parts = {}
  for i, name in ipairs(MARK) do parts[i] = tostring(row[name]) end
  for _, name in ipairs(MARK_TOO) do
    if row[name] ~= nil then parts[#parts + 1] = name .. "=" .. tostring(row[name]) end
  end
  return host.sha256(table.concat(parts, "\t")):sub(1, 32)
end

-- Says, on the disk, that what `row` is about is measured now. Returns why it had better not be: it was in
-- flight too often when loom ended.
function Store:start(row)
  local mark = mark_of(row)
  return guarded(self.path, function()
    local sum = "SELECT ifnull(sum(starts), 0) AS n FROM started WHERE mark = ?"
    local before = self.db:rows(sum, { mark })[1].n
    if before >= STARTS then return string.format("loom ended %d times while it was measured", before) end
    self.db:run("INSERT INTO started VALUES (?, ?, ?, 1, strftime('%s', 'now')) "
                .. "ON CONFLICT(mark, run) DO UPDATE SET starts = starts + 1", { mark, row.run, row.key })
    return nil
  end)
end

-- It was given up by the user, or never launched: nothing is said against it.
function Store:unstart(row)
  guarded(self.path, function() return self.db:run("DELETE FROM started WHERE mark = ?", { mark_of(row) }) end)
end

local function run_name(self, id)
  if self.named ~= id then
    local run = self.db:rows("SELECT uid FROM runs WHERE id = ?", { id })[1]
    self.named, self.name = id, run and run.uid or ""
  end
  return self.name
end

-- Adds a row as it is, under the number of its run; false where its identity is there already.
function Store:insert(row)
  local names, marks, values = { "digest", "run" }, { "?", "?" }, { row.digest, row.run }
  for i = 2, #store_rows.names do
    local name = store_rows.names[i]
    if row[name] ~= nil then
      names[#names + 1], marks[#marks + 1], values[#values + 1] = name, "?", row[name]
    end
  end
  local sql = string.format("INSERT OR IGNORE INTO rows(%s) VALUES (%s)", table.concat(names, ", "),
                            table.concat(marks, ", "))
  return self.db:run(sql, values) > 0
end

local function add(self, row)
  local full, run = {}, run_name(self, row.run)
  for _, name in ipairs(store_rows.names) do full[name] = store_rows.stored(name, row[name]) end
  full.time, full.loom, full.schema = host.time() // 1, host.version, store.version
  full.digest = store_rows.digest(full, run)
  while not self:insert(full) do -- measured within a second of its equal, which is another row
    full.time = full.time + 1
    full.digest = store_rows.digest(full, run)
  end
end

-- Adds the rows of one measurement, all or none; `flight`, the row that was told to start(), is in flight no more.
function Store:add_all(rows, flight)
  guarded(self.path, function()
    transaction(self.db, function()
      for _, row in ipairs(rows) do add(self, row) end
      self.db:run("DELETE FROM started WHERE mark = ?", { mark_of(flight) })
    end)
  end)
end

-- Adds one measured row (a table of column = value; absent ones are NULL) at once.
function Store:add(row)
  self:add_all({ row }, row)
end

function Store:transaction(f)
  return guarded(self.path, function() return transaction(self.db, f) end)
end

local FILTERS = { "backend", "preset", "device", "uuid", "driver", "cuda", "cublas", "nvcc", "status", "run" }

-- SQL of the rows without another clock, and of those with the clock `name`; its value goes into `values`.
-- An older store has offline rows alone.
local function of_clock(self, values, name)
  if self.found < 4 then return name and "false" or "true" end
  if not name then return "clock IS NULL" end
  values[#values + 1] = name
  return "clock = ?"
end

-- SQL condition of `where` beside `cond`: FILTERS, `clock`, and `timed` (no rows of the CPU device); its values
-- go into `values`. Rows of kernels in the offline clock, unless `where` names another clock or the libraries'.
local function narrowed(self, cond, values, where)
  where = where or {}
  for _, name in ipairs(FILTERS) do
    if where[name] then
      cond = cond .. " AND " .. name .. " = ?"
      values[#values + 1] = where[name]
    end
  end
  cond = cond .. " AND " .. of_clock(self, values, where.clock)
  if not where.backend then cond = cond .. " AND backend IS NOT 'nvidia'" end
  return where.timed and cond .. " AND backend <> 'cpu'" or cond
end

-- The problems that have rows, in order.
function Store:problems(where)
  local values = {}
  local sql = "SELECT DISTINCT m AS M, n AS N, k AS K, layout, dtype, acc FROM rows WHERE "
              .. narrowed(self, "true", values, where) .. " ORDER BY m, n, k, layout, dtype, acc"
  return guarded(self.path, function() return self.db:rows(sql, values) end)
end

local same_problem = "m = ? AND n = ? AND k = ? AND layout = ? AND dtype = ? AND acc = ?"

-- The rows of the run that measured `problem` last, narrowed by `where`. One run has one device and one
-- set of versions, so these rows compare. Times decide: a run that was merged in is no newer than it was.
function Store:latest(problem, where)
  local values = { problem.M, problem.N, problem.K, problem.layout, problem.dtype, problem.acc }
  local cond = narrowed(self, same_problem, values, where)
  return guarded(self.path, function()
    local newest = " ORDER BY time DESC, run DESC LIMIT 1"
    local run = self.db:rows("SELECT run FROM rows WHERE " .. cond .. newest, values)[1]
    if not run then return {} end
    values[#values + 1] = run.run
    -- By time first: rows that were imported lie in the order of their keys.
    local sql = "SELECT * FROM rows WHERE " .. cond .. " AND run = ? ORDER BY time, rowid"
    local rows = self.db:rows(sql, values)
    for _, row in ipairs(rows) do row.digest = nil end -- the store's own business
    return rows
  end)
end

-- The runs that have such rows of `problem`, by their newest one, the latest first.
function Store:runs(problem, where)
  local values = { problem.M, problem.N, problem.K, problem.layout, problem.dtype, problem.acc }
  local sql = "SELECT run FROM rows WHERE " .. narrowed(self, same_problem, values, where)
              .. " GROUP BY run ORDER BY max(time) DESC, run DESC"
  return guarded(self.path, function()
    local rows = self.db:rows(sql, values)
    for i, row in ipairs(rows) do rows[i] = row.run end
    return rows
  end)
end

-- All rows that `where` allows, oldest first, each with its number `id`.
function Store:history(where)
  local values = {}
  local sql = "SELECT rowid AS id, * FROM rows WHERE " .. narrowed(self, "true", values, where)
              .. " ORDER BY time, run, rowid"
  return guarded(self.path, function() return self.db:rows(sql, values) end)
end

-- All rows of a size with its types, in any layout, that `where` allows, oldest first.
function Store:of_size(problem, where)
  local values = { problem.M, problem.N, problem.K, problem.dtype, problem.acc }
  local cond = narrowed(self, "m = ? AND n = ? AND k = ? AND dtype = ? AND acc = ?", values, where)
  return guarded(self.path, function()
    return self.db:rows("SELECT * FROM rows WHERE " .. cond .. " ORDER BY time, run, rowid", values)
  end)
end

-- What was timed of one text of a key, problem by problem, the last added last.
function Store:timed_rows(key, source)
  local values = { key, source }
  local sql = "SELECT * FROM rows WHERE key = ? AND source = ? AND status = 'ok' AND us IS NOT NULL AND "
              .. of_clock(self, values) .. " ORDER BY m, n, k, rowid"
  return guarded(self.path, function() return self.db:rows(sql, values) end)
end

-- These columns of the offline rows that have the values in `same`, a list of {column, value or nil}, in the
-- order they were added; `cond` is more SQL.
function Store:sharing(same, columns, cond)
  local values, parts = {}, { cond or "true" }
  for _, pair in ipairs(same) do
    parts[#parts + 1] = pair[1] .. (pair[2] == nil and " IS NULL" or " = ?")
    values[#values + 1] = pair[2]
  end
  parts[#parts + 1] = of_clock(self, values)
  local sql = string.format("SELECT %s FROM rows WHERE %s ORDER BY rowid", columns, table.concat(parts, " AND "))
  return guarded(self.path, function() return self.db:rows(sql, values) end)
end

function Store:close()
  self.db:close()
end

return store
