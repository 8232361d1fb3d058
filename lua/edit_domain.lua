-- edit_domain: edits of what values a parameter may have. A space is read twice: by dsl, who says what
-- its parameters, defaults and seeds are, and by luatok, who says where their values stand.
--
-- What follows a domain follows it here: where one value is left by a set-domain or set-range, the
-- default and the seeds take it; otherwise a seed that asks for a value that went gives that field up.
-- Anything else that would break is refused. A value is an integer, a string, or a list of them for
-- tied parameters.

local dsl = require "dsl"
local fail = require "fail"
local luatok = require "luatok"
local meaning = require "edit_meaning"
local place = require "edit_place"
local splice = require "splice"

local domain = {}

local fmt, refuse, index_of, row_text = string.format, dsl.refuse, dsl.row_index, dsl.row_text

local COMPUTED = "its values are computed: edit the file by hand"

-- The parameter ------------------------------------------------------------------------------------

-- The names of a tied parameter's parts, as rows to look a name up in.
local function columns(st)
  local rows = {}
  for i, name in ipairs(st.names) do rows[i] = { name } end
  return rows
end

-- The statement of a parameter that this file declares.
local function own_param(ed, name)
  local sp, names = ed.sp, {}
  for _, st in ipairs(ed.own) do
    if st.kind == "param" and st.name == name then return st end
  end
  for i, param in ipairs(sp.params) do
    names[i] = param.name
    if param.name == name then
      fail(fmt("%s:%d: param '%s' is inherited: it stands at %s:%d", sp.file, sp.line, name, param.st.file,
        param.st.line))
    elseif param.tied and index_of(columns(param), { name }) then
      refuse(param.st, "ties '%s' to others: edit '%s'", name, param.name)
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
    refuse(st, "%s is a%s %s, '%s' holds %ss", row_text { value }, kind == "integer" and "n" or "", kind,
      name, math.type(sample) or "string")
  end
end

