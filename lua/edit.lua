-- edit: changes a space file as text. Each operation says which bytes become what, and nothing else
-- moves: comments, blanks and the spelling of other values stay as they were. The new text is loaded
-- before anyone sees it, and must mean what was asked and nothing else (edit_meaning.lua).
--
-- An op is {kind =, expect =} and what it takes: values of a parameter {param =, values =} (a value is
-- an integer, a string, or a list of them for tied parameters), the fields of a seed {fields = {{name =,
-- value =}...}}, a let {name =, expr =}, a rule {rule =, name =, expr =, why =}, a key of the search
-- {key =, value =}. `expect` is the text of the statement as the editor saw it: the one that changes, or
-- the one behind which a new one goes.

local dsl = require "dsl"
local domain = require "edit_domain"
local fail = require "fail"
local meaning = require "edit_meaning"
local place = require "edit_place"
local space = require "space"
local splice = require "splice"
local statement = require "edit_statement"
local words = require "edit_words"

local edit = {}

local fmt, refuse = string.format, dsl.refuse

edit.ops = words.ops
edit.domain_ops = { "set-domain", "add-value", "remove-value", "pin" } -- those on the values of a parameter

local RUN = {}
for _, kind in ipairs(edit.ops) do RUN[kind] = domain.ops[kind] or statement.ops[kind] end

local function open(text, path, op)
  local sp = space.load_text(path, text)
  return { sp = sp, own = dsl.read(sp.file, text), doc = splice.open(text), op = op, becomes = {}, gone = {},
    added = {}, spelled = {} }
end

local function apply(text, path, op)
  local ed = open(text, path, op)
  if not RUN[op.kind] then
    fail(fmt("%s:%d: unknown edit '%s'%s", ed.sp.file, ed.sp.line, tostring(op.kind),
      fail.near(tostring(op.kind), edit.ops)))
  end
  ed.target = RUN[op.kind](ed)
  local result = splice.merged(ed.doc)
  meaning.verify(ed, path, result)
  return result, ed.doc.changes
end

-- A refusal is one line, whatever stands in the words it quotes.
local function guarded(f, ...)
  local ok, result, more = pcall(f, ...)
  if ok then return result, more end
  if not fail.text(result) then error(result, 0) end
  return nil, (fail.text(result):gsub("%c", " "))
end

-- The new text and the changes that made it, in order: {from, to, text} by bytes of the old one, with
-- `old`, what stood there, and `near`, what stood before it; or nil and "file:line: why not". `path` is
-- the file's: bases are looked for beside it, then in spaces/.
function edit.apply(text, path, op)
  return guarded(apply, text, path, op)
end

-- The changes made in a text, be it the same or another, where each finds the bytes it expects at its
-- place; nil and why not. Nobody has read the result.
function edit.patch(text, changes)
  local new, at = splice.patched(text, changes)
  if new then return new end
  local _, line = text:sub(1, at - 1):gsub("\n", "")
  return nil, fmt("line %d is not the text that was edited", line + 1)
end

-- The space that the text is; or nil and "file:line: what is wrong".
function edit.check(text, path)
  return guarded(space.load_text, path, text)
end

-- Showing ------------------------------------------------------------------------------------------

-- The statement that a name means: a parameter, one of its tied names, a let or a rule; else a word for
-- the last statement of that kind.
local DECLARES = { param = true, let = true, must = true, prefer = true }

local function named(list, name)
  local last
  for _, st in ipairs(list) do
    if DECLARES[st.kind] and st.name == name then return st end
    if st.kind == name then last = st end
    for _, column in ipairs(st.kind == "param" and st.names or {}) do
      if column == name then last = st end
    end
  end
  return last
end

local function show(text, path, name)
  local ed = open(text, path, {})
  local st, sp, names = named(ed.own, name), ed.sp, {}
  local inherited = not st and sp.base and named(sp.base.statements, name)
  if inherited then
    refuse(inherited, "stands here and is inherited by space '%s'", sp.name)
  elseif not st then
    for i, one in ipairs(ed.own) do names[i] = one.name or one.kind end
    fail(fmt("%s:%d: no statement '%s'%s", sp.file, sp.line, name, fail.near(name, names)))
  end
  return place.text(ed, place.claim(ed, st))
end

-- The text of a statement, from its word to the end of its body; or nil and "file:line: why not".
function edit.show(text, path, name)
  return guarded(show, text, path, name)
end

-- Words --------------------------------------------------------------------------------------------

-- The op of a list of words, or of a text with blanks between them; or nil and what is wrong.
function edit.parse(given)
  return guarded(words.parse, given)
end

-- The words of an op as one text; edit.parse reads it back.
edit.format = words.format

return edit
