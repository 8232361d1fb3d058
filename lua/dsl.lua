-- dsl: the words of a space file. A spec is Lua text that runs in a sealed room (room.lua) and can
-- call the statements below. Each statement is checked at once and kept as a plain record with its
-- own file:line; dsl.read returns the list of them in source order. What statements mean together
-- (inheritance, names, types) is resolve.lua's part.
--
-- While a spec runs strings have no methods: this file calls string.format and its like directly.

local checks = require "checks"
local duration = require "duration"
local fail = require "fail"
local room = require "room"

local dsl = {}

local fmt = string.format

dsl.format = 1
dsl.values = 65536 -- values one parameter may have
dsl.statements = 1000 -- statements of one file
dsl.expression = 4096 -- bytes of one expression
dsl.expressions = 256 * 1024 -- bytes of all expressions of one file
dsl.prose = 1024 -- bytes of one doc or why

dsl.label, dsl.complaint, dsl.refuse = checks.label, checks.complaint, checks.refuse
dsl.row_text, dsl.rows_text = checks.row_text, checks.rows_text
dsl.same_row, dsl.row_index = checks.same_row, checks.row_index

local refuse, shown, string_keys, check_keys, check_value =
  checks.refuse, checks.shown, checks.string_keys, checks.keys, checks.value

local function prose(st, t, key)
  return checks.one_line(st, fmt("'%s'", key), t[key], dsl.prose)
end

local function expression(st, text)
  text = checks.one_line(st, st.kind == "param" and "'when'" or "the expression", text, dsl.expression)
  st.run.expressions = st.run.expressions + #(text or "")
  if st.run.expressions > dsl.expressions then
    refuse(st, "more than %d bytes of expressions in one file", dsl.expressions)
  end
  return text
end

-- Statements: each handler gets the record {kind, name, file, line} and the statement's table ----

local handlers = {}

local SPACE_KEYS = { "format", "base", "template", "arch", "doc" }
local SPACE_TYPES = { format = "integer", base = "string", template = "string", arch = "string",
  doc = "string" }

function handlers.space(st, t)
  check_keys(st, t, SPACE_KEYS, SPACE_TYPES)
  if #t > 0 then refuse(st, "takes no list") end
  if not t.format then refuse(st, "lacks 'format = %d'", dsl.format) end
  if t.format ~= dsl.format then
    refuse(st, "format %d; this loom reads format %d", t.format, dsl.format)
  end
  if t.arch and not string.find(t.arch, "^sm_%d+a?$") then
    refuse(st, "arch '%s' is not of the form sm_90 or sm_90a", t.arch)
  end
  for _, key in ipairs { "base", "template" } do
    if t[key] and not string.find(t[key], "^[%w_][%w_.-]*$") then
      refuse(st, "%s '%s' is not a plain file name", key, t[key])
    end
  end
  for _, key in ipairs(SPACE_KEYS) do st[key] = t[key] end
  st.doc = prose(st, t, "doc")
end

function handlers.given(st, t)
  check_keys(st, t, {}, {})
  local seen = {}
  for _, name in ipairs(t) do
    checks.identifier(st, name, "given")
    if seen[name] then refuse(st, "'%s' stands twice", name) end
    seen[name] = true
  end
  st.names = { table.unpack(t) }
end

-- {low, high} or {low, high, step} -> low, high, step.
local function range_of(st, range)
  if #string_keys(st, range) > 0 or #range < 2 or #range > 3 then
    refuse(st, "range wants {low, high} or {low, high, step}")
  end
  for _, x in ipairs(range) do
    if math.type(x) ~= "integer" then refuse(st, "range wants integers, not %s", shown(x)) end
  end
  local lo, hi, step = range[1], range[2], range[3] or 1
  if step < 1 then refuse(st, "range has step %d", step) end
  if hi < lo then refuse(st, "range {%d, %d} is empty", lo, hi) end
  return lo, hi, step
end

