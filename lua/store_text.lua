-- store_text: rows of a store as text, and back: export, import, merge.
--
-- An export is gzip of lines: the first names the columns, each of the others is one row with its identity
-- and the schema it was written with, sorted by what was measured. The same rows give the same
-- bytes, whatever order they came in; an export that holds them already is left alone, because
-- another zlib packs otherwise. Merging adds the rows whose identity is not there yet.

local fail = require "fail"
local outdir = require "outdir"
local store = require "store"
local store_rows = require "store_rows"

local text_ = { max = 4 << 30 } -- bytes of an export, unpacked

-- ------------------------------------------------------------------------------- rows of a store

local function damaged(err)
  err = tostring(err)
  return err:find("malformed", 1, true) or err:find("disk I/O error", 1, true)
end

-- Numbers of a table's rows up to the last: SQLite may not find that one.
local function last_number(db, tab, path)
  local ok, found = pcall(db.rows, db, string.format("SELECT max(rowid) AS n FROM %s", tab), {})
  return ok and (found[1].n or 0) or host.stat(path).size // 16
end

-- Hands every row that can be read to f, one by one by its number; the numbers of the others are counted.
local function salvage(st, tab, f)
  local lost = 0
  local sql = string.format("SELECT rowid AS at, * FROM %s WHERE rowid = ?", tab)
  for at = 1, last_number(st.db, tab, st.path) do
    local ok, found = pcall(st.db.rows, st.db, sql, { at })
    if ok and found[1] then f(found[1]) end
    if not ok then lost = lost + 1 end
  end
  return lost
end

-- Hands every row of the table to f, in order; the number of those that cannot be read, 0 in a sound store.
-- What f had of a table that turns out to be damaged it gets again: again() is called before.
local function every(st, tab, f, again)
  local ok, err = pcall(function()
    local sql = string.format("SELECT rowid AS at, * FROM %s ORDER BY rowid", tab)
    for row in st.db:each(sql, {}) do f(row) end
  end)
  if ok then return 0 end
  if not damaged(err) then error(err, 0) end
  again()
  return math.max(1, salvage(st, tab, f))
end

-- Names of the runs by their numbers.
local function run_names(st)
  local uids = {}
  local lost = every(st, "runs", function(run)
    uids[run.id] = run.uid
    if not run.uid then
      local sql = "SELECT * FROM rows WHERE run = ? ORDER BY rowid LIMIT 1"
      local ok, found = pcall(st.db.rows, st.db, sql, { run.id })
      uids[run.id] = store.old_run(run, ok and found[1])
    end
  end, function() uids = {} end)
  return uids, lost
end

