-- edit_place: where statements stand in the text of a space file, and where new ones go. A statement is
-- found by its word, its name and the line it ran at, so that the same words in comments, strings or
-- a branch that was not taken are never mistaken for it.
--
-- An edit at work, ed: sp, the space as it was loaded; own, the statements of the file alone; doc, its
-- text (splice.lua); op; spelled, statements that were looked for already. What the edit means goes into
-- becomes, gone and added (edit_meaning.lua).

local dsl = require "dsl"
local luatok = require "luatok"
local splice = require "splice"

local place = {}

local fmt, refuse = string.format, dsl.refuse

-- Finding ------------------------------------------------------------------------------------------

function place.covers(t, st)
  return t.line <= st.line and st.line <= t.last_line
end

local NAMELESS = { given = true, seed = true, forbid = true, search = true }

-- The statements of a kind without a name, as the text spells them.
function place.spelled(ed, kind)
  local found = ed.spelled[kind] or luatok.statements(ed.doc.tokens, kind)
  ed.spelled[kind] = found
  return found
end

-- Statements of the file without a name: as many stand on the line as ran there, or none is told apart.
local function find_nameless(ed, st)
  local tables, twins, nth = {}, 0, 1
  for _, t in ipairs(place.spelled(ed, st.kind)) do
    if place.covers(t, st) then tables[#tables + 1] = t end
  end
  for _, other in ipairs(ed.own) do
    if other == st then nth = twins + 1 end
    if other.kind == st.kind and other.file == st.file and other.line == st.line then twins = twins + 1 end
  end
  return #tables == twins and tables[nth] or nil
end

-- The words of the file that made the statement, nil where they are computed.
function place.find(ed, st)
  if NAMELESS[st.kind] then return find_nameless(ed, st) end
  for _, t in ipairs(luatok.statements(ed.doc.tokens, st.kind, st.name, st.kind == "drop")) do
    if place.covers(t, st) then return t end
  end
end

function place.text(ed, t)
  return ed.doc.text:sub(ed.doc.tokens[t.first].from, ed.doc.tokens[t.last].to)
end

-- Refuses when the statement is not what the editor saw.
function place.expect(ed, st, t)
  local want, got = ed.op.expect, t and place.text(ed, t)
  if not want or want == got then return end
  if not got then refuse(st, "no statement stands before it: EXPECT cannot hold") end
  local at = 1
  while want:byte(at) == got:byte(at) do at = at + 1 end
  refuse(st, "is not the text expected: from byte %d on it reads %s", at,
    at > #got and "nothing" or fmt("'%s'", (got:sub(at, at + 29):gsub("%c", " "))))
end

-- The words of a statement that an edit changes.
function place.claim(ed, st)
  local t = place.find(ed, st)
  if not t then
    local form = NAMELESS[st.kind] and fmt("%s { ... }", st.kind)
      or fmt(st.kind == "let" and "%s \"%s\" \"...\"" or "%s \"%s\" { ... }", st.kind, st.name)
    refuse(st, "is not written as %s: edit the file by hand", form)
  end
  place.expect(ed, st, t)
  return t
end

-- The last statement of the file that is of one of the kinds and runs once; nil where there is none.
function place.last(ed, kinds)
  local is = {}
  for _, kind in ipairs(kinds) do is[kind] = true end
  for i = #ed.own, 1, -1 do
    local t = is[ed.own[i].kind] and place.find(ed, ed.own[i])
    if t and luatok.top_level(ed.doc.tokens, t.first) then return t end
  end
end

-- Adding and taking away ------------------------------------------------------------------------------

-- A line break at a byte, of one byte or two; nil where none is.
local function break_at(text, at)
  return text:match("^\r\n", at) or text:match("^\n\r", at) or text:match("^[\r\n]", at)
end

-- How the lines of a text end: as the first does.
local function line_break(text)
  local at = text:find("[\r\n]")
  return at and break_at(text, at) or "\n"
end

-- The byte after the line on which `at` stands, or nil when more than blanks, comments and a ';' follows.
local function after_line(text, at)
  local closed = false
  while true do
    at = text:match("^[ \t\v\f]*()", at)
    if text:find("^%-%-", at) then
      at = luatok.comment_end(text, at)
    elseif text:sub(at, at) == ";" and not closed then
      at, closed = at + 1, true
    elseif at > #text then
      return at
    else
      local found = break_at(text, at)
      return found and at + #found
    end
  end
end

-- The blanks in front of a statement that begins its line.
local function indent_of(text, at)
  local blanks = text:sub(1, at - 1):match("[ \t]*$")
  local before = at - #blanks - 1
  return (before == 0 or text:find("^[\r\n]", before)) and blanks or ""
end

-- Puts a statement on a line of its own behind another, or at the end of the file.
function place.add(ed, t, statement)
  local doc = ed.doc
  local text, eol = doc.text, line_break(doc.text)
  statement = statement:gsub("\n", eol)
  local token = t and doc.tokens[t.last]
  local at = token and after_line(text, token.to + 1) or (not token and #text + 1)
  local indent = t and indent_of(text, doc.tokens[t.first].from) or ""
  if not at then
    splice.change(doc, token.to + 1, token.to, eol .. indent .. statement)
  elseif at > 1 and text:find("^[^\r\n]", at - 1) then -- the last line has no end
    splice.change(doc, at, at - 1, eol .. indent .. statement)
  else
    splice.change(doc, at, at - 1, indent .. statement .. eol)
  end
end

-- Takes a statement out, its ';' and its line when nothing else stands there; `instead` takes its place.
function place.cut(ed, t, instead)
  local doc = ed.doc
  local first, last, behind = doc.tokens[t.first], doc.tokens[t.last], doc.tokens[t.last + 2]
  if instead then return splice.change(doc, first.from, last.to, instead) end
  local stop, semicolon = last.to, doc.tokens[t.last + 1]
  -- a ';' may be what keeps "(" apart from the statement before
  if semicolon and semicolon.text == ";" and not (behind and behind.text == "(")
    and doc.text:sub(stop + 1, semicolon.from - 1):find("^[ \t]*$") then
    stop = semicolon.to
  end
  splice.cut(doc, first.from, stop)
end

-- Writing texts ---------------------------------------------------------------------------------------

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\" }

-- A text as Lua reads it, in the quotes asked for, or in the others where that spares backslashes.
function place.quoted(text, quote)
  quote = quote or '"'
  local other = quote == '"' and "'" or '"'
  if text:find(quote, 1, true) and not text:find(other, 1, true) then quote = other end
  local body = text:gsub("[%c\\" .. quote .. "]", function(c)
    return ESCAPES[c] or (c == quote and "\\" .. c) or fmt("\\%03d", c:byte())
  end)
  return quote .. body .. quote
end

return place
