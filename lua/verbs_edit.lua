-- verbs_edit: `loom edit FILE OP ...` changes a space file and prints the lines that changed; `loom edit
-- FILE show NAME` prints a statement as it stands there. The file is written whole or not at all, only
-- once its new text is a valid space, and only while it is still the text that was edited.

local edit = require "edit"
local fail = require "fail"
local outdir = require "outdir"
local space = require "space"
local words = require "edit_words"

local verbs = {}

local function usage()
  local ops = {}
  for i, op in ipairs(words.ops) do ops[i] = op .. " " .. words.forms[op].usage end
  return "edit wants FILE and one of: " .. table.concat(ops, ", ") .. ", show NAME"
end

-- What `loom help edit` says of the operations.
function verbs.help()
  local out = {}
  for i, op in ipairs(words.ops) do
    out[i] = string.format("  %-42s %s\n", op .. " " .. words.forms[op].usage, words.does[op])
  end
  return table.concat(out) .. string.format("  %-42s %s\n", "show NAME", "print a statement as it stands there")
    .. "  EXPECT=TEXT with any of them: only while the statement is this text\n"
end

-- Where each line of a text begins, and one past its end.
local function line_starts(text)
  local starts = { 1 }
  for at in text:gmatch("\n()") do starts[#starts + 1] = at end
  if starts[#starts] <= #text then starts[#starts + 1] = #text + 1 end
  return starts
end

local function line_of(starts, at)
  local low, high = 1, #starts
  while low < high do
    local middle = (low + high + 1) // 2
    if starts[middle] <= at then low = middle else high = middle - 1 end
  end
  return low
end

-- The first and the last line that a change touches: none where whole lines are put between others.
local function touched(text, starts, c)
  local first = line_of(starts, math.min(c.from, math.max(1, #text)))
  if c.to >= c.from then return first, line_of(starts, c.to) end
  local whole = c.text:find("\n$") and (c.from == 1 or text:sub(c.from - 1, c.from - 1) == "\n")
  if whole then return line_of(starts, c.from), line_of(starts, c.from) - 1 end
  return first, first
end

-- The changes by groups that share or touch a line: {first, last (lines), list of changes}.
local function hunks(text, starts, changes)
  local list = {}
  for _, c in ipairs(changes) do
    local first, last = touched(text, starts, c)
    local hunk = list[#list]
    if not hunk or first > hunk.last + 1 then
      hunk = { first = first, last = last }
      list[#list + 1] = hunk
    end
    hunk.last = math.max(hunk.last, last)
    hunk[#hunk + 1] = c
  end
  return list
end

local function lines(mark, text)
  if text ~= "" and not text:find("\n$") then text = text .. "\n" end
  return (text:gsub("[^\n]*\n", mark .. "%0"))
end

-- The lines that change, old and new ones, under the number of the first.
local function diff(text, changes)
  local starts, out = line_starts(text), {}
  for _, hunk in ipairs(hunks(text, starts, changes)) do
    local from, stop = starts[hunk.first], (starts[hunk.last + 1] or #text + 1) - 1
    local new, at = {}, from
    for _, c in ipairs(hunk) do
      new[#new + 1] = text:sub(at, c.from - 1) .. c.text
      at = c.to + 1
    end
    new[#new + 1] = text:sub(at, stop)
    out[#out + 1] = string.format("@@ line %d\n", hunk.first) .. lines("-", text:sub(from, stop))
      .. lines("+", table.concat(new))
  end
  return table.concat(out)
end

verbs.diff = diff

local function read(path)
  local text, err = host.read(path, space.bytes)
  if not text then fail(err) end
  return text
end

local PATIENCE = 20 -- seconds that an edit waits for others

-- The lock that all edits of this checkout take, so that of two at once the second sees what the first
-- wrote. Where out/ cannot be written there is none: then only the last look at the file is left.
local function take_lock()
  local folder, ends = outdir.path({}, "cache"), host.now() + PATIENCE
  if not host.mkdir(folder) then return nil end
  while true do
    local lock, err = host.log(folder .. "/edit.lock")
    if err ~= "locked" then return lock end
    if host.interrupted() then fail("interrupted: nothing is written") end
    if host.now() > ends then fail("another edit does not end: nothing is written") end
    collectgarbage() -- what could not be locked is still open
  end
end

local function show(path, given)
  if #given ~= 3 then fail.usage("edit FILE show wants one NAME") end
  local text, err = edit.show(read(path), path, given[3])
  if not text then fail(err) end
  host.out(text .. "\n")
  return 0
end

-- Takes the words after the verb; returns the exit code.
function verbs.edit(given)
  if #given < 2 then fail.usage(usage()) end
  local path = given[1]
  if path == "" then fail.usage("the name of FILE is empty") end
  if given[2] == "show" then return show(path, given) end
  local op, err = edit.parse(table.move(given, 2, #given, 1, {}))
  if not op then fail.usage(err) end
  local _ <close> = take_lock()
  local text = read(path)
  local new, changes = edit.apply(text, path, op)
  if not new then fail(changes) end
  if read(path) ~= text then
    fail(string.format("%s:1: changed meanwhile: nothing is written", outdir.shown(path)))
  end
  local done, why = host.write(path, new)
  if done == nil then fail(why) end
  host.out(diff(text, changes))
  return 0
end

return verbs
