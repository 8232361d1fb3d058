-- dsl: the words of a space file. A spec is Lua text that runs in a sealed room (room.lua) and can
-- call the statements below. Each statement is checked at once and kept as a plain record with its
-- own file:line; dsl.read returns the list of them in source order. What statements mean together
-- (inheritance, names, types) is resolve.lua's part.
--
-- While a spec runs strings have no methods: this file calls string.format and its like directly.

local fail = require "fail"
local room = require "room"

local dsl = {}

local fmt = string.format

dsl.format = 1
dsl.values = 65536 -- values one parameter may have
dsl.statements = 1000 -- statements of one file

-- Places and complaints ------------------------------------------------------------------------

function dsl.label(st)
  return st.name and fmt("%s '%s'", st.kind, st.name) or st.kind
end

-- Fails at the statement: "file:line: param 'x': message".
function dsl.refuse(st, ...)
  fail(fmt("%s:%d: %s: %s", st.file, st.line, dsl.label(st), fmt(...)))
end

local refuse = dsl.refuse

local function shown(value)
  if type(value) == "string" then return fmt("'%s'", value) end
  if type(value) == "number" then return tostring(value) end
  return "a " .. type(value)
end

-- Keys of a table that are strings, sorted; refuses what is neither a string nor 1..#t.
local function string_keys(st, t)
  local keys = {}
  for key in pairs(t) do
    if type(key) == "string" then
      keys[#keys + 1] = key
    elseif math.type(key) ~= "integer" or key < 1 or key > #t then
      refuse(st, "index %s in a list of %d", shown(key), #t)
    end
  end
  table.sort(keys)
  return keys
end

-- Refuses keys outside of `known` (a list) and values of another type than `types` says.
local function check_keys(st, t, known, types)
  for _, key in ipairs(string_keys(st, t)) do
    local want = types[key]
    if not want then refuse(st, "unknown key '%s'%s", key, fail.near(key, known)) end
    local got = math.type(t[key]) or type(t[key])
    if want ~= "any" and got ~= want then
      refuse(st, "'%s' wants a%s %s, not %s", key, want == "integer" and "n" or "", want, shown(t[key]))
    end
  end
end

local function check_identifier(st, name, what)
  if type(name) ~= "string" or not string.find(name, "^[%a_][%w_]*$") then
    refuse(st, "%s %s is not a name of letters, digits and '_'", what, shown(name))
  end
end

-- A value that a key can hold: an integer, or a short word.
local function check_value(st, value)
  local kind = math.type(value) or type(value)
  if kind == "float" then
    refuse(st, "%s is a float; values are integers or strings", tostring(value))
  elseif kind ~= "integer" and kind ~= "string" then
    refuse(st, "a value is %s; values are integers or strings", shown(value))
  elseif kind == "string" and not string.find(value, "^[%w_.+-]+$") then
    refuse(st, "value '%s' has other characters than letters, digits, '_', '.', '+', '-'", value)
  end
  return kind
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
end

function handlers.given(st, t)
  check_keys(st, t, {}, {})
  local seen = {}
  for _, name in ipairs(t) do
    check_identifier(st, name, "given")
    if seen[name] then refuse(st, "'%s' stands twice", name) end
    seen[name] = true
  end
  st.names = { table.unpack(t) }
end

local function range_values(st, range)
  if #string_keys(st, range) > 0 or #range < 2 or #range > 3 then
    refuse(st, "range wants {low, high} or {low, high, step}")
  end
  for _, x in ipairs(range) do
    if math.type(x) ~= "integer" then refuse(st, "range wants integers, not %s", shown(x)) end
  end
  local lo, hi, step = range[1], range[2], range[3] or 1
  if step < 1 then refuse(st, "range has step %d", step) end
  if hi < lo then refuse(st, "range {%d, %d} is empty", lo, hi) end
  if hi - lo < 0 or (hi - lo) // step >= dsl.values then -- the difference may wrap
    refuse(st, "range has more than %d values", dsl.values)
  end
  local values = {}
  for x = lo, hi, step do values[#values + 1] = x end
  return values
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

-- Text of a row, as it stands in a message: 4, 'none' or {2, 4}.
function dsl.row_text(row)
  local out = {}
  for i, value in ipairs(row) do out[i] = shown(value) end
  return #out == 1 and out[1] or "{" .. table.concat(out, ", ") .. "}"
end

function dsl.same_row(a, b)
  for i, value in ipairs(a) do
    if b[i] ~= value then return false end
  end
  return #a == #b
end

-- Where a row stands among others, nil when it does not.
function dsl.row_index(rows, row)
  for i, known in ipairs(rows) do
    if dsl.same_row(known, row) then return i end
  end
end

local function row_key(row)
  return table.concat(row, "\0")
end

local function check_types(st)
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
  for _, row in ipairs(st.rows) do
    if seen[row_key(row)] then refuse(st, "value %s stands twice", dsl.row_text(row)) end
    seen[row_key(row)] = true
  end
  return seen
end

local PARAM_KEYS = { "doc", "default", "when", "range", "as" }
local PARAM_TYPES = { doc = "string", default = "any", when = "string", range = "table", as = "table" }

-- Sets names (of its columns), rows (its values, each a list with one value for each name), default.
function handlers.param(st, t)
  check_keys(st, t, PARAM_KEYS, PARAM_TYPES)
  st.doc, st.when, st.names, st.rows = t.doc, t.when, { st.name }, {}
  if t.as then
    if #string_keys(st, t.as) > 0 or #t.as < 2 then refuse(st, "'as' wants two names or more") end
    for _, name in ipairs(t.as) do check_identifier(st, name, "tied name") end
    st.names, st.tied = { table.unpack(t.as) }, true
  end
  if t.range and (#t > 0 or t.as) then refuse(st, "has both a range and a list of values") end
  if #t > dsl.values then refuse(st, "has more than %d values", dsl.values) end
  local check = t.as and check_row or check_one
  for i, value in ipairs(t.range and range_values(st, t.range) or t) do st.rows[i] = check(st, value) end
  if #st.rows == 0 then refuse(st, "has no values") end
  check_types(st)
  local seen = check_unique(st)
  if t.default ~= nil then
    st.default = check(st, t.default)
    if not seen[row_key(st.default)] then
      refuse(st, "default %s is not among its values", dsl.row_text(st.default))
    end
  elseif st.when then
    refuse(st, "has 'when' and no 'default'")
  end
end

handlers["let"] = function(st, text)
  st.expr = text
end

local RULE_KEYS = { "why" }
local RULE_TYPES = { why = "string" }

local function rule(st, t)
  check_keys(st, t, RULE_KEYS, RULE_TYPES)
  if #t ~= 1 or type(t[1]) ~= "string" then
    refuse(st, "wants one expression in quotes, then why = \"...\"")
  end
  if not t.why then refuse(st, "lacks a 'why'") end
  st.expr, st.why = t[1], t.why
end

handlers.must, handlers.prefer = rule, rule

-- Values by parameter name; which of them exist only resolve.lua knows.
function handlers.seed(st, t)
  if #t > 0 then refuse(st, "wants name = value pairs") end
  st.values, st.keys = {}, string_keys(st, t)
  for _, key in ipairs(st.keys) do
    local value = t[key]
    if type(value) == "table" then
      if #value == 0 or #string_keys(st, value) > 0 then refuse(st, "'%s' wants a list of values", key) end
      for _, x in ipairs(value) do check_value(st, x) end
      value = { table.unpack(value) }
    else
      check_value(st, value)
    end
    st.values[key] = value
  end
end

-- The words --------------------------------------------------------------------------------------

local WORDS = { -- word, does a name come first, type of what follows
  { "space", true, "table" }, { "given", false, "table" }, { "param", true, "table" },
  { "let", true, "string" }, { "must", true, "table" }, { "prefer", true, "table" },
  { "seed", false, "table" },
}

local NAMES = {}
for i, word in ipairs(WORDS) do NAMES[i] = word[1] end

local RULE_NAME = "^[%w_][%w_.-]*$"

local function check_name(st)
  local free = st.kind ~= "param" and st.kind ~= "let"
  if free and type(st.name) == "string" and string.find(st.name, RULE_NAME) then return end
  if not free and type(st.name) == "string" and string.find(st.name, "^[%a_][%w_]*$") then return end
  fail(fmt("%s:%d: %s: %s is not a name of letters, digits and '_'%s", st.file, st.line, st.kind,
    shown(st.name), free and " or '-'" or ""))
end

local BODY = { table = "{ ... }", string = "an expression in quotes" }

local function begin(run, kind)
  local open = run.open
  if open then refuse(open, "wants %s after its name", BODY[open.body]) end
  local st = { kind = kind, file = run.file, line = room.line(run) }
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
  if type(body) ~= st.body then refuse(st, "wants %s, not %s", BODY[st.body], shown(body)) end
  handlers[st.kind](st, body)
  run.list[#run.list + 1] = st
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
    run.open = st
    return function(body) finish(run, st, body) end
  end
end

-- The statements of a space file in source order; `file` is its name in messages.
function dsl.read(file, text)
  local run = { file = file, line = 1, list = {} }
  local words = {}
  for _, w in ipairs(WORDS) do words[w[1]] = word(run, w[1], w[2], w[3]) end
  room.run(run, text, words, NAMES)
  if run.open then refuse(run.open, "wants %s after its name", BODY[run.open.body]) end
  if #run.list == 0 then fail(fmt("%s:1: no space: a file begins with space \"name\" { ... }", file)) end
  return run.list
end

return dsl
