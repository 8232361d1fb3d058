-- luatok: Lua text cut into tokens, none of its bytes lost or changed. Each token knows its bytes
-- (from, to) and its line; what lies between two tokens is blanks and comments. So an editor can
-- replace one token and leave every other byte of a file as its author wrote it.

local luatok = {}

local LONG = "^%[(=*)%["

-- The byte after the long bracket that begins at `at`, nil when it does not end.
local function long_end(text, at)
  local level = text:match(LONG, at)
  local _, to = text:find("]" .. level .. "]", at + #level + 2, true)
  return to and to + 1
end

-- The byte after a line break, which may be two bytes long.
local function after_break(text, at)
  local pair = text:sub(at, at + 1)
  return at + ((pair == "\r\n" or pair == "\n\r") and 2 or 1)
end

-- The byte after the quoted string that begins at `at`, nil when it does not end.
local function quoted_end(text, at)
  local quote = text:sub(at, at)
  local stops, i = "[\\\r\n" .. quote .. "]", at + 1
  while true do
    local stop = text:find(stops, i)
    local c = stop and text:sub(stop, stop)
    if c == quote then return stop + 1 end
    if c ~= "\\" then return nil end
    local escaped = text:sub(stop + 1, stop + 1)
    if escaped == "z" then
      i = text:match("^%s*()", stop + 2)
    elseif escaped:find("[\r\n]") then
      i = after_break(text, stop + 1)
    else
      i = stop + 2
    end
  end
end

local function number_end(text, at)
  local hex = text:match("^0[xX]()", at)
  local exponent = (hex and "^[pP]" or "^[eE]") .. "[+-]?()"
  local i = hex or at
  while true do
    local more = text:match(exponent, i) or text:match("^[%x.]()", i)
    if not more then return i end
    i = more
  end
end

-- First match counts.
local OPERATORS = { "^%.%.%.()", "^%.%.()", "^[=~<>]=()", "^::()", "^//()", "^<<()", "^>>()",
  "^[-+*/%%^#&~|<>=(){}%[%];:,.]()" }

local function operator_end(text, at)
  for _, pattern in ipairs(OPERATORS) do
    local to = text:match(pattern, at)
    if to then return to end
  end
end

-- The byte after the comment that begins at `at`; nil when it is a long one without end.
local function comment_end(text, at)
  if text:find(LONG, at + 2) then return long_end(text, at + 2) end
  return text:match("^[^\r\n]*()", at)
end

-- Kind of the token at `at`, the byte after it.
local function token_at(text, at)
  local to = text:match("^[%a_][%w_]*()", at)
  if to then return "name", to end
  if text:find("^%-%-", at) then return "comment", comment_end(text, at) end
  if text:find("^%.?%d", at) then return "number", number_end(text, at) end
  if text:find("^[\"']", at) then return "string", quoted_end(text, at) end
  if text:find(LONG, at) then return "string", long_end(text, at) end
  return "operator", operator_end(text, at)
end

local function breaks(piece)
  local n, i = 0, 1
  while true do
    local at = piece:find("[\r\n]", i)
    if not at then return n end
    n, i = n + 1, after_break(piece, at)
  end
end

-- List of tokens {kind = "name"|"number"|"string"|"operator", from, to, line, text}, comments left
-- out; or nil and the line of a token that is none of Lua's.
function luatok.scan(text)
  local list, at, line = {}, 1, 1
  while true do
    local from = text:find("%S", at)
    line = line + breaks(text:sub(at, (from or #text + 1) - 1))
    if not from then return list end
    local kind, after = token_at(text, from)
    if not after then return nil, line end
    local piece = text:sub(from, after - 1)
    if kind ~= "comment" then
      list[#list + 1] = { kind = kind, from = from, to = after - 1, line = line, text = piece }
    end
    line, at = line + breaks(piece), after
  end
end

-- The value of a number or string token, as Lua itself reads it.
function luatok.value(token)
  return load("return " .. token.text, "=token", "t", {})()
end

-- Tables -------------------------------------------------------------------------------------------
-- A table {...} in the text: open and close, its braces' tokens, and its fields in order. A field:
-- from, to (bytes), first, last (tokens of its value), key (a name, "?" when computed, nil in a
-- list), sep (token of the ',' or ';' after it). All of these take text that Lua accepts.

local PAIR = { ["("] = ")", ["{"] = "}", ["["] = "]" }
local CLOSES = { [")"] = true, ["}"] = true, ["]"] = true }

-- The token that closes the bracket at token i.
local function partner(tokens, i)
  local depth = 0
  for k = i, #tokens do
    if PAIR[tokens[k].text] then depth = depth + 1 end
    if CLOSES[tokens[k].text] then depth = depth - 1 end
    if depth == 0 then return k end
  end
end

-- The key of the field that begins at token i and the token of its value.
local function field_key(tokens, i)
  if tokens[i].kind == "name" and tokens[i + 1].text == "=" then return tokens[i].text, i + 2 end
  if tokens[i].text ~= "[" then return nil, i end
  local close = partner(tokens, i)
  local literal = close == i + 2 and tokens[i + 1].kind == "string"
  return literal and luatok.value(tokens[i + 1]) or "?", close + 2
end

-- The table whose '{' is token `open`.
function luatok.table_at(tokens, open)
  local t = { open = open, close = partner(tokens, open), fields = {} }
  local i = open + 1
  while i < t.close do
    local field = { from = tokens[i].from }
    field.key, field.first = field_key(tokens, i)
    i = field.first
    while i < t.close and not tokens[i].text:find("^[,;]$") do
      i = PAIR[tokens[i].text] and partner(tokens, i) + 1 or i + 1
    end
    field.last, field.to = i - 1, tokens[i - 1].to
    if i < t.close then field.sep = tokens[i] end
    t.fields[#t.fields + 1] = field
    i = i + 1
  end
  return t
end

-- The integer or string that tokens first..last spell, nil for anything else.
function luatok.scalar(tokens, first, last)
  local minus = tokens[first].text == "-" and tokens[last].kind == "number"
  if last - first ~= (minus and 1 or 0) then return nil end
  if tokens[last].kind ~= "number" and tokens[last].kind ~= "string" then return nil end
  local value = luatok.value(tokens[last])
  return minus and -value or value
end

-- The value of a field as a row: a list of one, or of the values in braces; nil where it is computed.
function luatok.literal(tokens, field)
  local one = luatok.scalar(tokens, field.first, field.last)
  if one ~= nil then return { one } end
  if tokens[field.first].text ~= "{" or partner(tokens, field.first) ~= field.last then return nil end
  local row = {}
  for i, inner in ipairs(luatok.table_at(tokens, field.first).fields) do
    row[i] = not inner.key and luatok.scalar(tokens, inner.first, inner.last) or nil
    if row[i] == nil then return nil end
  end
  return row
end

-- Tables of the statements `word {...}` or `word "name" {...}`, parentheses or not; line and last_line
-- say where the word and the brace stand.
function luatok.statements(tokens, word, name)
  local found = {}
  local function past(i, fits)
    local inner = tokens[i] and tokens[i].text == "(" and i + 1 or i
    local token = tokens[inner]
    if token and fits(token) then return inner, inner == i and i + 1 or i + 3 end
  end
  for i, token in ipairs(tokens) do
    local at = token.kind == "name" and token.text == word and i + 1 or nil
    if at and name then
      at = select(2, past(at, function(t) return t.kind == "string" and luatok.value(t) == name end))
    end
    local open = at and past(at, function(t) return t.text == "{" end)
    if open then
      local t = luatok.table_at(tokens, open)
      t.line, t.last_line = token.line, tokens[open].line
      found[#found + 1] = t
    end
  end
  return found
end

return luatok
