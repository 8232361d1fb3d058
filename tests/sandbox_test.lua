-- Attacks on the sandbox. Each file of tests/sandbox is one, and so is each of `made`; its first line:
--   -- WALL | WITHOUT | LINE: MESSAGE      (a message that ends in ... is the beginning of it)
-- With all walls it must end in that one message, within SECONDS of the processor and MIB of memory.
-- Without the wall (kit/walls.lua: taken out of a copy of lua/) it must get through, so that the wall is
-- known to be what stops it: it loads, takes too much time or memory, or ends in a fault of loom's own
-- (a traceback, a message without a place, with an address, or one that a terminal would obey). What Lua
-- itself stops has the wall "lua", and nothing to take out.

local sh = require "tests_sh"
local walls = require "sandbox.kit.walls"

local SECONDS, MIB = 2, 256
local PATIENCE = 20 -- seconds of a wall clock, on a machine that has other work

local root = host.root
local dir = sh.tmpdir "sandbox"
local seen = "tests/sandbox/kit/probe.lua"

-- The instrumented loom keeps freed memory, so the plain one is measured.
local function plain_loom()
  for _, path in ipairs { "/out/build/loom", "/out/build-static/loom" } do
    if host.stat(root .. path) then return root .. path end
  end
  return sh.loom
end

local loom = host.getenv "LOOM_UNDER_TEST" or plain_loom()

-- Attacks that no file can hold, or that are no file -------------------------------------------------

local function head(name, more)
  return string.format('space "%s" { format = 1%s }\n', name, more or ', template = "simt.cu"')
end

local function written(name, text)
  local path = string.format("%s/%s.lua", dir, name)
  assert(host.write(path, text) ~= nil)
  return path
end

-- Spaces 1..n, each the base of the one before, each with the text; the path of the first.
local function bases(name, n, text)
  for i = 2, n do
    local base = i < n and string.format(', base = "%s%d"', name, i + 1) or ""
    written(name .. i, head(name .. i, base) .. text:gsub("@", tostring(i)))
  end
  return written(name, head(name, string.format(', base = "%s2", template = "simt.cu"', name))
    .. text:gsub("@", "1"))
end

local made = {
  { "bytecode", "text", "loads", "1: attempt to load a binary chunk (mode is 't')", function(name)
    return written(name, string.dump(assert(load(head(name), "=spec", "t", {}))))
  end },
  { "parse_and", "parser", "time", "3: more than 1 s: does it end?", function(name)
    return written(name, head(name) .. "local a\nlocal x = a" .. (" and a"):rep(170000) .. "\n")
  end },
  { "parse_elseif", "parser", "time", nil, function(name)
    return written(name, head(name) .. "local a\nif a then" .. ("\nelseif a then"):rep(74000) .. "\nend\n")
  end },
  { "file_of_a_megabyte", "bytes", "loads", "1: has 1048641 bytes; 1048576 are the most", function(name)
    return written(name, head(name) .. ("-"):rep(1 << 20) .. "\n")
  end },
  { "zero", "special", "memory", "1: is no regular file", function() return "/dev/zero" end },
  { "fifo", "special", "hangs", "1: is no regular file", function(name)
    local path = string.format("%s/%s.lua", dir, name)
    assert(sh.run({ "mkfifo", path }).code == 0)
    return path
  end },
  { "folder", "special", "fault", "1: is no regular file", function(name)
    local path = string.format("%s/%s.lua", dir, name)
    assert(host.mkdir(path))
    return path
  end },
  { "base_path", "base-path", "loads", "1: space 'base_path': base '../up' is not a plain file name", function(name)
    assert(host.write(dir .. "/up.lua", 'space "../up" { format = 1 }\n') ~= nil)
    return written("below/" .. name, head(name, ', base = "../up", template = "simt.cu"'))
  end },
  { "many_bases", "bases", "loads", nil, function(name) return bases(name, 20, "") end },
  { "slow_bases", "load-clock", "time", nil, function(name)
    return bases(name, 16, "for i = 1, 4500000 do local x = i * i end\n")
  end },
}

-- Running them all, some at a time -------------------------------------------------------------------

local attacks = {}

