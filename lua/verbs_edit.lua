-- verbs_edit: `loom edit FILE OP PARAM VALUE...` changes the domain of a parameter in a space file and
-- prints the lines that changed. The file is written whole or not at all, and only once its new text
-- is a valid space.

local edit = require "edit"
local fail = require "fail"

local verbs = {}

local USAGE = "edit wants FILE OP PARAM VALUE...: set-domain tile_m 64 128, add-value warps pingpong,2, "
  .. "remove-value stages 3, pin stages 4"

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

-- The changes by groups that share or touch a line: {first, last (lines), list of changes}.
local function hunks(starts, changes)
  local list = {}
  for _, c in ipairs(changes) do
    local first, last = line_of(starts, c.from), line_of(starts, math.max(c.from, c.to))
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
  for _, hunk in ipairs(hunks(starts, changes)) do
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
  local text, err = host.read(path)
  if not text then fail(err) end
  return text
end

-- Takes the words after the verb; returns the exit code.
function verbs.edit(words)
  if #words < 4 then fail.usage(USAGE) end
  local op, err = edit.parse(table.move(words, 2, #words, 1, {}))
  if not op then fail.usage(err) end
  local path = words[1]
  local text = read(path)
  local new, changes = edit.apply(text, path, op)
  if not new then fail(changes) end
  local done, why = host.write(path, new)
  if done == nil then fail(why) end
  host.out(diff(text, changes))
  return 0
end

return verbs
