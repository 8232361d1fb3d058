-- splice: lists of values in a space file, rewritten in place. Given a table of the text and the
-- rows its values were read as, makes the changes that turn them into other rows: values that stay
-- keep their bytes and comments, the others leave with one separator each, new ones are written as
-- their neighbours are. What an edit means is edit.lua's part.
--
-- doc = {text, tokens, changes}; a change is {from, to, text}: bytes from..to become `text`.

local luatok = require "luatok"

local splice = {}

function splice.open(text)
  return { text = text, tokens = assert(luatok.scan(text)), changes = {} }
end

function splice.field_of(t, key)
  for _, field in ipairs(t.fields) do
    if field.key == key then return field end
  end
end

-- Cutting ------------------------------------------------------------------------------------------

local function change(doc, from, to, text)
  doc.changes[#doc.changes + 1] = { from = from, to = to, text = text, at = #doc.changes }
end

splice.change = change

-- Where the blanks before a byte begin, and whether the line begins there.
local function blanks_before(text, at)
  while text:find("^[ \t]", at - 1) and at > 1 do at = at - 1 end
  return at, at == 1 or text:find("^[\r\n]", at - 1) ~= nil
end

-- Takes bytes out, with the line when nothing else is on it, or with the blanks beside them.
local function cut(doc, from, to)
  local before, begins = blanks_before(doc.text, from)
  local after, ending = doc.text:match("^[ \t]*()\r?\n?()", to + 1)
  if after == ending then
    change(doc, from, after - 1, "")
  else
    change(doc, before, begins and ending - 1 or to, "")
  end
end

local PLAIN_GAP = "^[ \t\r\n]*[,;][ \t\r\n]*$"

-- The text between two neighbours when it is a separator and blanks; nil where a comment stands.
local function plain_gap(doc, a, b)
  local gap = doc.text:sub(a.to + 1, b.from - 1)
  return gap:find(PLAIN_GAP) and gap
end

-- Does a comment follow on the line of this byte, a separator before it or not.
local function comment_follows(doc, at)
  return doc.text:find("^[ \t]*[,;]?[ \t]*%-%-", at + 1) ~= nil
end

-- Fields i..j of a table, all of which go. Each takes a separator along: the one before it, or, when
-- there is none or a line of its own with a comment would lose it, the one after it.
local function cut_run(doc, fields, i, j)
  local before = fields[i - 1]
  local gap = before and plain_gap(doc, before, fields[i])
  local own_line = before and (not gap or gap:find("[\r\n]") and comment_follows(doc, fields[j].to))
  local forward = fields[j].sep and (not before or own_line)
  while i <= j do
    local k = i -- i..k: no comments between
    while k < j and plain_gap(doc, fields[k], fields[k + 1]) do k = k + 1 end
    local first, last = fields[i], fields[k]
    if not forward and fields[i - 1] and plain_gap(doc, fields[i - 1], first) then
      change(doc, fields[i - 1].to + 1, last.to, "")
    elseif forward and doc.text:sub(last.to + 1, last.sep.from - 1):find("^%s*$") then
      cut(doc, first.from, last.sep.to)
    else
      local sep = forward and last.sep or fields[i - 1] and fields[i - 1].sep
      cut(doc, first.from, last.to)
      if sep then change(doc, sep.from, sep.to, "") end
    end
    i = k + 1
  end
end

-- Cuts the fields that `goes` (a set) has.
function splice.cut_fields(doc, fields, goes)
  local i = 1
  while i <= #fields do
    local j = i
    while goes[fields[j]] and goes[fields[j + 1]] do j = j + 1 end
    if goes[fields[i]] then cut_run(doc, fields, i, j) end
    i = j + 1
  end
end

-- Writing values -----------------------------------------------------------------------------------

-- How the author writes strings and rows: quote, blank inside braces, comma.
local function style_of(text)
  local quote = text:match("[\"']") or '"'
  return { quote = quote, pad = text:match("^{(%s*)[^%s}]") == " " and " " or "",
    comma = text:find(",[^%s]") and "," or ", " }
end

-- An integer as Lua reads it back: the least one has no decimal form.
local function digits(x)
  return x == math.mininteger and "0x8000000000000000" or tostring(x)
end

local function spell(row, style)
  local out = {}
  for i, value in ipairs(row) do
    out[i] = type(value) == "string" and style.quote .. value .. style.quote or digits(value)
  end
  if #out == 1 then return out[1] end
  return "{" .. style.pad .. table.concat(out, style.comma) .. style.pad .. "}"
end

local function field_text(doc, field)
  return doc.text:sub(doc.tokens[field.first].from, field.to)
end

-- Lists --------------------------------------------------------------------------------------------

-- Where each row stands, as a function of a row; by its text, for one parameter's rows have the same types.
local function positions(rows)
  local at = {}
  for i, row in ipairs(rows) do at[table.concat(row, "\0")] = i end
  return function(row) return at[table.concat(row, "\0")] end
end

-- Are the old values that stay in the order in which the new domain has them.
local function in_order(old, new)
  local place, last = positions(new), 0
  for _, row in ipairs(old) do
    local at = place(row)
    if at and at < last then return false end
    last = at or last
  end
  return last > 0
end

-- What stands between two values that are added at `at`, where text on the same line may follow.
local function gap_for(doc, list, at, line_begins)
  local gap = list[2] and plain_gap(doc, list[1], list[2]) or ", "
  if gap:find("[\r\n]") and (not line_begins or comment_follows(doc, at)) then return ", " end
  return gap
end

-- Adds values behind a field, or in front of `first` when nothing stands before it.
local function insert(doc, list, field, first, texts)
  if #texts == 0 then return end
  if field then
    local gap = gap_for(doc, list, field.to, true)
    change(doc, field.to + 1, field.to, gap .. table.concat(texts, gap))
  else
    local _, begins = blanks_before(doc.text, first.from)
    local gap = gap_for(doc, list, first.to, begins)
    change(doc, first.from, first.from - 1, table.concat(texts, gap) .. gap)
  end
end

-- Values that stay keep their bytes; the others are cut, new ones put between.
local function rewrite_in_order(doc, t, list, old, new)
  local goes, field_at, before = {}, {}, {}
  local style, place = style_of(field_text(doc, list[1])), positions(new)
  for i, row in ipairs(old) do
    local at = place(row)
    if at then field_at[at] = list[i] else goes[list[i]] = true end
  end
  for i, field in ipairs(t.fields) do before[field] = t.fields[i - 1] end
  local behind, texts = nil, {}
  for i = 1, #new + 1 do
    local field = field_at[i]
    if field or i > #new then
      local front = behind or before[field]
      if not goes[front] then insert(doc, list, front, field, texts) end
      if goes[front] then insert(doc, list, nil, field, texts) end
      behind, texts = field, {}
    else
      texts[#texts + 1] = spell(new[i], style)
    end
  end
  splice.cut_fields(doc, t.fields, goes)
end

-- All values in the place of the first; the others are cut.
local function rewrite_whole(doc, t, list, old, new)
  local texts, goes = {}, {}
  local style, place = style_of(field_text(doc, list[1])), positions(old)
  for i, row in ipairs(new) do
    local at = place(row)
    texts[i] = at and field_text(doc, list[at]) or spell(row, style)
  end
  for i = 2, #list do goes[list[i]] = true end
  change(doc, list[1].from, list[1].to, table.concat(texts, gap_for(doc, list, list[1].to, true)))
  splice.cut_fields(doc, t.fields, goes)
end

-- Ranges -------------------------------------------------------------------------------------------

-- The fields of {low, high} and the step when all are written out.
local function range_ends(doc, field)
  if doc.tokens[field.first].text ~= "{" then return nil end
  local inner, ends = luatok.table_at(doc.tokens, field.first).fields, {}
  for i, part in ipairs(inner) do
    ends[i] = not part.key and luatok.scalar(doc.tokens, part.first, part.last) or nil
    if ends[i] == nil then return nil end
  end
  return inner, ends[3] or 1
end

local function has_step(rows, step)
  for i = 2, #rows do
    if rows[i][1] - rows[i - 1][1] ~= step then return false end
  end
  return true
end

-- A range stays one where its ends can say the new domain; else it becomes a list.
local function rewrite_range(doc, field, old, new, as_list)
  local ends, step = range_ends(doc, field)
  if ends and has_step(new, step) and not as_list then
    local low, high = new[1][1], new[#new][1]
    if low ~= old[1][1] then change(doc, ends[1].from, ends[1].to, digits(low)) end
    if high ~= old[#old][1] then change(doc, ends[2].from, ends[2].to, digits(high)) end
    return
  end
  local texts = {}
  for i, row in ipairs(new) do texts[i] = digits(row[1]) end
  change(doc, field.from, field.to, table.concat(texts, ", "))
end

-- The parts of a written range that differ; nil where its ends are computed.
local function rewrite_parts(doc, field, want)
  local ends = range_ends(doc, field)
  if not ends then return nil end
  for i = 1, 3 do
    local part, value = ends[i], want[i] or (i == 3 and 1)
    if not part and value ~= 1 then
      local gap = plain_gap(doc, ends[1], ends[2]) or ", "
      change(doc, ends[2].to + 1, ends[2].to, (gap:find("[\r\n]") and ", " or gap) .. digits(value))
    elseif part and not want[i] and luatok.scalar(doc.tokens, part.first, part.last) ~= value then
      splice.cut_fields(doc, ends, { [part] = true })
    elseif part and luatok.scalar(doc.tokens, part.first, part.last) ~= value then
      change(doc, part.from, part.to, digits(value))
    end
  end
  return true
end

-- Makes the values of a parameter's table the range `want` {low, high[, step]}.
function splice.range(doc, t, want)
  local field, list = splice.field_of(t, "range"), splice.values(t)
  if field and rewrite_parts(doc, field, want) then return end
  local parts, goes = {}, {}
  for i, x in ipairs(want) do parts[i] = digits(x) end
  local text = "{" .. table.concat(parts, ", ") .. "}"
  if field then
    change(doc, doc.tokens[field.first].from, field.to, text)
  elseif list[1] then
    change(doc, list[1].from, list[1].to, "range = " .. text)
    for i = 2, #list do goes[list[i]] = true end
    splice.cut_fields(doc, t.fields, goes)
  end
end

-- Whole domains, single values ----------------------------------------------------------------------

-- The fields of a table that are no keys.
function splice.values(t)
  local list = {}
  for _, field in ipairs(t.fields) do
    if not field.key then list[#list + 1] = field end
  end
  return list
end

-- Turns the values of a parameter's table from the rows `old` into `new`, a range into a list if asked;
-- nil where they are computed.
function splice.domain(doc, t, old, new, as_list)
  local list, range = splice.values(t), splice.field_of(t, "range")
  if #list == 0 and range then
    rewrite_range(doc, range, old, new, as_list)
  elseif #list ~= #old then
    return nil
  elseif in_order(old, new) then
    rewrite_in_order(doc, t, list, old, new)
  else
    rewrite_whole(doc, t, list, old, new)
  end
  return true
end

-- Puts a row in the place of a field's value.
function splice.put(doc, field, row)
  change(doc, doc.tokens[field.first].from, field.to, spell(row, style_of(field_text(doc, field))))
end

-- `key = value` behind a field, written as the fields `like` (a list) are.
function splice.add_field(doc, behind, key, value, like)
  local text = ""
  for _, field in ipairs(like) do text = text .. " " .. field_text(doc, field) end
  change(doc, behind.to + 1, behind.to, ", " .. key .. " = " .. spell(value, style_of(text:sub(2))))
end

splice.style_of, splice.spell, splice.cut, splice.positions = style_of, spell, cut, positions

-- Result -------------------------------------------------------------------------------------------

local function before(a, b)
  if a.from ~= b.from then return a.from < b.from end
  if (a.to < a.from) ~= (b.to < b.from) then return a.to < a.from end
  return a.at < b.at
end

local NEAR = 32 -- bytes in front of a change that say where it belongs

-- The text with its changes made; sorts them and notes what each expects to find: `old`, the bytes that
-- go, and `near`, those just before.
function splice.merged(doc)
  table.sort(doc.changes, before)
  local out, at = {}, 1
  for _, c in ipairs(doc.changes) do
    assert(c.from >= at, "changes overlap")
    c.old, c.near = doc.text:sub(c.from, c.to), doc.text:sub(math.max(1, c.from - NEAR), c.from - 1)
    out[#out + 1] = doc.text:sub(at, c.from - 1)
    out[#out + 1] = c.text
    at = c.to + 1
  end
  out[#out + 1] = doc.text:sub(at)
  return table.concat(out)
end

-- Makes the changes in a text where each finds what it expects at its place; nil and the byte where one
-- does not.
function splice.patched(text, changes)
  local out, at = {}, 1
  for _, c in ipairs(changes) do
    local from = c.from - #c.near
    if c.from < at or text:sub(from, c.to) ~= c.near .. c.old or c.from > #text + 1 then return nil, c.from end
    out[#out + 1] = text:sub(at, c.from - 1) .. c.text
    at = c.to + 1
  end
  return table.concat(out) .. text:sub(at)
end

return splice
