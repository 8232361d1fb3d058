-- checks: what each statement of a space file has to be checked for, whatever it is: where it stands,
-- its keys, names, values and texts. All of it runs inside the sealed room, where strings have no methods.

local fail = require "fail"

local checks = {}

local fmt = string.format

checks.word = 64 -- bytes of a name or of a value that is a string
checks.named = 1000 -- keys of one table that are strings

-- Places and complaints ------------------------------------------------------------------------

function checks.label(st)
  return st.name and fmt("%s '%s'", st.kind, st.name) or st.kind
end

local LONGEST = 1000 -- bytes of a message that quotes a spec

-- Text of a spec as a message may hold it: one line, nothing that a terminal would obey.
function checks.plain(text)
  if #text > LONGEST then text = string.sub(text, 1, LONGEST) .. "..." end
  local odd = utf8.len(text) and "%c" or "[%c\x80-\xff]"
  text = string.gsub(text, odd, function(sign) return fmt("\\%d", string.byte(sign)) end)
  return (string.gsub(text, "\xc2[\x80-\x9f]", "?")) -- the upper control characters
end

-- "file:line: param 'x': message".
function checks.complaint(st, ...)
  return fmt("%s:%d: %s: %s", st.file, st.line, checks.label(st), fmt(...))
end

-- Fails at the statement.
function checks.refuse(st, ...)
  fail(checks.complaint(st, ...))
end

local refuse = checks.refuse

function checks.shown(value)
  if type(value) == "string" then return fmt("'%s'", value) end
  if type(value) == "number" then return tostring(value) end
  return "a " .. type(value)
end

-- Keys of a table that are strings, sorted; refuses what is neither a string nor 1..#t.
function checks.string_keys(st, t)
  local keys = {}
  for key in pairs(t) do
    if type(key) == "string" then
      keys[#keys + 1] = key
      if #keys > checks.named then refuse(st, "more than %d keys in one table", checks.named) end
    elseif math.type(key) ~= "integer" or key < 1 or key > #t then
      refuse(st, "index %s in a list of %d", checks.shown(key), #t)
    end
  end
  table.sort(keys)
  return keys
end

-- Refuses keys outside of `known` (a list) and values of another type than `types` says.
function checks.keys(st, t, known, types)
  for _, key in ipairs(checks.string_keys(st, t)) do
    local want = types[key]
    if not want then refuse(st, "unknown key '%s'%s", key, fail.near(key, known)) end
    local got = math.type(t[key]) or type(t[key])
    if want ~= "any" and got ~= want then
      refuse(st, "'%s' wants a%s %s, not %s", key, want == "integer" and "n" or "", want, checks.shown(t[key]))
    end
  end
end

function checks.identifier(st, name, what)
  if type(name) ~= "string" or not string.find(name, "^[%a_][%w_]*$") then
    refuse(st, "%s %s is not a name of letters, digits and '_'", what, checks.shown(name))
  elseif #name > checks.word then
    refuse(st, "%s '%s' has %d bytes; %d are the most", what, name, #name, checks.word)
  end
end

-- A value that a key can hold: an integer, or a short word.
function checks.value(st, value)
  local kind = math.type(value) or type(value)
  if kind == "float" then
    refuse(st, "%s is a float; values are integers or strings", tostring(value))
  elseif kind ~= "integer" and kind ~= "string" then
    refuse(st, "a value is %s; values are integers or strings", checks.shown(value))
  elseif kind == "string" and not string.find(value, "^[%w_.+-]+$") then
    refuse(st, "value '%s' has other characters than letters, digits, '_', '.', '+', '-'", value)
  elseif kind == "string" and #value > checks.word then
    refuse(st, "value '%s' has %d bytes; %d are the most", value, #value, checks.word)
  end
  return kind
end

-- What people read, or an expression, as one line: it will stand in messages, tables and comments. Blanks
-- become one in a text of several lines. Nil stays nil.
function checks.one_line(st, what, text, limit)
  if text == nil then return nil end
  if #text > limit then refuse(st, "%s has %d bytes; %d are the most", what, #text, limit) end
  if string.find(text, "\n", 1, true) then text = string.gsub(string.gsub(text, "[ \t\r\n]+", " "), " $", "") end
  text = string.gsub(text, "\t", " ")
  if not utf8.len(text) then refuse(st, "%s is not UTF-8", what) end
  if string.find(text, "%c") or string.find(text, "\xc2[\x80-\x9f]") then
    refuse(st, "%s has a control character", what)
  elseif string.find(text, "\\$") then
    refuse(st, "%s ends in a backslash, which would join the next line of a comment", what)
  end
  return text
end

-- Rows: the values of a parameter, each a list with one value for each of its names ----------------

-- Text of a row, as it stands in a message: 4, 'none' or {2, 4}.
function checks.row_text(row)
  local out = {}
  for i, value in ipairs(row) do out[i] = checks.shown(value) end
  return #out == 1 and out[1] or "{" .. table.concat(out, ", ") .. "}"
end

-- The same of a list of rows, the first twelve.
function checks.rows_text(rows)
  local out = {}
  for i, row in ipairs(rows) do
    if i > 12 then return table.concat(out, ", ") .. ", ..." end
    out[i] = checks.row_text(row)
  end
  return table.concat(out, ", ")
end

function checks.same_row(a, b)
  for i, value in ipairs(a) do
    if b[i] ~= value then return false end
  end
  return #a == #b
end

-- Where a row stands among others, nil when it does not.
function checks.row_index(rows, row)
  for i, known in ipairs(rows) do
    if checks.same_row(known, row) then return i end
  end
end

return checks