for _, file in ipairs(assert(host.list(root .. "/tests/sandbox"))) do
  local name = file:match "^(.*)%.lua$"
  if name then
    local path = root .. "/tests/sandbox/" .. file
    local wall, without, expect = assert(host.read(path)):match("^%-%- (%S+) | (%S+) | ([^\n]+)\n")
    assert(wall, file .. ": its first line is not WALL | WITHOUT | LINE: MESSAGE")
    attacks[#attacks + 1] = { name = name, wall = wall, without = without, expect = expect, path = path }
  end
end

-- A copy of lua/ without the wall: links to all files, but for those that change.
local copies = {}

local function without(wall)
  if copies[wall] then return copies[wall] end
  local copy = dir .. "/without " .. wall
  assert(host.mkdir(copy))
  assert(sh.run({ "cp", "-rs", root .. "/lua", root .. "/spaces", copy }).code == 0)
  for _, w in ipairs(assert(walls[wall], "no wall '" .. wall .. "'")) do
    local path = string.format("%s/lua/%s.lua", copy, w.file)
    local text = assert(host.read(path))
    local from, to = text:find(w.find, 1, true)
    assert(from, string.format("lua/%s.lua has no wall '%s': %s", w.file, wall, w.find))
    assert(not text:find(w.find, to + 1, true), string.format("wall '%s' stands twice in lua/%s.lua", wall, w.file))
    assert(host.remove(path))
    assert(host.write(path, text:sub(1, from - 1) .. w.put .. text:sub(to + 1)))
  end
  copies[wall] = copy
  return copy
end

local function submit(pool, attack, which, cwd)
  pool:submit { tag = { attack = attack, which = which }, cwd = cwd,
    timeout = which == "naked" and attack.without == "hangs" and 2 or PATIENCE,
    argv = { "sh", "-c", string.format("ulimit -v %d; ulimit -t %d; exec \"$0\" \"$@\"", 500 << 10, SECONDS),
      loom, "--script", root .. "/" .. seen, attack.path } }
end

-- What came of a run: kind, message, seconds, MiB.
local function outcome(result)
  if result.timeout then return { kind = "hangs" } end
  local kind, took, mib, message = result.output:match("^(%l+)\n(%S+) (%d+)\n(.*)$")
  if not kind then
    local full = result.output:find("memory", 1, true)
    return { kind = full and "memory" or result.signal and not full and "time" or "fault", message = result.output }
  end
  took, mib = tonumber(took), tonumber(mib)
  if mib > MIB then kind = "memory" elseif took > SECONDS then kind = "time" end
  local odd = not message:find("^[^\n]*:%d+: [^\n]*$") or message:find("%c") or message:find("table: 0x", 1, true)
  if kind == "refused" and odd then kind = "fault" end
  return { kind = kind, message = message, seconds = took, mib = mib }
end

local function submit_naked(pool, attack)
  if attack.wall == "lua" then
    attack.naked = { kind = attack.without }
    return
  end
  local ok, copy = pcall(without, attack.wall)
  if ok then submit(pool, attack, "naked", copy) else attack.naked = { kind = "no copy", message = copy } end
end

local ran

local function run_all()
  if ran then return end
  ran = true
  for _, m in ipairs(made) do
    attacks[#attacks + 1] = { name = m[1], wall = m[2], without = m[3], expect = m[4], path = m[5](m[1]) }
  end
  local pool = host.pool(host.cpus())
  for _, attack in ipairs(attacks) do
    submit(pool, attack, "armed", root)
    submit_naked(pool, attack)
  end
  while true do
    local result = pool:wait()
    if not result then return end
    result.tag.attack[result.tag.which] = outcome(result)
  end
end

-- Tests ------------------------------------------------------------------------------------------------

local function check(name)
  run_all()
  local attack
  for _, a in ipairs(attacks) do
    if a.name == name then attack = a end
  end
  local armed, naked = attack.armed, attack.naked
  local message = (armed.message or ""):match("^[^\n]-([^/\n:]*:%d+: .*)$") or armed.message
  assert(armed.kind == "refused", string.format("%s: %s", armed.kind, tostring(armed.message)))
  local line = message:match("^[^:]*:(.*)$")
  if attack.wall == "hook" then -- on a slow machine the clock comes first
    line = line:gsub("more than 1 s:", "more than 10000000 instructions:")
  end
  local open = attack.expect and attack.expect:match("^(.*)%.%.%.$")
  assert(not attack.expect or line == attack.expect or open and line:sub(1, #open) == open, message)
  assert(naked.kind == attack.without, string.format("without the wall '%s': %s, not %s: %s", attack.wall, naked.kind,
    attack.without, tostring(naked.message)))
end

local tests, used = {}, {}

for _, list in ipairs { attacks, made } do
  for _, a in ipairs(list) do
    local name, wall = a.name or a[1], a.wall or a[2]
    used[wall] = true
    tests[#tests + 1] = { name = string.format("sandbox: %s is stopped, by the wall '%s'", name:gsub("_", " "), wall),
      run = function() check(name) end }
  end
end

tests[#tests + 1] = { name = "sandbox: a load that runs out of time leaves nothing behind", run = function()
  local room, space = require "room", require "space"
  local seconds = room.load_seconds
  room.load_seconds = 0.02
  local ok, err = pcall(space.load_text, "late.lua", head "late" .. "while true do end\n")
  room.load_seconds = seconds
  assert(not ok and tostring(err) == "late.lua:2: the load takes more than 0.02 s", tostring(err))
  assert(("x"):rep(3) == "xxx" and debug.gethook() == nil and #string.rep("x", 300 << 20) == 300 << 20)
  assert(space.load_text("fine.lua", head "fine").name == "fine")
end }

tests[#tests + 1] = { name = "sandbox: each wall has an attack", run = function()
  local idle = {}
  for wall in pairs(walls) do
    if not used[wall] then idle[#idle + 1] = wall end
  end
  table.sort(idle)
  assert(#idle == 0, table.concat(idle, ", "))
end }

return tests
