-- room: the sealed room a space file runs in. All that its text can reach are the words it is given
-- and `ipairs`: no io, os, require, load, pairs, string methods; a limited number of instructions
-- and bytes. Whatever goes wrong inside is one user error at the file's own line.
--
-- While a file runs strings have no methods: what runs inside calls string.format and its like directly.

local fail = require "fail"

local room = {}

local fmt = string.format

room.instructions = 10 * 1000 * 1000
room.bytes = 64 * 1024 * 1024

local CHUNK = "=spec" -- stands for the file's name while it runs: Lua would shorten a long one

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
  local function place() return fmt("%s:%d", run.file, room.line(run)) end
  return setmetatable({}, {
    __index = function(_, name)
      if words[name] then return words[name] end
      if name == "ipairs" then return ipairs end
      if CLOSED[name] then fail(fmt("%s: a space file cannot use '%s'", place(), name)) end
      fail(fmt("%s: unknown statement '%s'%s", place(), tostring(name),
        fail.near(tostring(name), names)))
    end,
    __newindex = function(_, name)
      fail(fmt("%s: '%s' would be global: write 'local %s'", place(), tostring(name), tostring(name)))
    end,
    __metatable = false,
  })
end

local STEP = 1000 -- instructions between two looks

-- Runs the chunk in a coroutine of its own: after an error its stack is still there to look at,
-- which is the only way to learn where memory ran out.
local function limited(run, chunk)
  local left = room.instructions // STEP
  local thread = coroutine.create(chunk)
  debug.sethook(thread, function()
    left = left - 1
    if left > 0 then return end
    fail(fmt("%s:%d: more than %d instructions: does it end?", run.file, room.line(run),
      room.instructions))
  end, "", STEP)
  local methods = getmetatable("")
  debug.setmetatable("", nil)
  host.memory(room.bytes)
  local ok, err = coroutine.resume(thread)
  host.memory(0)
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

-- Lua's own message, "spec:12: ...", at the user's file.
local function lua_message(run, err, thread)
  if fail.text(err) then return fail.text(err) end
  if type(err) ~= "string" then error(err, 0) end
  if string.find(err, "not enough memory", 1, true) then
    return fmt("%s:%d: more than %d MiB of memory", run.file, line_of(thread, run), room.bytes >> 20)
  end
  local line, rest = string.match(err, "^spec:(%d+): (.*)$")
  return fmt("%s:%s: %s", run.file, line or line_of(thread, run), string.match(rest or err, "^[^\n]*"))
end

-- Runs the text of a file to its end; `words` are the functions it may call.
function room.run(run, text, words, names)
  local chunk, err = load(text, CHUNK, "t", environment(run, words, names))
  if not chunk then fail(lua_message(run, err)) end
  local ok, thread
  ok, err, thread = limited(run, chunk)
  if not ok then fail(lua_message(run, err, thread)) end
end

return room
