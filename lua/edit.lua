-- edit: changes the domain of a parameter in the text of a space file. A space is read twice: by
-- dsl and resolve, who say what its parameters, defaults and seeds are, and by luatok, who says
-- where their values stand. Only those bytes change; comments, blanks and the spelling of other
-- numbers stay. The new text is loaded before anyone sees it, and must mean what was asked.
--
-- What follows a domain follows it here: a pin takes the default along, and a seed that asks for a
-- value that went gives that field up (a pin puts its own value there). Anything else that would
-- break is refused. An op is {kind =, param =, values =}; a value is an integer, a string, or a list
-- of them for tied parameters.

local dsl = require "dsl"
local fail = require "fail"
local luatok = require "luatok"
local space = require "space"
local splice = require "splice"

local edit = {}

local fmt, refuse, index_of = string.format, dsl.refuse, dsl.row_index

-- Parameters and their seeds -----------------------------------------------------------------------

local COMPUTED = "its values are computed: edit the file by hand"

local function covers(t, st)
  return t.line <= st.line and st.line <= t.last_line
end

-- The table that the parameter was read from.
local function param_table(doc, param)
  for _, t in ipairs(luatok.statements(doc.tokens, "param", param.name)) do
    if covers(t, param.st) then return t end
  end
  refuse(param.st, "is not written as param \"%s\" { ... }: edit the file by hand", param.name)
end

local function rewrite_default(doc, t, param, new, kind)
  if not param.default or index_of(new, param.default) then return end
  local field = splice.field_of(t, "default")
  if kind ~= "pin" then
    refuse(param.st, "its default %s would not be among its values", dsl.row_text(param.default))
  elseif not field then
    refuse(param.st, "its default is computed: edit the file by hand")
  end
  splice.put(doc, field, new[1])
end

-- The names of a tied parameter's parts, as rows to look a name up in.
local function columns(param)
  local rows = {}
  for i, name in ipairs(param.names) do rows[i] = { name } end
  return rows
end

-- The row that values by name ask of a parameter, nil when they leave it out.
local function asked(param, get)
  local row = get(param.name)
  if row or not param.tied then return row end
  row = {}
  for i, name in ipairs(param.names) do
    local one = get(name)
    row[i] = one and one[1] or nil
  end
  return #row == #param.names and row or nil
end

local function seed_asks(param, st)
  return asked(param, function(name)
    local value = st.values[name]
    if value == nil or type(value) == "table" then return value end
    return { value }
  end)
end

