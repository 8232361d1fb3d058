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
  if text:find("^=[^=]", at) then return at + 1 end
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

-- Bytes that are a token of one byte, whatever follows.
local SINGLE = {}
for c in ("{}(),;+*%^#&|"):gmatch(".") do SINGLE[c:byte()] = true end

-- Kind of the token at `at`, the byte after it.
local function token_at(text, at)
  if SINGLE[text:byte(at)] then return "operator", at + 1 end
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
  local next_break = text:find("[\r\n]") or #text + 1
  local function pass(from, to) -- counts the lines that end in these bytes
    if next_break > to then return end
    line = line + breaks(text:sub(from, to))
    next_break = text:find("[\r\n]", to + 1) or #text + 1
  end
  while true do
    local from = text:find("%S", at)
    pass(at, (from or #text + 1) - 1)
    if not from then return list end
    local kind, after = token_at(text, from)
    if not after then return nil, line end
    if kind ~= "comment" then
      list[#list + 1] = { kind = kind, from = from, to = after - 1, line = line, text = text:sub(from, after - 1) }
    end
    pass(from, after - 1)
    at = after
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

-- Statements ---------------------------------------------------------------------------------------

-- The literal, a string or a table, that is the argument at token i, in parentheses or not: its first
-- token and the last one of the argument.
local function argument(tokens, i)
  local open = tokens[i] and tokens[i].text == "("
  local at = open and i + 1 or i
  local token, last = tokens[at], nil
  if token and token.text == "{" then last = partner(tokens, at) end
  if token and token.kind == "string" then last = at end
  if not last or not open then return last and at, last end
  if tokens[last + 1].text == ")" then return at, last + 1 end
end

-- `a.seed {...}` and the like are somebody's own.
local FIELD_OF = { ["."] = true, [":"] = true, ["function"] = true }

-- The tokens that are a word, looked for once: an edit of a long file asks for the same few again and again.
local function tokens_of(tokens, word)
  tokens.of = tokens.of or {}
  local list = tokens.of[word] or {}
  if tokens.of[word] then return list end
  for i, token in ipairs(tokens) do
    if token.kind == "name" and token.text == word then list[#list + 1] = i end
  end
  tokens.of[word] = list
  return list
end

-- Statements `word {...}`, `word "name" {...}`, `let "name" "..."`, parentheses or not; with `bare`
-- those that end with their name. Each: first, last (tokens), line and last_line (where the word and
-- the body stand), the fields of its table_at, or `string`, the token of its text.
function luatok.statements(tokens, word, name, bare)
  local found = {}
  for _, i in ipairs(tokens_of(tokens, word)) do
    local token, fits = tokens[i], not (i > 1 and FIELD_OF[tokens[i - 1].text])
    local at, last = fits and i + 1 or nil, i
    if at and name then
      at, last = argument(tokens, at)
      fits = at and tokens[at].kind == "string" and luatok.value(tokens[at]) == name
      if fits and not bare then at, last = argument(tokens, last + 1) end
    elseif at then
      at, last = argument(tokens, at)
    end
    if fits and at then
      local string = tokens[at].kind == "string"
      local t = string and { string = at, fields = {} } or luatok.table_at(tokens, at)
      t.first, t.last, t.line, t.last_line = i, last, token.line, tokens[at].line
      found[#found + 1] = t
    end
  end
  return found
end

local OPENS = { ["do"] = 1, ["then"] = 1, ["function"] = 1, ["repeat"] = 1, ["end"] = -1, ["until"] = -1,
  ["elseif"] = -1, ["("] = 1, ["{"] = 1, ["["] = 1, [")"] = -1, ["}"] = -1, ["]"] = -1 }

-- In how many blocks and brackets each token stands.
local function depths_of(tokens)
  local depths, depth = {}, 0
  for k, token in ipairs(tokens) do depths[k], depth = depth, depth + (OPENS[token.text] or 0) end
  return depths
end

-- Is token i outside of all blocks and brackets.
function luatok.top_level(tokens, i)
  tokens.depths = tokens.depths or depths_of(tokens)
  return tokens.depths[i] == 0
end

-- The byte after the comment that begins at byte `at` of a text.
luatok.comment_end = comment_end

return luatok
