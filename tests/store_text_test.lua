-- Exports, imports and merges of stores: the same rows are the same bytes, and nothing broken gets in.

local kit = require "store_kit"
local sh = require "tests_sh"
local store = require "store"
local store_rows = require "store_rows"
local text_ = require "store_text"

local dir = sh.tmpdir "store text"
local has, loom = kit.has, kit.loom

local function at(name) return dir .. "/" .. name end

-- Two stores of two GPUs, with a run each; `both` is where they are joined.
local function two()
  kit.made(at "a.db", { "k1", "k2", "k3" })
  kit.made(at "b.db", { "k2", "k4" }, { uuid = "GPU-2", nvcc = "13.1" })
  kit.remove(at "ab.db")
  kit.remove(at "ba.db")
end

local function export(name, to)
  local code, said = loom("store", "export", at(to), "STORE=" .. at(name))
  assert(code == 0, said)
  return kit.read(at(to)), said
end

local function merge(into, ...)
  local argv = { "store", "merge", "STORE=" .. at(into) }
  for _, name in ipairs { ... } do argv[#argv + 1] = at(name) end
  return loom(table.unpack(argv))
end

-- A text that was measured later in a run is the later one in a copy too.
local function order_of_time()
  kit.remove(at "now.db")
  kit.remove(at "copy.db")
  local st, now, seconds = store.open(at "now.db"), host.time, 1700000000
  host.time = function() return seconds end
  local run = st:new_run()
  st:add(kit.row(run, "a", 1.1, { pass = 4 }))
  seconds = seconds + 5
  st:add(kit.row(run, "a", 1.3, { pass = 1, source = "changed" }))
  host.time = now
  local copy = store.open(at "copy.db")
  text_.add(copy, text_.parse(text_.of(text_.read(st).rows), "text"))
  for _, s in ipairs { st, copy } do
    local rows = s:latest(kit.problem, {})
    assert(#rows == 2 and rows[2].source == "changed", rows[2].source)
    s:close()
  end
end

local function any_order()
  two()
  assert(merge("ab.db", "a.db", "b.db") == 0 and merge("ba.db", "b.db", "a.db") == 0)
  local one = export("ab.db", "ab.gz")
  assert(one == export("ba.db", "ba.gz") and one == export("ba.db", "again.gz"), "the bytes differ")
  local lines = kit.lines(at "ab.gz")
  assert(#lines == 6 and lines[1] == store_rows.head() and lines[1]:find("^digest\trun\ttime\tloom\tm\t"))
  local keys = {}
  for i = 2, #lines do keys[i - 1] = lines[i]:match("\tGPU%-%d") .. lines[i]:match("\tk%d") end
  assert(table.concat(keys) == "\tGPU-1\tk1\tGPU-1\tk2\tGPU-1\tk3\tGPU-2\tk2\tGPU-2\tk4", table.concat(keys))
  assert(one:sub(1, 10) == "\31\139\8\0\0\0\0\0\2\255", "neither a time nor a system is in the header")
end

-- Rows that differ in what is not sorted by, and in kind, have an order too.
local function any_order_of_rows()
  local text
  for _, order in ipairs { { 1, 2, 3, 4 }, { 4, 3, 2, 1 }, { 2, 4, 1, 3 } } do
    local all = { kit.row(1, "k", 0.9), kit.row(1, "k", 0.8), kit.row(1, "k", 0.9, { m = 64 }), kit.row(1, "k", 0.9) }
    all[4].key = nil
    local rows = {}
    for i, at_ in ipairs(order) do rows[i] = all[at_] end
    for _, row in ipairs(rows) do
      row.run_uid, row.time, row.digest = "r", 1, store_rows.digest(row, "r")
    end
    text = text or text_.of(rows)
    assert(text_.of(rows) == text)
  end
  assert(text:find("^[^\n]*\n%x+\tr\t1\t\t64\t"), "numbers are in the order of numbers")
end

local function idempotent()
  two()
  merge("ab.db", "a.db", "b.db")
  local before = export("ab.db", "ab.gz")
  local code, said = merge("ab.db", "b.db", "ab.gz", "a.db")
  assert(code == 0, said)
  has(said, "b.db: 2 rows, 0 of them new", "ab.gz: 5 rows, 0 of them new", "a.db: 3 rows, 0 of them new")
  assert(export("ab.db", "ab2.gz") == before and kit.keys(at "ab.db") == "k1 k2 k3 k2 k4")
  code, said = merge("ab.db", "ab.db")
  assert(code == 0, said)
  has(said, "5 rows, 0 of them new")
end

local function any_locale()
  two()
  local one = export("a.db", "a.gz")
  local code, said = kit.shell('for l in C C.UTF-8 de_DE.UTF-8; do LC_ALL=$l TZ=Asia/Tokyo "$0" store export "$1.$l" '
                               .. 'STORE="$2" || exit 1; done', at "l", at "a.db")
  assert(code == 0, said)
  for _, name in ipairs { "C", "C.UTF-8", "de_DE.UTF-8" } do assert(kit.read(at("l." .. name)) == one, name) end
end

local function round_trip()
  kit.remove(at "odd.db")
  kit.remove(at "back.db")
  local st = store.open(at "odd.db")
  local run = st:new_run()
  local odd = { why = "tab\there\nand\r100%25 \0 \xff", warnings = "", regs = 168, us = 0.1 + 0.2, us_pdl = 1e-300,
                checked = 1 << 53, blocks = 8.0, ratio_nn = 1 / 3, throttled = true, drift = -0.0, cublas_math = 7 }
  st:add(kit.row(run, "odd", 0.9, odd))
  st:close()
  local bytes = export("odd.db", "odd.gz")
  assert(loom("store", "import", at "odd.gz", "STORE=" .. at "back.db") == 0)
  assert(export("back.db", "back.gz") == bytes)
  st = store.open(at "back.db")
  local row = st:latest(kit.problem)[1]
  st:close()
  for _, name in ipairs { "why", "warnings", "regs", "us", "us_pdl", "checked", "ratio_nn" } do
    assert(row[name] == odd[name], name)
  end
  assert(row.cublas_math == "7" and row.throttled == 1 and row.drift == 0 and row.spills == nil and row.blocks == 8)
  local code, said = loom("store", "verify", "STORE=" .. at "back.db")
  assert(code == 0, said)
end

-- Another zlib packs otherwise: a file that holds these rows stays.
local function left_alone()
  two()
  export("a.db", "a.gz")
  assert(kit.shell('gzip -dc "$1" | gzip -1 > "$1.new" && mv "$1.new" "$1"', at "a.gz") == 0)
  local other = kit.read(at "a.gz")
  local bytes, said = export("a.db", "a.gz")
  assert(bytes == other, "the file was replaced")
  has(said, "3 rows in ", ", as before")
end

-- What import says of a changed export; nothing of it may be in the store.
local function refused(change, ...)
  two()
  export("a.db", "a.gz")
  local text = table.concat(kit.lines(at "a.gz"), "\n") .. "\n"
  host.write(at "bad", change(text, kit.read(at "a.gz")))
  for _, exists in ipairs { false, true } do
    if exists then kit.made(at "into.db", { "mine" }) else kit.remove(at "into.db") end
    local code, said = loom("store", "import", at "bad", "STORE=" .. at "into.db")
    assert(code == 1, said)
    has(said, ...)
    assert(exists and kit.keys(at "into.db") == "mine" or not exists and not host.stat(at "into.db"), "a row was taken")
  end
end

local function bad_files()
  refused(function(_, gz) return gz:sub(1, -9) end, "cannot be unpacked: it is cut off")
  refused(function(_, gz) return gz:sub(1, 60) .. "\0\0\0\0" .. gz:sub(65) end, "cannot be unpacked: ")
  refused(function(text) return text:sub(1, -2) end, "no export of a store, or it is cut off")
  refused(function(text) return (text:gsub("\t1755\t", "\t1756\t", 1)) end, ":2: the row is damaged")
  refused(function(text) return (text:gsub("\tk3\t", "\tk9\t", 1)) end, ":4: the row is damaged")
  refused(function(text) return (text:gsub("\t1755\t", "\t0x6db\t", 1)) end, ":2: '0x6db' is no clock_mhz")
  refused(function(text) return (text:gsub("\t1755\t", "\t1755.0\t", 1)) end, ":2: '1755.0' is no clock_mhz")
  refused(function(text) return (text:gsub("\n$", "\t\n")) end, ":4: more cells than columns")
  refused(function(text) return (text:gsub("\t\n$", "\n")) end, ":4: fewer cells than columns")
  refused(function(text) return (text:gsub("\tcuda\t", "\tmagic\t", 1)) end, ":1: the column 'magic' is unknown")
  refused(function(text) return (text:gsub("\tloom\t", "\twhy\t", 1)) end, "no column 'loom'")
  refused(function() return "hello\n" end, ":1: the column 'hello' is unknown")
  refused(function() return "" end, "is empty")
end

-- A newer loom's row is refused by its schema, whatever its digest.
local function newer_rows()
  refused(function(text)
    local head, first, rest = text:match("^([^\n]*)\n([^\n]*)\n(.*)$")
    local i, column = 0, 0
    for name in head:gmatch("[^\t]+") do
      i = i + 1
      if name == "schema" then column = i end
    end
    i = 0
    first = (first .. "\t"):gsub("([^\t]*)\t", function()
      i = i + 1
      return i == column and "5\t" or nil
    end):sub(1, -2)
    return head .. "\n" .. first .. "\n" .. rest
  end, ":2: the row has schema 5, this loom knows 4")
end

local function plain_text()
  two()
  local bytes = export("a.db", "a.gz")
  host.write(at "a.tsv", assert(host.gunzip(bytes, 1 << 20)))
  kit.remove(at "into.db")
  local code, said = loom("store", "import", at "a.tsv", "STORE=" .. at "into.db")
  assert(code == 0, said)
  assert(export("into.db", "into.gz") == bytes)
end

-- All files before the one that is refused are in, and that one not in part.
local function merge_stops()
  two()
  host.write(at "none", "nothing\n")
  local code, said = merge("ab.db", "a.db", "none", "b.db")
  assert(code == 1, said)
  has(said, "a.db: 3 rows, 3 of them new", "none:1: ")
  assert(kit.keys(at "ab.db") == "k1 k2 k3")
  code, said = merge("ab.db", "nowhere.db")
  assert(code == 1, said)
  has(said, "cannot open '", "nowhere.db'")
end

local function newest_decides()
  two()
  local st = store.open(at "b.db")
  st.db:exec("UPDATE rows SET time = time - 1000; UPDATE runs SET time = time - 1000")
  for _, row in ipairs(st.db:rows("SELECT rows.rowid AS at, rows.*, runs.uid AS name FROM rows JOIN runs ON runs.id = run", {})) do
    st.db:run("UPDATE rows SET digest = ? WHERE rowid = ?", { store_rows.digest(row, row.name), row.at })
  end
  st:close()
  assert(merge("a.db", "b.db") == 0)
  st = store.open(at "a.db")
  local rows = st:latest(kit.problem)
  assert(#rows == 3 and rows[1].uuid == "GPU-1", "an older run that was merged in is not the latest")
  rows = st:latest(kit.problem, { uuid = "GPU-2" })
  assert(#rows == 2 and rows[1].nvcc == "13.1")
  assert(#st:latest(kit.problem, { uuid = "GPU-2", nvcc = "none" }) == 0 and #st:problems { uuid = "GPU-3" } == 0)
  st:close()
end

local function old_versions()
  local text
  for version = 1, 2 do
    kit.old(at "old.db", version)
    kit.old(at "copy.db", version)
    local bytes = kit.read(at "old.db")
    local asis = export("old.db", "old.gz")
    assert(kit.read(at "old.db") == bytes, "reading does not upgrade")
    text = text or asis
    assert(asis == text and #kit.lines(at "old.gz") == 4, "what stands twice is one row")
    local st = store.open(at "old.db")
    assert(st.db:rows("PRAGMA user_version", {})[1].user_version == 4)
    assert(#st:latest(kit.problem) == 1 and st:latest(kit.problem)[1].key == "c")
    st:add(kit.row(st:new_run(), "new", 0.9))
    st:close()
    local code, said = merge("old.db", "copy.db")
    assert(code == 0, said)
    has(said, "3 rows, 0 of them new")
    assert(kit.keys(at "old.db") == "a b c new")
    assert(loom("store", "verify", "STORE=" .. at "old.db") == 0)
  end
end

local function wrong_words()
  for _, case in ipairs { { "verb 'store' wants", "store" }, { "did you mean 'merge'", "store", "merg" },
    { "store merge wants files", "store", "merge" }, { "store export wants one file", "store", "export", "a", "b" },
    { "store verify wants no file", "store", "verify", "x" }, { "does not read the knob 'N'", "store", "verify", "N=1" } } do
    local code, said = loom(table.unpack(case, 2))
    assert(code == 2, said)
    has(said, case[1])
  end
  local code, said = loom("store", "export", at "x.gz", "STORE=" .. at "not here.db")
  assert(code == 1 and not host.stat(at "not here.db"))
  has(said, "no store at '")
  code, said = loom("store", "export", at "no" .. "/folder\1/x", "STORE=" .. kit.made(at "a.db", { "k" }))
  assert(code == 0, said) -- folders are made
  host.write(at "file", "x")
  code, said = loom("store", "export", at "file/x.gz", "STORE=" .. at "a.db")
  assert(code == 1, said)
  has(said, "cannot write '")
end

-- Every prefix of a packed text is refused, and so is every one with a byte changed.
local function gzip_bytes()
  local text = ("row of a store\t1.5\n"):rep(50) .. "end"
  local bytes = host.gzip(text)
  assert(host.gunzip(bytes, #text) == text and host.gunzip(bytes .. bytes, 1 << 20) == text .. text)
  assert(host.gunzip(host.gzip "", 1) == "")
  for i = 0, #bytes - 1 do assert(not host.gunzip(bytes:sub(1, i), 1 << 20), i) end
  for i = 1, #bytes do
    local got = host.gunzip(bytes:sub(1, i - 1) .. string.char(bytes:byte(i) ~ 0x40) .. bytes:sub(i + 1), 1 << 20)
    assert(not got or got == text, i)
  end
  local got, why = host.gunzip(bytes, 100)
  assert(not got and why == "it unpacks to too much", why)
  local big = text:rep(5000)
  assert(host.gunzip(host.gzip(big), 1 << 30) == big)
end

return {
  { name = "a copy has the rows of a run in the order of time", run = order_of_time },
  { name = "an export has the same bytes after merges in any order", run = any_order },
  { name = "rows have one order, whatever they came in", run = any_order_of_rows },
  { name = "a merge that is done again adds nothing", run = idempotent },
  { name = "an export has the same bytes in any locale", run = any_locale },
  { name = "rows come back from an export as they were", run = round_trip },
  { name = "an export that holds these rows is left alone", run = left_alone },
  { name = "a broken export is refused, and nothing of it is taken", run = bad_files },
  { name = "rows of a newer schema are refused", run = newer_rows },
  { name = "an unpacked export is read too", run = plain_text },
  { name = "a merge stops at the file that it refuses", run = merge_stops },
  { name = "the latest run is the latest in time, and may be asked for by GPU", run = newest_decides },
  { name = "stores of versions 1 and 2 are read as they are, and upgraded by who writes", run = old_versions },
  { name = "what store cannot do is said in one line", run = wrong_words },
  { name = "gzip and gunzip: texts come back, cuts and flips are refused", run = gzip_bytes },
}