-- The seeds in the text that made the statement.
local function seed_tables(doc, param, st, row)
  local found = {}
  for _, t in ipairs(luatok.statements(doc.tokens, "seed")) do
    local written = covers(t, st) and asked(param, function(name)
      local field = splice.field_of(t, name)
      return field and luatok.literal(doc.tokens, field)
    end)
    if written and dsl.same_row(written, row) then found[#found + 1] = t end
  end
  if #found > 0 then return found end
  refuse(param.st, "the seed at line %d asks for %s, which is computed: edit the file by hand", st.line,
    dsl.row_text(row))
end

local function rewrite_seed(doc, t, param, new, kind)
  local goes = {}
  for _, field in ipairs(t.fields) do
    local column = index_of(columns(param), { field.key })
    local row = field.key == param.name and new[1] or column and { new[1][column] }
    if row and kind == "pin" then splice.put(doc, field, row) elseif row then goes[field] = true end
  end
  splice.cut_fields(doc, t.fields, goes)
end

local function rewrite_seeds(doc, sp, param, new, kind)
  local done = {} -- by the place of the table
  for _, st in ipairs(sp.statements) do
    local row = st.kind == "seed" and seed_asks(param, st)
    if row and not index_of(new, row) then
      if st.file ~= sp.file then
        refuse(param.st, "the seed at %s:%d asks for %s", st.file, st.line, dsl.row_text(row))
      end
      for _, t in ipairs(seed_tables(doc, param, st, row)) do
        if not done[t.open] then rewrite_seed(doc, t, param, new, kind) end
        done[t.open] = true
      end
    end
  end
end

-- Operations: old rows, asked rows -> new rows -------------------------------------------------------

local function ascending(rows)
  for i, row in ipairs(rows) do
    if #row > 1 or math.type(row[1]) ~= "integer" then return false end
    if i > 1 and row[1] <= rows[i - 1][1] then return false end
  end
  return true
end

local function copy(rows)
  return table.move(rows, 1, #rows, 1, {})
end

local OPS = {}

OPS["set-domain"] = function(_, rows)
  return copy(rows)
end

-- Numbers in rising order stay so; anything else is added at the end.
OPS["add-value"] = function(st, rows)
  local new = copy(st.rows)
  local sorted = ascending(new)
  for _, row in ipairs(rows) do
    if index_of(new, row) then refuse(st, "has the value %s already", dsl.row_text(row)) end
    local at = #new + 1
    while sorted and at > 1 and new[at - 1][1] > row[1] do at = at - 1 end
    table.insert(new, at, row)
  end
  return new
end

local function listed(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = i > 12 and "..." or dsl.row_text(row) end
  return table.concat(out, ", ", 1, math.min(#out, 13))
end

OPS["remove-value"] = function(st, rows)
  local new = copy(st.rows)
  for _, row in ipairs(rows) do
    local at = index_of(new, row)
    if not at then refuse(st, "has no value %s; it has %s", dsl.row_text(row), listed(st.rows)) end
    table.remove(new, at)
  end
  if #new == 0 then refuse(st, "%s is all it has: one value must stay", listed(st.rows)) end
  return new
end

OPS["pin"] = function(st, rows)
  if #rows ~= 1 then refuse(st, "a pin wants one value, not %d", #rows) end
  return copy(rows)
end

edit.ops = { "set-domain", "add-value", "remove-value", "pin" }

-- What is asked ------------------------------------------------------------------------------------

local function find_param(sp, name)
  local names = {}
  for i, param in ipairs(sp.params) do
    local home = param.st
    names[i] = param.name
    if param.name == name and home.file == sp.file then return param end
    if param.name == name then
      fail(fmt("%s:%d: param '%s' is inherited: it stands at %s:%d", sp.file, sp.line, name, home.file,
        home.line))
    elseif param.tied and index_of(columns(param), { name }) then
      refuse(home, "ties '%s' to others: edit '%s'", name, param.name)
    end
  end
  fail(fmt("%s:%d: no param '%s'%s", sp.file, sp.line, name, fail.near(name, names)))
end

local function check_scalar(st, name, value, sample)
  local kind = math.type(value) or type(value)
  if kind ~= "integer" and kind ~= "string" then
    refuse(st, "a value is a %s; values are integers or strings", kind)
  elseif kind == "string" and not value:find("^[%w_.+-]+$") then
    refuse(st, "value '%s' has other characters than letters, digits, '_', '.', '+', '-'", value)
  elseif type(value) ~= type(sample) then
    refuse(st, "%s is a%s %s, '%s' holds %ss", dsl.row_text { value }, kind == "integer" and "n" or "", kind,
      name, math.type(sample) or "string")
  end
end

-- The asked values as rows, each of the parameter's types.
local function asked_rows(param, values)
  local st, rows = param.st, {}
  if type(values) ~= "table" or #values == 0 then refuse(st, "no value is given") end
  for i, value in ipairs(values) do
    local row = type(value) == "table" and value or { value }
    if #row ~= #param.names then
      refuse(st, "value %s wants %s", dsl.row_text(row), #param.names == 1 and "one part"
        or fmt("%d parts: {%s}", #param.names, table.concat(param.names, ", ")))
    end
    for k, name in ipairs(param.names) do check_scalar(st, name, row[k], st.rows[1][k]) end
    if index_of(rows, row) then refuse(st, "value %s is given twice", dsl.row_text(row)) end
    rows[i] = copy(row)
  end
  return rows
end

local function same_domain(a, b)
  for i, row in ipairs(a) do
    if not b[i] or not dsl.same_row(row, b[i]) then return false end
  end
  return #a == #b
end

-- Applying -----------------------------------------------------------------------------------------

local function verify(path, text, name, new)
  local sp = space.load_text(path, text)
  for _, param in ipairs(sp.params) do
    if param.name == name and same_domain(param.rows, new) then return end
    if param.name == name then refuse(param.st, COMPUTED) end
  end
end

local function apply(text, path, op)
  local sp = space.load_text(path, text)
  local operate = OPS[op.kind]
  if not operate then
    fail(fmt("%s:%d: unknown edit '%s'%s", sp.file, sp.line, tostring(op.kind),
      fail.near(tostring(op.kind), edit.ops)))
  end
  local param = find_param(sp, tostring(op.param))
  local st = param.st
  local new = operate(st, asked_rows(param, op.values))
  if same_domain(st.rows, new) then refuse(st, "its values are %s already", listed(new)) end
  local doc = splice.open(text)
  local t = param_table(doc, param)
  rewrite_default(doc, t, param, new, op.kind)
  if not splice.domain(doc, t, st.rows, new, op.kind) then refuse(st, COMPUTED) end
  rewrite_seeds(doc, sp, param, new, op.kind)
  local result = splice.merged(doc)
  verify(path, result, param.name, new)
  return result, doc.changes
end

local function guarded(f, ...)
  local ok, result, more = pcall(f, ...)
  if ok then return result, more end
  if not fail.text(result) then error(result, 0) end
  return nil, fail.text(result)
end

-- The new text and the changes that made it, {from, to, text} by bytes of the old one, in order; or
-- nil and "file:line: why not". `path` is the file's: bases are looked for beside it, then in spaces/.
function edit.apply(text, path, op)
  return guarded(apply, text, path, op)
end

-- The space that the text is; or nil and "file:line: what is wrong".
function edit.check(text, path)
  return guarded(space.load_text, path, text)
end

-- Words: tile_m 64 128, warps pingpong,2 --------------------------------------------------------------

-- One part of a value: 128, 0x80, pingpong; "128" is a string.
local function parse_part(word, part)
  local quoted = part:match('^"([^"]*)"$')
  if quoted then return quoted end
  if part == "" then fail(fmt("value '%s' has an empty part", word)) end
  if not part:find("^-?%d+$") and not part:find("^-?0[xX]%x+$") then return part end
  local value = math.tointeger(tonumber(part))
  if not value then fail(fmt("value '%s' does not fit in 64 bits", part)) end
  return value
end

local function parse_value(word)
  local row = {}
  for part in (word .. ","):gmatch("([^,]*),") do row[#row + 1] = parse_part(word, part) end
  return #row == 1 and row[1] or row
end

local function parse(words)
  local op = { kind = words[1], param = words[2], values = {} }
  if #words < 3 then fail("an edit wants OP PARAM VALUE...") end
  if not OPS[op.kind] then
    fail(fmt("unknown edit '%s'%s; there are %s", op.kind, fail.near(op.kind, edit.ops),
      table.concat(edit.ops, ", ")))
  end
  for i = 3, #words do op.values[i - 2] = parse_value(words[i]) end
  return op
end

-- The op of a list of words, or of a text with blanks between them; or nil and what is wrong.
function edit.parse(words)
  if type(words) == "string" then
    local list = {}
    for word in words:gmatch("%S+") do list[#list + 1] = word end
    words = list
  end
  return guarded(parse, words)
end

local function format_part(value)
  local text = tostring(value)
  local number = text:find("^-?%d+$") or text:find("^-?0[xX]%x+$")
  return type(value) == "string" and number and '"' .. text .. '"' or text
end

-- The words of an op as one text; edit.parse reads it back.
function edit.format(op)
  local out = { op.kind, op.param }
  for _, value in ipairs(op.values) do
    local parts = {}
    for i, part in ipairs(type(value) == "table" and value or { value }) do parts[i] = format_part(part) end
    out[#out + 1] = table.concat(parts, ",")
  end
  return table.concat(out, " ")
end

return edit
