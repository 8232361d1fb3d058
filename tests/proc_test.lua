-- Tests of the host table: processes. They are /bin/sh scripts; what they leave behind is looked for in
-- /proc.
local kit = require "host_kit"

local dir, same, fresh, sh, sh_here = kit.dir, kit.same, kit.fresh, kit.sh, kit.sh_here
local alive, soon, zombies, descriptors = kit.alive, kit.soon, kit.zombies, kit.descriptors
local tests = {}

local function test(name, run) tests[#tests + 1] = { name = name, run = run } end

-- ---- the pool --------------------------------------------------------------------------------

test("a pool hands out what children printed and how they ended", function()
  local p = host.pool(2)
  local tag = { 1 }
  p:submit(sh("echo out; echo err >&2; exit 3", { tag = tag }))
  same(p:pending(), 1)
  local r = p:wait()
  same(r.tag, tag)
  same(r.code, 3)
  same(r.signal, nil)
  same(r.timeout, false)
  same(r.output, "out\nerr\n")
  assert(r.seconds >= 0 and r.seconds < 5)
  same(p:pending(), 0)
  same(p:wait(), nil)
  p:submit(sh "kill -TERM $$")
  r = p:wait()
  same(r.code, nil)
  same(r.signal, 15)
  p:submit(sh("pwd; echo $LOOM_X; cat; echo $(ps -o pgid= -p $$ 2>/dev/null || true)",
              { cwd = "/", env = { "LOOM_X=a b", "LC_ALL=C" } }))
  r = p:wait()
  assert(r.output:find "^/\na b\n", r.output)
end)

test("a program that does not exist is a result with code 127", function()
  local before = descriptors()
  do
    local p <close> = host.pool(2)
    p:submit { argv = { "/no/such/program" }, tag = "a" }
    local r = p:wait()
    same(r.code, 127)
    same(r.output, "cannot run '/no/such/program': No such file or directory")
    p:submit { argv = { "true" }, cwd = "/no/such/folder" }
    r = p:wait()
    same(r.code, 127)
    same(r.output, "cannot enter '/no/such/folder': No such file or directory")
  end
  same(descriptors(), before)
end)

test("100 children at 8 jobs all come back, none waits for another and none stays a zombie", function()
  local before, p, seen, most = descriptors(), host.pool(8), {}, 0
  for i = 1, 100 do p:submit(sh("echo " .. i .. "; exit " .. i % 7, { tag = i })) end
  same(p:pending(), 100)
  for _ = 1, 100 do
    local r = assert(p:wait(30), "lost one")
    assert(not seen[r.tag])
    seen[r.tag] = true
    same(r.output, r.tag .. "\n")
    same(r.code, r.tag % 7)
    most = math.max(most, descriptors() - before)
  end
  assert(most <= 10, "no more than 8 run at a time, saw descriptors " .. most)
  same(p:wait(), nil)
  same(zombies(), 0)
  p:close()
  same(descriptors(), before)
end)

test("jobs run beside each other", function()
  local p, began = host.pool(8), host.now()
  for _ = 1, 8 do p:submit(sh "sleep 0.5") end
  for _ = 1, 8 do p:wait() end
  assert(host.now() - began < 3, "took " .. host.now() - began)
end)

test("a timeout kills the whole group and keeps the output", function()
  local d, p = fresh(), host.pool(2)
  p:submit(sh_here("echo begun; sh -c 'echo $$ > grand; sleep 100' & echo $! > child; " ..
                   "(sleep 100; echo never) & wait; echo never", { timeout = 0.6 }))
  local began = host.now()
  local r = p:wait(20)
  same(r.timeout, true)
  same(r.code, nil)
  same(r.signal, 9)
  same(r.output, "begun\n")
  assert(host.now() - began < 10)
  for _, name in ipairs { "child", "grand" } do
    local pid = assert(host.read(d .. name)):match "%d+"
    soon(name .. " is gone", function() return not alive(pid) end)
  end
  same(zombies(), 0)
end)

test("what a leader leaves behind is killed when it exits, and nobody waits for it", function()
  local d, p = fresh(), host.pool(2)
  p:submit(sh_here "(sleep 100; echo never) & echo $! > left; echo done")
  local began = host.now()
  local r = p:wait(20)
  same(r.code, 0)
  same(r.output, "done\n")
  assert(host.now() - began < 10, "waited for the grandchild")
  local pid = host.read(d .. "left"):match "%d+"
  soon("the grandchild is gone", function() return not alive(pid) end)
end)

test("a child that closes its output and goes on is waited for", function()
  local p = host.pool(1)
  p:submit(sh "echo x; exec >/dev/null 2>&1; sleep 0.3; exit 5")
  same(p:wait(10).code, 5)
end)

test("wait gives up in time, and the job goes on", function()
  local p, began = host.pool(1), host.now()
  p:submit(sh "sleep 0.5; echo late")
  same(p:wait(0), nil)
  same(p:wait(0.1), nil)
  assert(host.now() - began < 0.45)
  same(p:pending(), 1)
  same(p:wait(10).output, "late\n")
end)

test("output is cut at 1 MiB with a note, and a writer without end is no danger", function()
  local p = host.pool(2)
  p:submit(sh "head -c 3000000 /dev/zero | tr '\\0' x")
  local r = p:wait(30)
  same(r.code, 0)
  same(r.output:match "^x+()", (1 << 20) + 1)
  same(r.output:sub((1 << 20) + 1), "\n[1951424 more bytes dropped]\n")
  p:submit(sh("yes", { timeout = 0.3 }))
  r = p:wait(30)
  assert(r.timeout and #r.output < (1 << 20) + 100)
end)

test("killing, closing or losing a pool kills its children", function()
  local d = fresh()
  local function start(p, name)
    p:submit(sh_here("n=" .. name .. "; echo $$ > $n.tmp; mv $n.tmp $n; sleep 100"))
    p:submit(sh "sleep 100")
    soon(name, function() return host.stat(d .. name) end)
    return host.read(d .. name):match "%d+"
  end
  local p = host.pool(1)
  local pid = start(p, "a")
  p:kill()
  assert(not alive(pid))
  same(p:pending(), 0)
  p:submit(sh "exit 4")
  same(p:wait().code, 4)
  pid = start(p, "b")
  p:close()
  assert(not alive(pid))
  assert(not pcall(p.submit, p, sh "true"))
  do
    local q <close> = host.pool(1)
    pid = start(q, "c")
  end
  assert(not alive(pid))
  p = host.pool(1)
  pid = start(p, "d")
  p = nil                                                            -- luacheck: ignore
  collectgarbage()
  assert(not alive(pid))
  same(zombies(), 0)
end)

test("children inherit no descriptor that we opened", function()
  local function inherited()
    local p = host.pool(4)
    for _ = 1, 3 do p:submit(sh "sleep 0.2") end
    p:submit { argv = { "ls", "/proc/self/fd" }, tag = "fds" }
    for _ = 1, 4 do
      local r = p:wait(10)
      if r.tag == "fds" then return r.output end
    end
  end
  local before = inherited()
  local c, db = host.spawn { argv = { "cat" } }, host.db(fresh() .. "t.db")
  db:exec "create table t(a)"
  same(inherited(), before)
  c:kill()
  db:close()
end)

test("wrong requests are refused in words", function()
  local p = host.pool(1)
  local function why(t) return select(2, pcall(p.submit, p, t)) end
  assert(why({}):find "'argv' is missing or empty")
  assert(why({ argv = {} }):find "'argv' is missing or empty")
  assert(why({ argv = { {} } }):find "'argv%[1%]' is not a string")
  assert(why({ argv = { "a\0b" } }):find "'argv%[1%]' is not a string")
  assert(why({ argv = { "true" }, timout = 3 }):find "unknown field 'timout'")
  assert(why({ argv = { "true" }, timeout = "soon" }):find "'timeout' is not a number of seconds")
  assert(why({ argv = { "true" }, timeout = -1 }):find "'timeout' is not a number of seconds")
  assert(why({ argv = { "true" }, env = { "X" } }):find "'env' wants NAME=value")
  assert(not pcall(host.pool, 0))
  same(p:pending(), 0)
end)

-- ---- the long-lived child --------------------------------------------------------------------

test("a child answers line by line", function()
  local c = host.spawn { argv = { "/bin/sh", "-c", "while read l; do echo \"<$l>\"; done; exit 7" } }
  for i = 1, 50 do
    same(c:send("line " .. i), true)
    same(c:recv(10), "<line " .. i .. ">")
  end
  same(select(2, c:recv(0.05)), "timeout")
  assert(c:pid() > 0)
  local code, signal = c:close()
  same(code, 7)
  same(signal, nil)
  same(select(2, c:recv(1)), "eof")
  same(select(2, c:send "x"), "eof")
  same(c:close(), 7)
  same(c:kill(), 7)
end)

test("lines may be long, come in pieces, and half a line at the end is none", function()
  local c = host.spawn { argv = { "/bin/sh", "-c",
    "printf 'a'; sleep 0.2; printf 'b\\nc\\n'; head -c 300000 /dev/zero | tr '\\0' x; echo; printf half" } }
  same(c:recv(10), "ab")
  same(c:recv(10), "c")
  same(c:recv(10), ("x"):rep(300000))
  local line, why = c:recv(10)
  same(line, nil)
  same(why, "eof")
  same(c:kill(), 0)
end)

test("a child that crashes is an eof with its signal, even if a grandchild holds the pipe", function()
  local c = host.spawn { argv = { "/bin/sh", "-c", "sleep 100 & echo last; kill -SEGV $$" } }
  same(c:recv(10), "last")
  local began = host.now()
  same(select(2, c:recv(20)), "eof")
  assert(host.now() - began < 10)
  local code, signal = c:close()
  same(code, nil)
  same(signal, 11)
end)

test("a child that does not end when its input closes is killed after 2 s", function()
  local c = host.spawn { argv = { "/bin/sh", "-c", "trap '' TERM; echo on; while :; do sleep 1; done" } }
  same(c:recv(10), "on")
  local began = host.now()
  local code, signal = c:close()
  same(code, nil)
  same(signal, 9)
  assert(host.now() - began >= 1.9 and host.now() - began < 8)
end)

test("a child's stderr is appended to a file", function()
  local d = fresh()
  for _ = 1, 2 do
    local c = host.spawn { argv = { "/bin/sh", "-c", "echo log $X >&2; echo ok" },
                           stderr = d .. "log", env = { "X=1" } }
    same(c:recv(10), "ok")
    c:close()
  end
  same(host.read(d .. "log"), "log 1\nlog 1\n")
  local ok, why = pcall(host.spawn, { argv = { "true" }, stderr = d .. "no/log" })
  assert(not ok and why:find "cannot open '.*no/log': No such file or directory", why)
  ok, why = pcall(host.spawn, { argv = { "/no/such" } })
  assert(not ok and why:find "cannot run '/no/such': No such file or directory", why)
end)

test("children and descriptors do not pile up", function()
  collectgarbage() -- what earlier tests left behind must not close in between
  local before = descriptors()
  for _ = 1, 20 do
    local c = host.spawn { argv = { "cat" } }
    c:send "x"
    same(c:recv(10), "x")
  end
  collectgarbage()
  same(descriptors(), before)
  same(zombies(), 0)
end)

-- ---- loom itself, as a child -------------------------------------------------------------------

local function loom(script, t)
  local d = fresh()
  host.write(d .. "s.lua", script)
  t = t or {}
  t.argv = { host.exe, "--script", d .. "s.lua", "a", "b c" }
  t.timeout = 30
  local p <close> = host.pool(1)
  p:submit(t)
  return p:wait()
end

test("a script gets its arguments, and its result is the exit code", function()
  local r = loom "local a, b, c = ...; host.out(a .. '|' .. b .. '|' .. tostring(c)); return 3"
  same(r.output, "a|b c|nil")
  same(r.code, 3)
  same(loom("return").code, 0)
  same(loom("local x").code, 0)
end)

test("a fault is shown with its traceback, a user's error without", function()
  local r = loom "local x\nx.y = 1"
  same(r.code, 1)
  assert(r.output:find("^loom: internal error: .*s%.lua:2: attempt to index a nil value " ..
                       "%(local 'x'%)\nstack traceback"), r.output)
  r = loom "error({user = 'no such thing'})"
  same(r.code, 1)
  same(r.output, "loom: no such thing\n")
  r = loom "x = = 1"
  same(r.code, 1)
  assert(r.output:find "^loom: .*s%.lua:1: unexpected symbol near '='\n$", r.output)
end)

test("io and os are not there, and require looks into lua/ only", function()
  local r = loom "return (io == nil and os == nil and package.cpath == '' and not package.path:find ';') and 5 or 6"
  same(r.code, 5)
end)

test("a reader that goes away ends loom without a word, and its children too", function()
  local d = fresh()
  host.write(d .. "t.lua", "local p = host.pool(1) p:submit{argv={'/bin/sh','-c','echo $$ > pid; sleep 100'}} " ..
    "while not host.stat 'pid' do end while true do host.out(('x'):rep(1000)) end")
  local p = host.pool(1)
  p:submit(sh_here([[("$LOOM" --script t.lua; echo code $? >&2) | head -c 5]], { timeout = 20 }))
  local r = p:wait()
  assert(r.output:find "code 1\n" and not r.output:find "loom:", r.output)
  local pid = host.read(d .. "pid"):match "%d+"
  soon("the child is gone", function() return not alive(pid) end)
end)

test("SIGINT ends a wait early, and a killed loom takes its leaders along", function()
  local r = loom [[
    local p = host.pool(2)
    p:submit { argv = { "/bin/sh", "-c", "kill -INT $PPID; sleep 100" } }
    local began = host.now()
    local got = p:wait(60)
    local c = host.spawn { argv = { "cat" } }
    local _, why = c:recv(60)
    host.out(tostring(got) .. " " .. why .. " " .. tostring(host.interrupted()))
    return host.now() - began < 20 and 0 or 1]]
  same(r.output, "nil interrupted true")
  same(r.code, 0)
  local d = fresh()
  host.write(d .. "t.lua", "local p = host.pool(1) " ..
    "p:submit{argv={'/bin/sh','-c','echo $$ > x; mv x pid; exec sleep 100'}} p:wait()")
  local p = host.pool(1)
  p:submit { argv = { host.exe, "--script", "t.lua" }, cwd = dir }
  soon("started", function() return host.stat(d .. "pid") end)
  local pid = host.read(d .. "pid"):match "%d+"
  assert(alive(pid))
  p:kill()
  soon("the leader is gone", function() return not alive(pid) end)
end)

test("a signal sent twice at once is one request to end, a later one ends at once", function()
  local script = [[
    local p = host.pool(1)
    p:submit { argv = { "/bin/sh", "-c", "kill -INT $PPID; %s; kill -%s $PPID; sleep 100" } }
    while not host.interrupted() do p:wait(60) end
    local till = host.now() + 3
    while host.now() < till do end
    host.out "in good order"]]
  for _, second in ipairs { "INT", "TERM" } do
    local r = loom(script:format(":", second))
    same(r.output, "in good order")
    same(r.code, 0)
    r = loom(script:format("sleep 1", second))
    same(r.output, "")
    assert(r.signal, "it ended by the signal")
  end
end)

test("line reads stdin to its end", function()
  local d = fresh()
  host.write(d .. "in", "one\n\ntwo")
  host.write(d .. "t.lua", "for l in host.line do host.out('<' .. l .. '>') end host.out 'end'")
  local p = host.pool(1)
  p:submit(sh_here [["$LOOM" --script t.lua < in]])
  same(p:wait().output, "<one><><two>end")
end)

test("an error on stdout that is not a closed pipe is told", function()
  local p = host.pool(1)
  local d = fresh()
  host.write(d .. "t.lua", "host.out 'x'")
  p:submit(sh_here [["$LOOM" --script t.lua > /dev/full]])
  local r = p:wait()
  same(r.code, 1)
  assert(r.output:find "cannot write to stdout: No space left on device", r.output)
end)

return tests
