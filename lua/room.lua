-- room: the sealed room a space file runs in. All that its text can reach are the words it is given
-- and `ipairs`: no io, os, require, load, pairs, string methods. Its instructions, its seconds and its
-- bytes are limited, while it is parsed too; a whole load (the file, its bases, what they mean together)
-- has limits of its own, room.guard. Whatever goes wrong inside is one user error at the file's own line.
--
-- While a file runs strings have no methods: what runs inside calls string.format and its like directly.

local checks = require "checks"
local fail = require "fail"

local room = {}

local fmt = string.format

-- Of one file.
room.instructions = 10 * 1000 * 1000
room.seconds = 1
room.bytes = 64 * 1024 * 1024

-- Of a whole load.
room.load_seconds = 1.5
room.load_bytes = 128 * 1024 * 1024

local CHUNK = "=spec" -- stands for the file's name while it runs: Lua would shorten a long one

-- Of a file's instructions between two looks at the limits: few, as a single one may copy 30 MB, or make
-- Lua collect a full heap. Lua counts the look's own too.
local STEP, LOOK = 30, 13
local COARSE = 1000 -- of our own, between two looks at the limits of a load

-- The load that is going on: {clock, bytes (the heap at most), run and thread of the file that runs}.
local whole

local now, used = host.now, host.cpu -- seconds on the wall, and those that this process worked

local function heap()
  return math.floor(collectgarbage("count") * 1024)
end

-- From now on the heap may grow by so many bytes, and never beyond what the whole load may have.
local function allow(bytes)
  if whole then bytes = math.max(1, math.min(bytes, whole.bytes - heap())) end
  host.memory(bytes)
end

local function disallow()
  if whole then allow(whole.bytes) else host.memory(0) end
end

-- The line of the file that is running: the innermost level that is its own. run = {file, line}.
function room.line(run)
  for level = 3, 200 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    if info.source == CHUNK and info.currentline > 0 then return info.currentline end
  end
  return run.line
end

local CLOSED = { io = true, os = true, require = true, load = true, loadstring = true, dofile = true,
  loadfile = true, debug = true, pairs = true, next = true, string = true, table = true, math = true,
  coroutine = true, utf8 = true, package = true, setmetatable = true, getmetatable = true,
  rawset = true, rawget = true, rawequal = true, rawlen = true, pcall = true, xpcall = true,
  error = true, assert = true, print = true, select = true, tostring = true, tonumber = true,
  type = true, collectgarbage = true, host = true, _G = true, warn = true }

-- The file's globals: `words` by name; `names` lists them for the hint of an unknown one.
local function environment(run, words, names)
  local function refuse(what, ...)
    fail(fmt("%s:%d: " .. what, run.file, room.line(run), ...))
  end
  return setmetatable({}, {
    __index = function(_, name)
      if words[name] then return words[name] end
      if name == "ipairs" then return ipairs end
      if type(name) ~= "string" then refuse("the globals have no %s in them", type(name)) end
      if CLOSED[name] then refuse("a space file cannot use '%s'", name) end
      refuse("unknown statement '%s'%s", name, fail.near(name, names))
    end,
    __newindex = function(_, name)
      if type(name) ~= "string" then refuse("the globals take no %s", type(name)) end
      refuse("'%s' would be global: write 'local %s'", name, name)
    end,
    __metatable = false,
  })
end

-- A limit in seconds of this process: what other processes take of the machine is not the file's fault.
-- That clock costs a system call, so it is asked only once as many seconds have gone by on the wall.
local function clock(seconds)
  return { seconds = seconds, from = used(), ends = now() + seconds }
end

local function is_over(c)
  if now() < c.ends then return false end
  local left = c.seconds - (used() - c.from)
  c.ends = now() + left
  return left <= 0
end

-- Refuses the file when its time is over, or the whole load's; else says when to look again.
local function look(run, line)
  if is_over(run.clock) then
    fail(fmt("%s:%d: more than %g s: does it end?", run.file, line or room.line(run), room.seconds))
  elseif whole and is_over(whole.clock) then
    fail(fmt("%s:%d: the load takes more than %g s", run.file, line or room.line(run), room.load_seconds))
  end
  return math.min(run.clock.ends, whole and whole.clock.ends or math.huge)
end

-- The text in pieces, none longer than a line: what Lua's parser makes of some texts takes the square of
-- their length, and no hook runs meanwhile.
local PIECE = 256