-- A value as a row of the parameter's types; `at` is the statement that complaints stand at.
function domain.row(param, value, at)
  local row = type(value) == "table" and value or { value }
  if #row ~= #param.names then
    refuse(at or param, "value %s wants %s", row_text(row), #param.names == 1 and "one part"
      or fmt("%d parts: {%s}", #param.names, table.concat(param.names, ", ")))
  end
  for k, name in ipairs(param.names) do check_scalar(at or param, name, row[k], param.rows[1][k]) end
  return table.move(row, 1, #row, 1, {})
end

local function asked_rows(st, values)
  local rows = {}
  if type(values) ~= "table" or #values == 0 then refuse(st, "no value is given") end
  for i, value in ipairs(values) do rows[i] = domain.row(st, value) end
  local last = splice.positions(rows)
  for i, row in ipairs(rows) do
    if last(row) ~= i then refuse(st, "value %s is given twice", row_text(row)) end
  end
  return rows
end

-- Default and seeds --------------------------------------------------------------------------------

local function rewrite_default(ed, t, st, new, follow)
  if not st.default or index_of(new, st.default) then return end
  local field = splice.field_of(t, "default")
  if not follow then
    refuse(st, "its default %s would not be among its values", row_text(st.default))
  elseif not field then
    refuse(st, "its default is computed: edit the file by hand")
  end
  splice.put(ed.doc, field, new[1])
  meaning.becomes(ed, st, { { "default", new[1] } })
end

-- The row that values by name ask of a parameter, nil when they leave it out.
function domain.asked(param, get)
  local row = get(param.name)
  if row or not param.tied then return row end
  row = {}
  for i, name in ipairs(param.names) do
    local one = get(name)
    row[i] = one and one[1] or nil
  end
  return #row == #param.names and row or nil
end

-- The row that a seed asks of a parameter.
function domain.seed_row(param, seed)
  return domain.asked(param, function(name)
    local value = seed.values[name]
    if value == nil or type(value) == "table" then return value end
    return { value }
  end)
end

-- The seeds in the text that made the statement.
local function seed_tables(ed, st, seed, row)
  local doc, found = ed.doc, {}
  for _, t in ipairs(place.spelled(ed, "seed")) do
    local written = place.covers(t, seed) and domain.asked(st, function(name)
      local field = splice.field_of(t, name)
      return field and luatok.literal(doc.tokens, field)
    end)
    if written and dsl.same_row(written, row) then found[#found + 1] = t end
  end
  if #found > 0 then return found end
  refuse(st, "the seed at line %d asks for %s, which is computed: edit the file by hand", seed.line,
    row_text(row))
end

-- What a key of a seed has of the new row, nil when the key is of another parameter.
local function part_of(st, key, row)
  local column = index_of(columns(st), { key })
  return key == st.name and row or column and { row[column] }
end

local function rewrite_seed(doc, t, st, new, follow)
  local goes = {}
  for _, field in ipairs(t.fields) do
    local row = part_of(st, field.key, new[1])
    if row and follow then splice.put(doc, field, row) elseif row then goes[field] = true end
  end
  splice.cut_fields(doc, t.fields, goes)
end

-- The same in the statement's values.
local function seed_becomes(ed, st, seed, new, follow)
  local values, keys = {}, {}
  for _, key in ipairs(seed.keys) do
    local row = part_of(st, key, new[1])
    if not row then values[key] = seed.values[key] end
    if row and follow then values[key] = type(seed.values[key]) == "table" and row or row[1] end
    if values[key] ~= nil then keys[#keys + 1] = key end
  end
  meaning.becomes(ed, seed, { { "values", values }, { "keys", keys } })
end

-- Seeds of this file follow; an inherited one that asks for what is no longer there is left out by itself.
local function rewrite_seeds(ed, st, new, follow)
  local done, stays = {}, splice.positions(new) -- done: by the place of the table
  for _, seed in ipairs(ed.own) do
    local row = seed.kind == "seed" and domain.seed_row(st, seed)
    if row and not stays(row) then
      for _, t in ipairs(seed_tables(ed, st, seed, row)) do
        if not done[t.open] then rewrite_seed(ed.doc, t, st, new, follow) end
        done[t.open] = true
      end
      seed_becomes(ed, st, seed, new, follow)
    end
  end
end

-- Lists: old rows, asked rows -> new rows -------------------------------------------------------------

local function listed(rows)
  local out = {}
  for i, row in ipairs(rows) do
    if i > 12 then return table.concat(out, ", ") .. ", ..." end
    out[i] = row_text(row)
  end
  return table.concat(out, ", ")
end

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

local LISTS = {}

LISTS["set-domain"] = function(_, rows)
  return rows
end

-- Numbers in rising order stay so; anything else is added at the end.
LISTS["add-value"] = function(st, rows)
  local new, has = copy(st.rows), splice.positions(st.rows)
  for _, row in ipairs(rows) do
    if has(row) then refuse(st, "has the value %s already", row_text(row)) end
    new[#new + 1] = row
  end
  if ascending(st.rows) then table.sort(new, function(a, b) return a[1] < b[1] end) end
  return new
end

LISTS["remove-value"] = function(st, rows)
  local new, goes, at = {}, {}, splice.positions(st.rows)
  for _, row in ipairs(rows) do
    if not at(row) then refuse(st, "has no value %s; it has %s", row_text(row), listed(st.rows)) end
    goes[at(row)] = true
  end
  for i, row in ipairs(st.rows) do
    if not goes[i] then new[#new + 1] = row end
  end
  if #new == 0 then refuse(st, "%s is all it has: one value must stay", listed(st.rows)) end
  return new
end

local function same_domain(a, b)
  for i, row in ipairs(a) do
    if not b[i] or not dsl.same_row(row, b[i]) then return false end
  end
  return #a == #b
end

-- What every new domain brings along; `follow`: the default and the seeds take its only value.
local function settle(ed, t, st, new, follow)
  if st.pin and not index_of(new, st.pin) then refuse(st, "is pinned to %s: unpin it first", row_text(st.pin)) end
  meaning.becomes(ed, st, { { "rows", new } })
  rewrite_default(ed, t, st, new, follow)
end

local function edit_list(ed)
  local op = ed.op
  local st = own_param(ed, tostring(op.param))
  local t = place.claim(ed, st)
  local new = LISTS[op.kind](st, asked_rows(st, op.values))
  local one = op.kind == "set-domain" and #new == 1
  if same_domain(st.rows, new) then refuse(st, "its values are %s already", listed(new)) end
  settle(ed, t, st, new, one)
  if not splice.domain(ed.doc, t, st.rows, new, one) then refuse(st, COMPUTED) end
  rewrite_seeds(ed, st, new, one)
  return st
end

-- Ranges -------------------------------------------------------------------------------------------

local function asked_range(st, values)
  if type(values) ~= "table" or #values < 2 or #values > 3 then refuse(st, "a range wants LOW HIGH [STEP]") end
  for _, x in ipairs(values) do
    if math.type(x) ~= "integer" then
      refuse(st, "a range wants integers, not %s", row_text(type(x) == "table" and x or { x }))
    end
  end
  if st.tied or math.type(st.rows[1][1]) ~= "integer" then
    refuse(st, "holds %s: a range wants one integer", st.tied and "tied values" or "strings")
  end
  local low, high, step = values[1], values[2], values[3] or 1
  if step < 1 then refuse(st, "the range has step %d", step) end
  if high < low then refuse(st, "the range {%d, %d} is empty", low, high) end
  if high - low < 0 or (high - low) // step >= dsl.values then
    refuse(st, "the range has more than %d values", dsl.values)
  end
  local rows = {}
  for x = low, high, step do rows[#rows + 1] = { x } end
  return rows
end

local function edit_range(ed)
  local st = own_param(ed, tostring(ed.op.param))
  local t = place.claim(ed, st)
  local new = asked_range(st, ed.op.values)
  settle(ed, t, st, new, #new == 1)
  splice.range(ed.doc, t, ed.op.values)
  rewrite_seeds(ed, st, new, #new == 1)
  if #ed.doc.changes == 0 then refuse(st, "its range is {%s} already", table.concat(ed.op.values, ", ")) end
  return st
end

-- Pins ---------------------------------------------------------------------------------------------

local function edit_pin(ed)
  local st = own_param(ed, tostring(ed.op.param))
  local t = place.claim(ed, st)
  local rows = asked_rows(st, ed.op.values)
  local row, field, list = rows[1], splice.field_of(t, "pin"), splice.values(t)
  if #rows ~= 1 then refuse(st, "a pin wants one value, not %d", #rows) end
  if not index_of(st.rows, row) then refuse(st, "has no value %s; it has %s", row_text(row), listed(st.rows)) end
  if st.pin and dsl.same_row(st.pin, row) then refuse(st, "is pinned to %s already", row_text(row)) end
  if st.pin and not field then refuse(st, "its pin is computed: edit the file by hand") end
  if field then
    splice.put(ed.doc, field, row)
  else
    local behind = splice.field_of(t, "default") or list[#list] or splice.field_of(t, "range")
    if not behind then refuse(st, COMPUTED) end
    splice.add_field(ed.doc, behind, "pin", row, { list[1] or behind })
  end
  meaning.becomes(ed, st, { { "pin", row } })
  return st
end

local function edit_unpin(ed)
  local st = own_param(ed, tostring(ed.op.param))
  local t = place.claim(ed, st)
  local field = splice.field_of(t, "pin")
  if not st.pin then refuse(st, "is not pinned") end
  if not field then refuse(st, "its pin is computed: edit the file by hand") end
  splice.cut_fields(ed.doc, t.fields, { [field] = true })
  meaning.becomes(ed, st, { { "pin", nil } })
  return st
end

-- Each takes ed, makes the changes and returns the statement they are about.
domain.ops = { ["set-domain"] = edit_list, ["add-value"] = edit_list, ["remove-value"] = edit_list,
  ["set-range"] = edit_range, ["pin"] = edit_pin, ["unpin"] = edit_unpin }

return domain
