-- verbs_store: the verb `store`: merge, export, import, verify.

local fail = require "fail"
local knobs = require "knobs"
local outdir = require "outdir"
local store = require "store"
local store_rows = require "store_rows"
local tab = require "tab"
local text_ = require "store_text"

local verbs = {}

local SHOWN = 10 -- flaws that are listed

-- ------------------------------------------------------------------------------- merge, import, export

local function take(files, opt)
  local path = outdir.store(opt)
  local into
  for _, file in ipairs(files) do
    local rows = text_.rows_of(file) -- first: a file that is refused makes no store
    into = into or store.open(path)
    local added = text_.add(into, rows)
    host.out(string.format("%s: %d rows, %d of them new\n", outdir.shown(file), #rows, added))
  end
  into:close()
  return 0
end

local function say_damage(read, shown)
  if read.lost == 0 and #read.odd == 0 then return 0 end
  host.err(string.format("loom: the store '%s' is damaged: %d rows can be read, %d pages or rows cannot, "
                         .. "%d are not what was written\n", shown, #read.rows, read.lost, #read.odd))
  return 1
end

local function of_backend(rows, backend)
  if not backend then return rows end
  local out = {}
  for _, row in ipairs(rows) do
    if row.backend == backend then out[#out + 1] = row end
  end
  return out
end

-- What can be read of a damaged store is written too, and the exit code says that it is not all.
local function export(files, opt)
  local st = store.reader(outdir.store(opt))
  local read = text_.read(st)
  st:close()
  local rows = of_backend(read.rows, opt.backend)
  local changed = text_.write(files[1], rows)
  host.out(string.format("%d rows in %s%s\n", #rows, outdir.shown(files[1]),
                         changed and "" or ", as before"))
  return say_damage(read, outdir.shown(outdir.store(opt)))
end

-- ------------------------------------------------------------------------------- verify

local columns = { "device", "uuid", "driver", "cuda", "cublas", "nvcc", "backend", "rows", "ok", "problems" }

local function text_of(row, names)
  local out = {}
  for i, name in ipairs(names) do out[i] = tostring(row[name]) end
  return table.concat(out, "\0")
end

-- Rows by what they were measured with.
local function groups_of(rows)
  local by_name, list = {}, {}
  for _, row in ipairs(rows) do
    local name = text_of(row, { "device", "uuid", "driver", "cuda", "cublas", "nvcc", "backend" })
    local group = by_name[name]
    if not group then
      group = { rows = 0, ok = 0, problems = 0, name = name, seen = {} }
      for i = 1, 7 do group[columns[i]] = row[columns[i]] or "-" end
      by_name[name], list[#list + 1] = group, group
    end
    local problem = text_of(row, { "m", "n", "k", "layout", "dtype", "acc" })
    group.rows = group.rows + 1
    group.ok = group.ok + (row.status == "ok" and 1 or 0)
    group.problems = group.problems + (group.seen[problem] and 0 or 1)
    group.seen[problem] = true
  end
  table.sort(list, function(x, y) return x.name < y.name end)
  return list
end

local function flaws_of(read)
  local odd = table.move(read.odd, 1, #read.odd, 1, {})
  for _, row in ipairs(read.rows) do
    local why = store_rows.flaw(row)
    if why then odd[#odd + 1] = { at = row.at, why = why } end
  end
  return odd
end

local function say_flaws(odd, problems)
  for i, line in ipairs(problems) do
    if i <= SHOWN then host.err("database: " .. line .. "\n") end
  end
  for i, flaw in ipairs(odd) do
    if i <= SHOWN then host.err(string.format("row %d: %s\n", flaw.at, flaw.why)) end
  end
  if #odd > SHOWN then host.err(string.format("... and %d more rows\n", #odd - SHOWN)) end
end

-- What SQLite finds wrong with the file, lines.
local function integrity(st)
  local ok, found = pcall(st.db.rows, st.db, "PRAGMA integrity_check(20)", {})
  if not ok then return { tostring(found):match("db '[^']*': (.*)$") or tostring(found) } end
  local out = {}
  for _, row in ipairs(found) do
    for line in row.integrity_check:gmatch("[^\n]+") do
      if line ~= "ok" then out[#out + 1] = line end
    end
  end
  return out
end

local function in_flight(st)
  if st.found < 3 then return 0 end
  local ok, found = pcall(st.db.rows, st.db, "SELECT count(*) AS n FROM started", {})
  return ok and found[1].n or 0
end

local function verify(_, opt)
  local path = outdir.store(opt)
  local st = store.reader(path)
  local problems, flying = integrity(st), in_flight(st)
  local read = text_.read(st)
  local odd, found = flaws_of(read), st.found
  st:close()
  say_flaws(odd, problems)
  local groups = groups_of(read.rows)
  if #groups > 0 then host.out(tab.format(groups, columns)) end
  host.out(string.format("store: %s, schema %d\nrows: %d count\nodd_rows: %d count\nin_flight: %d count\n",
                         outdir.shown(path), found, #read.rows, #odd, flying))
  local whole = say_damage(read, outdir.shown(path)) == 0
  return whole and #odd == 0 and #problems == 0 and 0 or 1
end

-- ------------------------------------------------------------------------------- the verb

-- What `store` can do: how many files it wants, and the function.
local ACTIONS = {
  merge = { 1, math.maxinteger, take }, import = { 1, 1, take }, export = { 1, 1, export },
  verify = { 0, 0, verify },
}
local NAMES = { "merge", "export", "import", "verify" }

-- Words of the command line: an action, its files, and knobs.
function verbs.store(argv)
  local files, settings = {}, {}
  for _, word in ipairs(argv) do
    local list = word:find("^%u+=") and settings or files
    list[#list + 1] = word
  end
  local name = table.remove(files, 1)
  if not name then fail.usage("verb 'store' wants merge FILE..., export FILE, import FILE or verify") end
  local action = ACTIONS[name]
  if not action then
    fail.usage(string.format("store: '%s' is none of %s%s", name, table.concat(NAMES, ", "), fail.near(name, NAMES)))
  end
  if #files < action[1] or #files > action[2] then
    fail.usage(string.format("store %s wants %s", name, action[1] == 0 and "no file"
                             or action[2] == 1 and "one file" or "files"))
  end
  local opt = knobs.parse("store", settings)
  if opt.backend and name ~= "export" then fail.usage("BACKEND is for store export") end
  return action[3](files, opt)
end

return verbs
