-- Tests of the host table: files, hashing, memory, output, the database.
local kit = require "host_kit"

local dir, same, fresh, sh_here = kit.dir, kit.same, kit.fresh, kit.sh_here
local tests = {}

local function test(name, run) tests[#tests + 1] = { name = name, run = run } end

-- ---- files -----------------------------------------------------------------------------------

test("write makes folders, tells whether it changed anything, and leaves nothing beside", function()
  local d = fresh()
  same(host.write(d .. "a/b/c.txt", "one\n"), true)
  local before = host.stat(d .. "a/b/c.txt")
  same(host.write(d .. "a/b/c.txt", "one\n"), false)
  same(host.stat(d .. "a/b/c.txt").mtime, before.mtime)
  same(host.write(d .. "a/b/c.txt", "two\0\n"), true)
  same(host.read(d .. "a/b/c.txt"), "two\0\n")
  same(host.write(d .. "a/b/c.txt", ""), true)
  same(host.write(d .. "a/b/c.txt", ""), false)
  same(host.read(d .. "a/b/c.txt"), "")
  same(table.concat(host.list(d .. "a/b"), " "), "c.txt")
  local big = ("0123456789abcdef"):rep(1 << 18)
  same(host.write(d .. "big", big), true)
  same(host.write(d .. "big", big), false)
  same(host.read(d .. "big"), big)
end)

test("a write that fails leaves the old text and no temporary file", function()
  local d = fresh()
  host.write(d .. "dir/x", "1")
  local ok, why = host.write(d .. "dir", "text")
  same(ok, nil)
  same(why, "cannot write '" .. d .. "dir': Is a directory")
  ok, why = host.write(d .. "dir/x/y", "text")
  same(ok, nil)
  same(why, "cannot write '" .. d .. "dir/x/y': Not a directory")
  same(table.concat(host.list(d), " "), "dir")
  same(host.read(d .. "dir/x"), "1")
end)

local function stat(format, path)
  local p = host.pool(1)
  p:submit { argv = { "stat", "-c", format, path } }
  return p:wait().output:match "%d+"
end

local function mode(path) return stat("%a", path) end

test("write keeps the mode of the file that it replaces", function()
  local d, p = fresh(), host.pool(1)
  p:submit(sh_here "umask 022; echo 1 > f; chmod 750 f; echo 1 > g; chmod 400 g")
  same(p:wait().code, 0)
  same(host.write(d .. "f", "2"), true)
  same(host.write(d .. "g", "2"), true)
  same(mode(d .. "f") .. " " .. mode(d .. "g"), "750 400")
end)

-- Root edits a user's file; a user's own writes keep their owner without help.
test("write keeps the owner of the file that it replaces, as root", function()
  if stat("%u", "/proc/self") ~= "0" then skip "not root" end
  local d, p = fresh(), host.pool(1)
  p:submit(sh_here "echo 1 > f; chown 12345:54321 f; chmod 640 f")
  same(p:wait().code, 0)
  same(host.write(d .. "f", "2"), true)
  same(stat("%u", d .. "f") .. " " .. stat("%g", d .. "f") .. " " .. mode(d .. "f"), "12345 54321 640")
end)

test("write follows symbolic links to the file, and leaves them as they are", function()
  local d, p = fresh(), host.pool(1)
  p:submit(sh_here("mkdir -p a/b; echo 1 > a/file; chmod 640 a/file; ln -s ../file a/b/rel; ln -s a/b/rel chain; "
                   .. "ln -s \"$PWD/a/file\" abs; ln -s a/new dangling; ln -s loop loop"))
  same(p:wait().code, 0)
  for i, name in ipairs { "a/b/rel", "chain", "abs" } do
    same(host.write(d .. name, "text " .. i), true)
    same(host.write(d .. name, "text " .. i), false)
    same(host.read(d .. "a/file"), "text " .. i)
  end
  same(host.write(d .. "dangling", "new"), true)
  same(host.read(d .. "a/new"), "new")
  same(select(2, host.write(d .. "loop", "x")), "cannot write '" .. d .. "loop': Too many levels of symbolic links")
  p:submit(sh_here "for f in a/b/rel chain abs dangling loop; do test -L $f || exit 1; done")
  same(p:wait().code, 0)
  same(mode(d .. "a/file"), "640")
  same(table.concat(host.list(d), " ") .. ": " .. table.concat(host.list(d .. "a"), " "),
       "a abs chain dangling loop: b file new")
end)

test("write puts no file in the place of a pipe or a device", function()
  local d, p = fresh(), host.pool(1)
  p:submit(sh_here "mkfifo pipe && ln -s /dev/null link")
  same(p:wait().code, 0)
  same(select(2, host.write(d .. "pipe", "x")), "cannot write '" .. d .. "pipe': Invalid argument")
  same(select(2, host.write(d .. "link", "x")), "cannot write '" .. d .. "link': Invalid argument")
  same(table.concat(host.list(d), " "), "link pipe")
end)

test("read, stat, list, remove and rename tell what is wrong in one line", function()
  local d = fresh()
  local function why(f, ...) return select(2, f(...)) end
  same(why(host.read, d .. "no"), "cannot open '" .. d .. "no': No such file or directory")
  same(why(host.read, d), "cannot read '" .. d .. "': Is a directory")
  same(why(host.list, d .. "no"), "cannot list '" .. d .. "no': No such file or directory")
  same(why(host.remove, d .. "no"), "cannot remove '" .. d .. "no': No such file or directory")
  same(why(host.rename, d .. "no", d .. "x"), "cannot rename '" .. d .. "no': No such file or directory")
  same(host.stat(d .. "no"), nil)
  host.write(d .. "f", "12345")
  same(why(host.mkdir, d .. "f/g"), "cannot make folder '" .. d .. "f/g': Not a directory")
  same(host.stat(d .. "f").size, 5)
  same(host.stat(d .. "f").dir, false)
  same(host.stat(d).dir, true)
  same(host.mkdir(d .. "x/y//z/"), true)
  same(host.mkdir(d .. "x/y/z"), true)
  same(host.rename(d .. "f", d .. "x/f"), true)
  same(host.read(d .. "x/f"), "12345")
  for _, name in ipairs { "b", "B", "a10", "a9", ".hidden" } do host.write(d .. "l/" .. name, "") end
  same(table.concat(host.list(d .. "l"), " "), ".hidden B a10 a9 b")
  same(#host.list(d .. "x/y/z"), 0)
  assert(not pcall(host.read, "a\0b"))
  assert(not pcall(host.read, ""))
end)

test("sha256 is the one that everybody knows", function()
  same(host.sha256 "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
  same(host.sha256 "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
end)

test("the small facts are sane", function()
  assert(host.cpus() >= 1 and host.columns() >= 1 and host.version:find "^%d+%.%d+%.%d+$")
  assert(host.now() <= host.now() and host.time() > 1700000000)
  same(host.isatty(99), false)
  same(host.getenv "LOOM_SURELY_NOT_SET", nil)
  assert(host.getenv "PATH")
  same(host.interrupted(), false)
  assert(host.stat(host.exe) and host.stat(host.root).dir)
end)

test("a heap limit is an error that can be caught, again and again", function()
  for _ = 1, 3 do
    host.memory(1 << 20)
    local ok, why = pcall(function() local t; for _ = 1, 1e7 do t = { t } end end)
    local ok2, why2 = pcall(string.rep, "x", 1 << 24)
    host.memory(0)
    assert(not ok and why:find "not enough memory", why)
    assert(not ok2 and why2:find "not enough memory", why2)
    same(#string.rep("x", 1 << 22), 1 << 22)
  end
end)

-- ---- statistics ------------------------------------------------------------------------------

-- n values around 'mid', spread evenly over +-'wide'.
local function around(mid, wide, n, into)
  for i = 1, n do into[#into + 1] = mid + wide * ((i * 37 % n) / (n - 1) * 2 - 1) end
  return into
end

test("a verdict is of the whole interval, in a band of half a percent", function()
  for _, case in ipairs { { 0.006, 0.02, "FASTER" }, { -0.02, -0.006, "SLOWER" }, { -0.004, 0.004, "SAME" },
                          { -0.004, 0.006, "UNDECIDED" }, { 0.004, 0.006, "UNDECIDED" } } do
    same(host.verdict(case[1], case[2]), case[3])
  end
end)

test("a bootstrap over groups is wider than one over their values, where groups differ", function()
  local v, sizes = {}, {}
  for g, mid in ipairs { 0.01, -0.01, 0.02, 0.00 } do
    around(mid, 0.001, 32, v)
    sizes[g] = 32
  end
  local mid, lo, hi = host.bootstrap(v, sizes, 0.95)
  local flat, flat_lo, flat_hi = host.bootstrap(v, { #v }, 0.95)
  assert(mid == flat and lo < mid and mid < hi, "the median lies within")
  assert(lo < -0.008 and hi > 0.015, ("[%g, %g]"):format(lo, hi))
  assert(flat_lo > lo and flat_hi < hi, ("[%g, %g]"):format(flat_lo, flat_hi))
  local _, lo99, hi99 = host.bootstrap(v, sizes, 0.99)
  assert(lo99 <= lo and hi99 >= hi)
  local again = table.pack(host.bootstrap(v, sizes, 0.95))
  same(table.concat(again, " "), table.concat({ mid, lo, hi }, " "))
  same(table.concat({ host.bootstrap({ 3 }, { 1 }, 0.99) }, " "), "3.0 3.0 3.0")
  same((host.bootstrap({ 9, 1, 2, 30 }, { 1, 3 }, 0.95)), 5.5)
end)

test("a bootstrap takes 16 processes of 256 blocks, and refuses what is no sample", function()
  local sizes = {}
  for g = 1, 16 do sizes[g] = 256 end
  assert(host.bootstrap(around(1, 0.1, 4096, {}), sizes, 0.99))
  local function why(...) return select(2, pcall(host.bootstrap, ...)) end
  for i, t in ipairs {
    { "1 to 4096 values", {}, { 1 }, 0.95 }, { "1 to 4096 values", around(1, 1, 4097, {}), { 4097 }, 0.95 },
    { "1 to 64 groups", { 1 }, {}, 0.95 }, { "do not add up", { 1, 2 }, { 1 }, 0.95 },
    { "do not add up", { 1, 2 }, { 1, 2 }, 0.95 }, { "is no count", { 1, 2 }, { 2, 0 }, 0.95 },
    { "is no count", { 1, 2 }, { 3, -1 }, 0.95 }, { "is no count", { 1, 2 }, { 0.5, 1.5 }, 0.95 },
    { "finite numbers", { 1, 0 / 0 }, { 2 }, 0.95 }, { "finite numbers", { 1, "2" }, { 2 }, 0.95 },
    { "finite numbers", { 1, 2 }, { 1 / 0 }, 0.95 }, { "a level", { 1, 2 }, { 2 }, 95 },
    { "a level", { 1, 2 }, { 2 }, 0 / 0 }, { "table expected", 1, { 1 }, 0.95 },
  } do
    local text = why(t[2], t[3], t[4])
    assert(type(text) == "string" and text:find(t[1], 1, true), i .. ": " .. tostring(text))
  end
end)

-- ---- the database ----------------------------------------------------------------------------

test("rows come back as they went in", function()
  local db = host.db(fresh() .. "t.db")
  db:exec "create table t(a, b, c, d); create index i on t(a)"
  same(db:run("insert into t values(?, ?, ?, ?)", { 1 << 62, 1.5, "text\0\xff", nil }), 1)
  same(db:run("insert into t values(?, ?, ?, ?)", { -1, "", true, "x" }), 1)
  same(db:run("insert into t(d) values(?)", { nil }), 1)
  local rows = db:rows "select * from t order by rowid"
  same(#rows, 3)
  same(rows[1].a, 1 << 62)
  same(math.type(rows[1].b), "float")
  same(rows[1].c, "text\0\xff")
  same(rows[1].d, nil)
  same(rows[2].a, -1)
  same(rows[2].b, "")
  same(rows[2].c, 1)
  same(next(rows[3]), nil)
  same(#db:rows("select a from t where a = ?", { 5 }), 0)
  same(db:run "update t set d = 9", 3)
  same(db:rows("select count(*) as n from t")[1].n, 3)
  same(db:rows("pragma journal_mode")[1].journal_mode, "wal")
  db:close()
  db:close()
end)

test("errors of the database name the file", function()
  local path = fresh() .. "t.db"
  local db = host.db(path)
  local function why(f, ...) return select(2, pcall(f, db, ...)) end
  local at = "db '" .. path .. "': "
  assert(why(db.exec, "creat table"):find(at .. 'near "creat": syntax error', 1, true))
  assert(why(db.rows, "select * from nope"):find(at .. "no such table: nope", 1, true))
  assert(why(db.run, "select 1; select 2"):find(at .. "more than one statement", 1, true))
  assert(why(db.run, ""):find(at .. "no statement", 1, true))
  assert(why(db.run, "select ?", { 1, 2 }):find(at .. "2 values for 1 places", 1, true))
  assert(why(db.run, "select ?", { {} }):find(at .. "value 1 is a table", 1, true))
  db:exec "create table u(a unique)"
  db:run("insert into u values(1)")
  assert(why(db.run, "insert into u values(1)"):find "UNIQUE constraint failed")
  same(db:rows("select count(*) n from u")[1].n, 1)
  db:close()
  assert(why(db.exec, "select 1"):find(at .. "is closed", 1, true))
  assert(select(2, pcall(host.db, "/no/such/x.db")):find "db '/no/such/x.db': unable to open database file")
  host.write(path .. "2", ("not a database "):rep(100))
  assert(not pcall(host.db, path .. "2"))
end)

test("two writers wait for each other", function()
  local path = fresh() .. "t.db"
  local a, b = host.db(path), host.db(path)
  a:exec "create table t(a)"
  local script = [[local path = ...
    local db = host.db(path)
    for i = 1, 50 do db:run("insert into t values(?)", { i }) end]]
  host.write(dir .. "/w.lua", script)
  local p = host.pool(3)
  for _ = 1, 3 do p:submit { argv = { host.exe, "--script", dir .. "/w.lua", path } } end
  for _ = 1, 3 do
    local r = p:wait(60)
    same(r.output, "")
    same(r.code, 0)
  end
  same(b:rows("select count(*) n from t")[1].n, 150)
end)

return tests
