-- Stores in trouble: damaged, cut off, read-only, full, newer, shared, killed. A clear line, and what was
-- there stays readable.

local kill = require "kill_kit"
local kit = require "store_kit"
local sh = require "tests_sh"
local store = require "store"

local dir = sh.tmpdir "store fault"
local path = dir .. "/store.db"
local has, loom, refusal = kit.has, kit.loom, kit.refusal

local function many(count)
  local keys = {}
  for i = 1, count do keys[i] = string.format("k%04d", i) end
  return keys
end

local function verify(want, ...)
  local code, said = loom("store", "verify", "STORE=" .. path)
  assert(code == want, said)
  has(said, ...)
  return said
end

-- ------------------------------------------------------------------------------- damage

local function overwrite(at, bytes)
  local text = kit.read(path)
  assert(host.write(path, text:sub(1, at) .. bytes .. text:sub(at + #bytes + 1)))
end

-- The pages that hold rows, by SQLite's own account where it has one; else by what stands in them.
local function page_with(text)
  local bytes, size = kit.read(path), 4096
  for page = 1, #bytes // size - 1 do
    local body = bytes:sub(page * size + 1, page * size + size)
    if body:byte(1) == 13 and body:find(text, 1, true) then return page end
  end
  error "no such page"
end

local function corrupted_page()
  kit.made(path, many(100))
  overwrite(page_with "sk0050" * 4096, ("\xff\x00\x55"):rep(1365))
  local said = verify(1, "is damaged: ", "database: ", "rows can be read")
  local left = tonumber(said:match("\nrows: (%d+) count"))
  assert(left > 50 and left < 100, said)
  local code, note = loom("store", "export", dir .. "/left.gz", "STORE=" .. path)
  assert(code == 1, note)
  has(note, left .. " rows in ", "is damaged")
  kit.remove(dir .. "/new.db")
  code, note = loom("store", "import", dir .. "/left.gz", "STORE=" .. dir .. "/new.db")
  assert(code == 0, note)
  has(note, left .. " rows, " .. left .. " of them new")
  code, note = loom("store", "merge", path, "STORE=" .. dir .. "/new.db")
  assert(code == 1, note)
  has(note, "is damaged: export what can be read of it, then merge the export")
  code, note = loom("rank", "STORE=" .. path)
  assert(code == 1, note)
  has(note, "it is damaged: `loom store verify` says what can be read, if anything")
end

-- Bytes that SQLite cannot know to be wrong.
local function changed_bytes()
  kit.made(path, many(3))
  overwrite(select(1, kit.read(path):find("sk0002h200", 1, true)) + 1, "x")
  verify(1, "it is not what was written", "2 rows can be read", "odd_rows: 1 count")
  local code = loom("store", "export", dir .. "/left.gz", "STORE=" .. path)
  assert(code == 1 and #kit.lines(dir .. "/left.gz") == 3)
end

local function truncated()
  kit.made(path, many(100))
  local bytes = kit.read(path)
  assert(host.write(path, bytes:sub(1, #bytes // 8192 * 4096)))
  verify(1, "is damaged: ")
  local code, said = loom("bench", "SHAPE=512x512x512", "BACKEND=fake", "N=2", "OUT=" .. dir, "STORE=" .. path)
  assert(code == 1, said)
  has(said, "cannot use the store '", "malformed")
  assert(host.write(path, bytes:sub(1, 50)))
  code, said = loom("store", "verify", "STORE=" .. path)
  assert(code == 1, said)
  has(said, "cannot use the store '", "malformed")
end

local function nothing_in_it()
  kit.remove(path)
  host.write(path, "")
  verify(0, "rows: 0 count")
  assert(host.stat(path).size == 0, "looking does not write")
  host.write(path .. "-wal", ("log"):rep(1000))
  local said = refusal(store.open, path)
  has(said, "is empty, and its log '", "the store was cut off")
  assert(refusal(store.reader, path) == said and host.stat(path .. "-wal").size == 3000, "the log stays")
  kit.remove(path)
  host.write(path, "")
  store.open(path):close()
  assert(kit.keys(path) == "")
end

local function something_else()
  kit.remove(path)
  local db = host.db(path)
  db:exec "CREATE TABLE recipes(name TEXT)"
  db:close()
  has(refusal(store.open, path), "is a database, and no store: say STORE=file")
  has(refusal(store.open, dir), "is a folder")
end

local function newer()
  kit.made(path, many(3))
  local db = host.db(path)
  db:exec "PRAGMA user_version = 5"
  db:close()
  local bytes = kit.read(path)
  for _, words in ipairs { { "store", "verify" }, { "store", "export", dir .. "/x.gz" }, { "rank" },
    { "bench", "SHAPE=512x512x512", "BACKEND=fake", "N=2", "OUT=" .. dir } } do
    words[#words + 1] = "STORE=" .. path
    local code, said = loom(table.unpack(words))
    assert(code == 1, said)
    has(said, "has schema 5, this loom knows 4: use a newer loom")
  end
  local code, said = loom("store", "merge", path, "STORE=" .. dir .. "/into.db")
  assert(code == 1 and not host.stat(dir .. "/into.db"), said)
  has(said, "has schema 5")
  assert(kit.read(path) == bytes, "the store of a newer loom was changed")
end

local function odd_rows()
  kit.made(path, many(2))
  local st = store.open(path)
  local run = st:new_run()
  st:add(kit.row(run, "inf", 0.9, { us_pdl = math.huge }))
  st:add(kit.row(run, "nan", 0.9, { us = 0 / 0 }))
  st:add(kit.row(run, "empty", 0.9, { ratio_lo = 2.0 }))
  st:add(kit.row(run, "zero", 0.9, { us = 0.0 }))
  st:add(kit.row(run, "nobody", 0.9, { driver = "" }))
  st:add(kit.row(run, "gpu", 0.9, { backend = "cuda" }))
  st:add(kit.row(run, "failed", 0.9, { backend = "cuda", status = "build", us = 0 / 0, why = "no" }))
  st:close()
  verify(1, "row 3: us_pdl is not finite", "row 4: it has no us\n", "row 5: its interval is empty",
         "row 6: us is not above 0", "row 7: it has no driver", "row 8: it has no cubin", "rows: 9 count",
         "odd_rows: 6 count")
end

-- ------------------------------------------------------------------------------- nothing can be written

-- Runs a script as somebody who is not root: permissions hold for others only.
local function as_user(script, ...)
  local id = sh.run { "id", "-u" }
  if id.output:match "^0%s" then
    script = "exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c '" .. script:gsub("'", "'\\''")
             .. "' \"$0\" \"$@\""
  end
  return kit.shell(script, ...)
end

local function readable()
  local code = as_user('test -r "$1" && test -x "$0"', path)
  if code ~= 0 then skip "the project's folder is closed to other users" end
end

-- Each verb that reads does; bench says why not.
local function only_reads(why)
  local code, said = as_user('"$0" store verify STORE="$1" && "$0" rank STORE="$1" N=1 && '
                             .. '"$0" store export "$2" STORE="$1"', path, "/tmp/loom-test-" .. host.time() .. ".gz")
  assert(code == 0, said)
  has(said, "rows: 3 count", "512x256x128 tn f16 acc f32", "3 rows in ")
  kit.shell('rm -f "$1"', said:match("3 rows in (/tmp/loom%-test%-%d+%.gz)"))
  code, said = as_user('"$0" store import "$2" STORE="$1"', path, dir .. "/other.gz")
  assert(code == 1, said)
  has(said, "cannot use the store '", why, "or say STORE=file")
end

local function read_only(mode_of_file, mode_of_folder, why)
  return function()
    kit.made(path, { "other" })
    loom("store", "export", dir .. "/other.gz", "STORE=" .. path)
    kit.made(path, many(3))
    readable()
    kit.shell('chmod "$2" "$1/store.db" && chmod "$3" "$1"', dir, mode_of_file, mode_of_folder)
    local ok, err = pcall(only_reads, why)
    kit.shell('chmod 644 "$1/store.db"; chmod 755 "$1"', dir)
    if not ok then error(err, 0) end
    assert(kit.keys(path) == table.concat(many(3), " "))
  end
end

-- Rows that are only in the log cannot be read where no file can be made: that is said, not left out.
local function log_in_read_only_folder()
  kit.made(path, many(3))
  readable()
  local st = store.open(path)
  st:add(kit.row(st:new_run(), "new", 0.9))
  local log = kit.read(path .. "-wal")
  local bytes = kit.read(path)
  st:close()
  kit.remove(path)
  host.write(path, bytes)
  host.write(path .. "-wal", log)
  kit.shell('chmod 444 "$1/store.db" "$1/store.db-wal" && chmod 555 "$1"', dir)
  local code, said = as_user('"$0" store verify STORE="$1"', path)
  kit.shell('chmod 755 "$1"; chmod 644 "$1/store.db"', dir)
  assert(code == 1, said)
  has(said, "its newest rows are in its log, and its folder is read-only; copy '")
  assert(kit.keys(path) == table.concat(many(3), " ") .. " new")
end

-- ------------------------------------------------------------------------------- the disk is full

local function full()
  kit.made(path, many(3))
  local st = store.open(path)
  local run = st:new_run()
  st.db:rows("PRAGMA max_page_count = " .. st.db:rows("PRAGMA page_count", {})[1].page_count + 2, {})
  local said, count
  for i = 1, 1000 do
    local ok, err = pcall(st.add, st, kit.row(run, "f" .. i, 0.9))
    if not ok then
      said, count = err.text or tostring(err), i - 1
      break
    end
  end
  has(said, "cannot use the store '", "full: what was measured before is kept: free some space")
  assert(#st:latest(kit.problem) == count and count > 0, "what was there can be read")
  assert(not pcall(st.add, st, kit.row(run, "again", 0.9)), "no transaction is left open")
  st.db:rows("PRAGMA max_page_count = 100000", {})
  assert(not pcall(st.transaction, st, function() error "stop" end))
  st:add(kit.row(run, "again", 0.9))
  st:close()
  verify(0, "rows: " .. 3 + count + 1 .. " count")
end

-- A limit on the size of files, met by a bench: of the log, which the bench cannot grow.
local function limited()
  kit.made(path, many(300))
  local script = 'trap "" XFSZ; ulimit -f "$3"; exec "$0" bench SHAPE=512x512x512 LAYOUT=tn BACKEND=fake N=8 '
                 .. 'OUT="$2" STORE="$1"'
  local code, said = kit.shell(script, path, dir, 3000)
  assert(code == 0, said) -- kernels are there now, and a few rows
  local rows = tonumber(verify(0, "odd_rows: 0 count"):match("\nrows: (%d+) count"))
  assert(rows == 324, rows)
  code, said = kit.shell(script, path, dir, 60)
  assert(code == 1, said)
  has(said, "cannot use the store '", "what was measured before is kept")
  verify(0, "odd_rows: 0 count")
end

-- ------------------------------------------------------------------------------- several processes

-- The first moments of a new file are the hard ones.
local function openers()
  local script = dir .. "/open.lua"
  host.write(script, string.format("local st = require('store').open(%q)\nst:new_run()\nst:close()\n", path))
  for round = 1, 20 do
    kit.remove(path)
    local code, said = kit.shell('for i in 1 2 3 4 5 6; do "$0" --script "$1" & p="$p $!"; done; '
                                 .. 'for i in $p; do wait $i || exit 1; done', script)
    assert(code == 0, said)
    local st = store.reader(path)
    assert(st.db:rows("SELECT count(*) AS n FROM runs", {})[1].n == 6, "round " .. round)
    st:close()
  end
end

local function two_writers()
  for round = 1, 3 do
    kit.remove(path)
    local script = 'for i in 1 2 3; do "$0" bench SHAPE=512x512x512 LAYOUT=tn BACKEND=fake N=6 OUT="$2/o$i" STORE="$1" '
                   .. '>"$2/log$i" 2>&1 & p="$p $!"; done; for i in $p; do wait $i || exit 1; done'
    local code = kit.shell(script, path, dir)
    assert(code == 0, kit.read(dir .. "/log1") .. kit.read(dir .. "/log2") .. kit.read(dir .. "/log3"))
    local st = store.reader(path)
    local runs = st.db:rows("SELECT run, count(*) AS n FROM rows GROUP BY run", {})
    st:close()
    assert(#runs == 3 and runs[1].n == 22 and runs[2].n == 22 and runs[3].n == 22, "round " .. round)
    verify(0, "rows: 66 count", "in_flight: 0 count")
  end
end

-- A reader in the middle of its rows is not in the way of a writer, and sees one state of the store.
local function reader_and_writer()
  kit.made(path, many(50))
  local a, b = store.reader(path), store.open(path)
  local run, seen = b:new_run(), 0
  for _ in a.db:each("SELECT * FROM rows", {}) do
    seen = seen + 1
    b:add(kit.row(run, "w" .. seen, 0.9))
  end
  a:close()
  b:close()
  assert(seen == 50)
  verify(0, "rows: 100 count")
end

-- ------------------------------------------------------------------------------- in flight

local function before_the_launch()
  kit.made(path, {})
  local st = store.open(path)
  local row = kit.row(st:new_run(), "k", 0.9)
  assert(st:start(row) == nil)
  verify(0, "in_flight: 1 count", "rows: 0 count")
  st:add(row)
  verify(0, "in_flight: 0 count", "rows: 1 count")
  for _ = 1, 3 do
    row.run = st:new_run()
    assert(st:start(row) == nil)
  end
  assert(st:start(row) == "loom ended 3 times while it was measured")
  for _, other in ipairs { { "uuid", "GPU-2" }, { "nvcc", "13.1" }, { "driver", "1" }, { "source", "s" }, { "pass", 2 } } do
    assert(st:start(kit.row(row.run, "k", 0.9, { [other[1]] = other[2] })) == nil, other[1] .. " is another measurement")
  end
  st:unstart(row)
  assert(st:start(row) == nil)
  st:close()
end

-- A bench does not launch what loom did not survive three times.
local function not_again()
  kit.remove(path)
  local words = { "bench", "SHAPE=512x512x512", "LAYOUT=tn", "BACKEND=fake", "N=2", "OUT=" .. dir, "STORE=" .. path }
  assert(loom(table.unpack(words)) == 0)
  local st = store.open(path)
  local row = st.db:rows("SELECT * FROM rows WHERE pass = 3 ORDER BY rowid LIMIT 1", {})[1]
  for _ = 1, 3 do st:start(row) end
  st:close()
  local code, said = loom(table.unpack(words))
  assert(code == 1, said)
  has(said, "quarantined " .. row.key .. ": loom ended 3 times while it was measured")
end

local function kills()
  local said = kill.run(sh.tmpdir "store kill", 6, math.random)
  assert(said:find "^6 kills", said)
end

return {
  { name = "a damaged page is named, the other rows are read and exported", run = corrupted_page },
  { name = "bytes that changed in a row are found by its digest", run = changed_bytes },
  { name = "a store that was cut off is refused", run = truncated },
  { name = "an empty file is a new store, unless it has a log", run = nothing_in_it },
  { name = "another program's database is left alone", run = something_else },
  { name = "a store of a newer loom is refused by every verb, and not changed", run = newer },
  { name = "verify names rows whose figures or signature are odd", run = odd_rows },
  { name = "a read-only file is read, and not written to", run = read_only("444", "755", "is read-only") },
  { name = "a read-only folder is read, and not written to", run = read_only("666", "555", "readonly") },
  { name = "a log in a read-only folder is not left out", run = log_in_read_only_folder },
  { name = "a full disk is said, and what was there stays", run = full },
  { name = "a limit on files is said, and what was there stays", run = limited },
  { name = "six processes make a store at the same time", run = openers },
  { name = "three benches share a new store", run = two_writers },
  { name = "a reader is not in the way of a writer", run = reader_and_writer },
  { name = "what is about to be launched is in the store, by all that it depends on", run = before_the_launch },
  { name = "what loom did not survive three times is not launched again", run = not_again },
  { name = "a bench that is killed loses at most the measurement in flight", run = kills },
}