local function range_rows(st, range)
  local lo, hi, step = range_of(st, range)
  if hi - lo < 0 or (hi - lo) // step >= dsl.values then -- the difference may wrap
    refuse(st, "range has more than %d values", dsl.values)
  end
  local rows = {}
  for x = lo, hi, step do rows[#rows + 1] = { x } end
  return rows
end

-- One row of a tied parameter: as many values as names.
local function check_row(st, row)
  if type(row) ~= "table" or #row ~= #st.names or #string_keys(st, row) > 0 then
    refuse(st, "each value wants {%s}", table.concat(st.names, ", "))
  end
  for _, value in ipairs(row) do check_value(st, value) end
  return { table.unpack(row) }
end

local function check_one(st, value)
  check_value(st, value)
  return { value }
end

local function row_key(row)
  return table.concat(row, "\0")
end

local function check_types(st)
  if st.ranged then return end
  for i, name in ipairs(st.names) do
    for _, row in ipairs(st.rows) do
      if math.type(row[i]) ~= math.type(st.rows[1][i]) then
        refuse(st, "'%s' mixes integers and strings", name)
      end
    end
  end
end

local function check_unique(st)
  local seen = {}
  for _, row in ipairs(st.ranged and {} or st.rows) do
    if seen[row_key(row)] then refuse(st, "value %s stands twice", dsl.row_text(row)) end
    seen[row_key(row)] = true
  end
end

-- The default or the pin: a row that must be among the others.
local function chosen(st, t, key, check)
  if t[key] == nil then return nil end
  local row = check(st, t[key])
  if not dsl.row_index(st.rows, row) then
    refuse(st, "%s %s is not among its values", key, dsl.row_text(row))
  end
  return row
end

-- The values of a list, each through `check`, or of a range, which need none, into st.rows.
local function fill_rows(st, t, check)
  if t.range and (#t > 0 or t.as) then refuse(st, "has both a range and a list of values") end
  if #t > dsl.values then refuse(st, "has more than %d values", dsl.values) end
  st.ranged, st.rows = t.range ~= nil, t.range and range_rows(st, t.range) or {}
  for i, value in ipairs(t) do st.rows[i] = check(st, value) end
  if #st.rows == 0 then refuse(st, "has no values") end
end

local PARAM_KEYS = { "doc", "default", "when", "range", "as", "pin" }
local PARAM_TYPES = { doc = "string", default = "any", when = "string", range = "table", as = "table",
  pin = "any" }

-- Sets names (of its columns), rows (its values, each a list with one value for each name), default
-- and pin (rows too); ranged says that a range made the rows: they are integers, no two the same.
function handlers.param(st, t)
  check_keys(st, t, PARAM_KEYS, PARAM_TYPES)
  st.doc, st.when, st.names = prose(st, t, "doc"), expression(st, t.when), { st.name }
  if t.as then
    if #string_keys(st, t.as) > 0 or #t.as < 2 then refuse(st, "'as' wants two names or more") end
    for _, name in ipairs(t.as) do checks.identifier(st, name, "tied name") end
    st.names, st.tied = { table.unpack(t.as) }, true
  end
  local check = t.as and check_row or check_one
  fill_rows(st, t, check)
  check_types(st)
  check_unique(st)
  st.default, st.pin = chosen(st, t, "default", check), chosen(st, t, "pin", check)
  if st.when and not st.default then refuse(st, "has 'when' and no 'default'") end
end

local CHANGE_KEYS = { "doc", "default", "range" }
local CHANGE_TYPES = { doc = "string", default = "any", range = "table" }

-- A value of a parameter that stands in another file, tied or not.
local function check_any(st, value)
  if type(value) ~= "table" then return check_one(st, value) end
  if #value < 2 or #string_keys(st, value) > 0 then refuse(st, "a tied value wants a list of its parts") end
  for _, part in ipairs(value) do check_value(st, part) end
  return { table.unpack(value) }
end

-- extend and narrow: rows as above, or for narrow range = {low, high, step}. What they mean for the
-- inherited parameter is inherit.lua's part.
local function change(st, t)
  check_keys(st, t, CHANGE_KEYS, CHANGE_TYPES)
  st.doc, st.default = prose(st, t, "doc"), t.default ~= nil and check_any(st, t.default) or nil
  if st.kind == "narrow" and t.range and #t == 0 then
    st.range = { range_of(st, t.range) }
    return
  end
  fill_rows(st, t, check_any)
  check_unique(st)
end

handlers.extend, handlers.narrow = change, change

handlers["let"] = function(st, text)
  st.expr = expression(st, text)
end

local RULE_KEYS = { "why" }
local RULE_TYPES = { why = "string" }

local function rule(st, t)
  check_keys(st, t, RULE_KEYS, RULE_TYPES)
  if #t ~= 1 or type(t[1]) ~= "string" then
    refuse(st, "wants one expression in quotes, then why = \"...\"")
  end
  if not t.why then refuse(st, "lacks a 'why'") end
  if string.find(st.name, "^forbid%-%d+$") then
    refuse(st, "the name '%s' is taken: forbid statements are counted so", st.name)
  end
  st.expr, st.why = expression(st, t[1]), prose(st, t, "why")
end

handlers.must, handlers.prefer = rule, rule

-- name = value pairs into st.values, their names sorted into st.keys, without the key `apart`. Which
-- of the names exist only resolve.lua knows.
local function pairs_of(st, t, apart)
  st.values, st.keys = {}, {}
  for _, key in ipairs(string_keys(st, t)) do
    local value = t[key]
    if key ~= apart then
      if type(value) == "table" then
        if #value == 0 or #string_keys(st, value) > 0 then refuse(st, "'%s' wants a list of values", key) end
        for _, x in ipairs(value) do check_value(st, x) end
        value = { table.unpack(value) }
      else
        check_value(st, value)
      end
      st.values[key], st.keys[#st.keys + 1] = value, key
    end
  end
end

function handlers.seed(st, t)
  if #t > 0 then refuse(st, "wants name = value pairs") end
  pairs_of(st, t)
end

function handlers.forbid(st, t)
  if #t > 0 then refuse(st, "wants name = value pairs, then why = \"...\"") end
  if type(t.why) ~= "string" then
    refuse(st, t.why == nil and "lacks a 'why'" or "'why' wants a string, not %s", shown(t.why))
  end
  pairs_of(st, t, "why")
  if #st.keys == 0 then refuse(st, "names no parameter: it would forbid all") end
  st.why = prose(st, t, "why")
end

local function word_of(list)
  return function(st, key, text)
    for _, known in ipairs(list) do
      if text == known then return text end
    end
    refuse(st, "%s '%s' is none of %s%s", key, text, table.concat(list, ", "), fail.near(text, list))
  end
end

local function whole(low, high)
  return function(st, key, x)
    if x < low or x > high then refuse(st, "%s %d is not a number from %d to %d", key, x, low, high) end
    return x
  end
end

local function seconds(st, key, text)
  return duration.seconds(text) or refuse(st, "%s '%s' is not %s", key, text, duration.form)
end

-- Keys of `search` in the order they are shown: name, type, reader.
local SEARCH = {
  { "strategy", "string", word_of { "evolve" } }, { "mutator", "string", word_of { "random", "llm" } },
  { "budget", "string", seconds }, { "rng", "integer", whole(0, 0x7fffffff) },
  { "n", "integer", whole(1, 1000000) },
}
dsl.search_keys = {}
local SEARCH_TYPES = {}
for i, key in ipairs(SEARCH) do dsl.search_keys[i], SEARCH_TYPES[key[1]] = key[1], key[2] end

-- Sets values by key; the budget in seconds.
function handlers.search(st, t)
  check_keys(st, t, dsl.search_keys, SEARCH_TYPES)
  if #t > 0 then refuse(st, "wants key = value pairs") end
  st.values = {}
  for _, key in ipairs(SEARCH) do
    local value = t[key[1]]
    if value ~= nil then st.values[key[1]] = key[3](st, key[1], value) end
  end
  if next(st.values) == nil then
    refuse(st, "wants one of %s", table.concat(dsl.search_keys, ", "))
  end
end

-- The words --------------------------------------------------------------------------------------

local WORDS = { -- word, does a name come first, type of what follows (nil: nothing)
  { "space", true, "table" }, { "given", false, "table" }, { "param", true, "table" },
  { "let", true, "string" }, { "must", true, "table" }, { "prefer", true, "table" },
  { "forbid", false, "table" }, { "seed", false, "table" }, { "search", false, "table" },
  { "drop", true }, { "extend", true, "table" }, { "narrow", true, "table" },
}

local NAMES = {}
for i, word in ipairs(WORDS) do NAMES[i] = word[1] end

local RULE_NAME = "^[%w_][%w_.-]*$"
local PLAIN_NAME = { param = true, let = true, extend = true, narrow = true } -- expressions read them

local function check_name(st)
  local name, free = st.name, not PLAIN_NAME[st.kind]
  if type(name) ~= "string" or not string.find(name, free and RULE_NAME or "^[%a_][%w_]*$") then
    st.name = nil
    refuse(st, "%s is not a name of letters, digits and '_'%s", shown(name), free and " or '-'" or "")
  elseif #name > checks.word then
    st.name = nil
    refuse(st, "the name '%s' has %d bytes; %d are the most", name, #name, checks.word)
  end
end

local BODY = { table = "{ ... }", string = "an expression in quotes" }

local function begin(run, kind)
  local open = run.open
  if open then refuse(open, "wants %s after its name", BODY[open.body]) end
  local st = { kind = kind, file = run.file, line = room.line(run), run = run }
  run.line = st.line
  if #run.list >= dsl.statements then refuse(st, "more than %d statements", dsl.statements) end
  local first = run.list[1]
  if not first and kind ~= "space" then
    fail(fmt("%s:%d: %s: a file begins with space \"name\" { ... }", st.file, st.line, kind))
  elseif first and kind == "space" then
    fail(fmt("%s:%d: space: one file is one space, and '%s' began at line %d", st.file, st.line,
      first.name, first.line))
  end
  return st
end

local function finish(run, st, body)
  run.open = nil
  if not st.body then refuse(st, "is complete: it takes no second body") end
  if type(body) ~= st.body then refuse(st, "wants %s, not %s", BODY[st.body], shown(body)) end
  handlers[st.kind](st, body)
  st.run, st.body = nil, nil
  run.list[#run.list + 1] = st
end

-- A statement that is a name alone.
local function finish_bare(run, st)
  st.run = nil
  run.list[#run.list + 1] = st
  return function() refuse(st, "takes a name and nothing else") end
end

local function word(run, kind, named, body_type)
  if not named then
    return function(body)
      local st = begin(run, kind)
      st.body = body_type
      finish(run, st, body)
    end
  end
  return function(name)
    local st = begin(run, kind)
    st.name, st.body = name, body_type
    check_name(st)
    if not body_type then return finish_bare(run, st) end
    run.open = st
    return function(body) finish(run, st, body) end
  end
end

-- The statements of a space file in source order; `file` is its name in messages.
function dsl.read(file, text)
  local run = { file = file, line = 1, list = {}, expressions = 0 }
  local words = {}
  for _, w in ipairs(WORDS) do words[w[1]] = word(run, w[1], w[2], w[3]) end
  if string.find(text, "^\xef\xbb\xbf") then fail(fmt("%s:1: begins with a byte order mark: save it without", file)) end
  room.run(run, text, words, NAMES)
  if run.open then refuse(run.open, "wants %s after its name", BODY[run.open.body]) end
  if #run.list == 0 then fail(fmt("%s:1: no space: a file begins with space \"name\" { ... }", file)) end
  return run.list
end

return dsl