local function pieces(run, text)
  local at, more = 1, false
  return function()
    look(run, run.line)
    local piece = string.sub(text, at, at + PIECE - 1)
    if more and piece ~= "" then run.line = run.line + 1 end -- the end is no line
    piece = string.match(piece, "^[^\n]*\n") or piece
    more, at = string.sub(piece, -1) == "\n", at + #piece
    return piece
  end
end

-- In a protected call of its own, so that no message handler of a caller rewrites what Lua says.
local function parse(run, text, env)
  local ok, chunk, err = pcall(load, pieces(run, text), CHUNK, "t", env)
  if ok and chunk then
    run.line = 1
    return chunk
  end
  return nil, err or chunk
end

-- Runs the chunk in a coroutine of its own: after an error its stack is still there to look at,
-- which is the only way to learn where memory ran out.
local function limited(run, chunk)
  local left, again = room.instructions // STEP, look(run)
  local thread = coroutine.create(chunk)
  debug.sethook(thread, function()
    if now() > again then again = look(run) end
    left = left - 1
    if left > 0 then return end
    fail(fmt("%s:%d: more than %d instructions: does it end?", run.file, room.line(run),
      room.instructions))
  end, "", STEP + LOOK)
  if whole then whole.run, whole.thread = run, thread end
  local methods = getmetatable("")
  debug.setmetatable("", nil)
  local ok, err = coroutine.resume(thread)
  debug.setmetatable("", methods)
  return ok, err, thread
end

-- The innermost line of the spec on a stack that an error left behind.
local function line_of(thread, run)
  for level = 0, 200 do
    local info = thread and debug.getinfo(thread, level, "Sl")
    if not info then break end
    if info.source == CHUNK and info.currentline > 0 then return info.currentline end
  end
  return run.line
end

local MEMORY = "not enough memory" -- Lua's text

-- Lua's own message, "spec:12: ...", at the user's file. What went wrong in a file of ours is a fault
-- of ours, but for a stack that was full already when the spec came there.
local function lua_message(run, err, thread)
  if fail.text(err) then return fail.text(err) end
  if type(err) ~= "string" then error(err, 0) end
  if string.find(err, MEMORY, 1, true) then
    return fmt("%s:%d: more than %d MiB of memory", run.file, line_of(thread, run), room.bytes >> 20)
  end
  local line, rest = string.match(err, "^spec:(%d+): (.*)$")
  if not line then
    rest = string.match(err, "^[^:\n]*%.lua:%d+: (.*)$")
    if rest and not string.find(rest, "stack overflow", 1, true) then error(err, 0) end
  end
  return fmt("%s:%s: %s", run.file, line or line_of(thread, run), rest or err)
end

-- Runs the text of a file to its end; `words` are the functions it may call.
function room.run(run, text, words, names)
  run.clock = clock(room.seconds)
  allow(room.bytes)
  local ok, thread
  local chunk, err = parse(run, text, environment(run, words, names))
  if chunk then ok, err, thread = limited(run, chunk) end
  disallow()
  if whole then whole.run, whole.thread = nil, nil end
  if not ok then fail(lua_message(run, err, thread)) end
end

-- In a coroutine of its own as well: its hook is nobody else's, and ends with it.
local function guarded(file, f, ...)
  local limits = { clock = clock(room.load_seconds), bytes = heap() + room.load_bytes }
  local thread = coroutine.create(f)
  debug.sethook(thread, function()
    if is_over(limits.clock) then fail(fmt("%s:1: takes more than %g s to load", file, room.load_seconds)) end
  end, "", COARSE)
  local methods = getmetatable("")
  whole = limits
  allow(room.load_bytes)
  local ok, result = coroutine.resume(thread, ...)
  whole = nil
  host.memory(0)
  debug.setmetatable("", methods) -- the time may have ended while a file ran
  return ok, result, thread, limits
end

-- f(...) within the limits of a whole load: what takes longer or needs more, be it the work of several
-- files that are each within their limits, is an error of `file`. One result; its errors, and those of
-- the file, are lines that a terminal can show. A fault of our own keeps its stack.
function room.guard(file, f, ...)
  if whole then return f(...) end
  local ok, result, thread, limits = guarded(file, f, ...)
  if ok then return result end
  if result == MEMORY and limits.run then -- a file that left too little to say so itself
    fail(lua_message(limits.run, result, limits.thread))
  elseif result == MEMORY then
    fail(fmt("%s:1: takes more than %d MiB of memory to load", file, room.load_bytes >> 20))
  elseif not fail.text(result) then
    error(debug.traceback(thread, tostring(result)), 0)
  end
  result.user = checks.plain(result.user)
  error(result, 0)
end

return room