-- All rows that are what they were when they were written: {rows = each with digest and run_uid; lost =
-- numbers that cannot be read; odd = {number, why} of rows that changed since}.
function text_.read(st)
  return store.guarded(st.path, function()
    local out = { rows = {}, odd = {}, lost = 0 }
    local uids, lost = run_names(st)
    local seen = {}
    out.lost = lost + every(st, "rows", function(row)
      row.run_uid = uids[row.run] or ""
      local digest = store_rows.digest(row, row.run_uid)
      if row.digest and row.digest ~= digest then
        out.odd[#out.odd + 1] = { at = row.at, why = "it is not what was written" }
      elseif not seen[digest] then
        row.digest, seen[digest] = digest, true
        out.rows[#out.rows + 1] = row
      end
    end, function() out.rows, out.odd, seen = {}, {}, {} end)
    return out
  end)
end

-- ------------------------------------------------------------------------------- export

local ORDER = { "m", "n", "k", "layout", "dtype", "acc", "device", "uuid", "driver", "cuda", "cublas", "nvcc",
                "backend", "preset", "key", "pass", "time" }

local function rank_of(v)
  return v == nil and 0 or type(v) == "number" and 1 or 2
end

-- Nothing first, then numbers, then texts by their bytes. The identity decides between equals.
local function before(x, y)
  for _, name in ipairs(ORDER) do
    local a, b = x[name], y[name]
    if a ~= b then
      if rank_of(a) ~= rank_of(b) then return rank_of(a) < rank_of(b) end
      return a < b
    end
  end
  return x.digest < y.digest
end

-- The text of these rows.
function text_.of(rows)
  table.sort(rows, before)
  local lines = { store_rows.head() }
  for i, row in ipairs(rows) do lines[i + 1] = store_rows.line(row, row.run_uid) end
  lines[#lines + 1] = ""
  return table.concat(lines, "\n")
end

local GZIP = "\x1f\x8b"

-- The text of an export; a plain one is fine too.
local function unpacked(bytes)
  if bytes:sub(1, 2) ~= GZIP then return bytes end
  return host.gunzip(bytes, text_.max)
end

-- Writes rows to `path`; true where the file changed.
function text_.write(path, rows)
  local text, old = text_.of(rows), host.read(path)
  if old and old:sub(1, 2) == GZIP and unpacked(old) == text then return false end
  local wrote, err = host.write(path, host.gzip(text))
  if wrote == nil then fail(err) end
  return wrote
end

-- ------------------------------------------------------------------------------- import

local function refuse(shown, number, why)
  fail(string.format("%s:%d: %s: nothing of this file is taken", shown, number, why))
end

local function head_of(line, shown)
  local names, known = {}, {}
  for name in (line .. "\t"):gmatch("([^\t]*)\t") do
    if name ~= "digest" and not store_rows.has(name) then
      refuse(shown, 1, string.format("the column '%s' is unknown: a newer loom's, or no export", name:sub(1, 40)))
    end
    names[#names + 1], known[name] = name, true
  end
  for _, name in ipairs { "digest", "run", "time", "loom" } do
    if not known[name] then refuse(shown, 1, "no export of a store: no column '" .. name .. "'") end
  end
  return names
end

local function checked(row, why, shown, number)
  if not row then refuse(shown, number, why) end
  if (row.schema or 0) > store.version then
    refuse(shown, number, string.format("the row has schema %d, this loom knows %d", row.schema, store.version))
  end
  row.run_uid = row.run
  if not row.run or row.digest ~= store_rows.digest(row, row.run) then refuse(shown, number, "the row is damaged") end
  return row
end

-- The rows of an export.
function text_.parse(bytes, shown)
  local text, why = unpacked(bytes)
  if not text then fail(string.format("'%s' cannot be unpacked: %s: nothing of it is taken", shown, why)) end
  if text:sub(-1) ~= "\n" then fail(string.format("'%s' is no export of a store, or it is cut off", shown)) end
  local rows, names, number = {}, nil, 0
  for line in text:gmatch("([^\n]*)\n") do
    number = number + 1
    if not names then
      names = head_of(line, shown)
    else
      local row, flaw = store_rows.parse(line, names)
      rows[#rows + 1] = checked(row, flaw, shown, number)
    end
  end
  return rows
end

-- Adds rows to a store, all or none: how many were new.
function text_.add(st, rows)
  local added = 0
  st:transaction(function()
    for _, row in ipairs(rows) do
      row.run = st:run_of(row.run_uid, row.time)
      if st:insert(row) then added = added + 1 end
    end
  end)
  return added
end

-- ------------------------------------------------------------------------------- merge

local function rows_of_store(path)
  local st = store.reader(path)
  local read = text_.read(st)
  st:close()
  if read.lost > 0 or #read.odd > 0 then
    fail(string.format("the store '%s' is damaged: export what can be read of it, then merge the export",
                       outdir.shown(path)))
  end
  return read.rows
end

-- The rows of a file, a store or an export.
function text_.rows_of(path)
  local st = host.stat(path)
  if st and st.file and st.size == 0 then fail(string.format("'%s' is empty", outdir.shown(path))) end
  local bytes, err = host.read(path)
  if not bytes then fail(err) end
  if bytes:sub(1, 15) == "SQLite format 3" then return rows_of_store(path) end
  return text_.parse(bytes, outdir.shown(path))
end

return text_
