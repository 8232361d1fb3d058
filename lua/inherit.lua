-- inherit: a child's statements put into its base's. One of the same name takes the base's place; the
-- others come behind. `drop` takes a statement of the base out, `extend` and `narrow` change the values
-- of a parameter of the base; all in source order. The base's records stay as they are: what changes
-- is a copy, which says in `touched` where it was changed.

local dsl = require "dsl"
local fail = require "fail"

local inherit = {}

local fmt, refuse = string.format, dsl.refuse

-- What a child's statement replaces: one of the same slot. Those without one are all kept.
local SLOT = { given = "given", search = "search", param = "name ", let = "name ", must = "rule ",
  prefer = "rule " }

local function slot(st)
  return SLOT[st.kind] and SLOT[st.kind] .. (st.name or "")
end

local function place(st)
  return fmt("%s:%d", st.file, st.line)
end

local function copy_of(st)
  local copy = {}
  for key, value in pairs(st) do copy[key] = value end -- order does not matter: a copy
  return copy
end

-- Refuses a file that declares something twice.
function inherit.refuse_twins(list)
  local seen = {}
  for _, st in ipairs(list) do
    local at = slot(st)
    if at and seen[at] then refuse(st, "already declared at line %d", seen[at].line) end
    if at then seen[at] = st end
  end
end

-- Finding what is inherited ------------------------------------------------------------------------
-- m = {list, at = {slot = index}, own = {slot = statement of this file}, gone = {slot = its drop},
-- dropped = {name that expressions may read = its drop}}.

-- Fails for a name that no inherited statement of the wanted slots has.
local function missing(m, st, slots, what)
  local known = {}
  for _, other in ipairs(m.list) do
    if other and other.name and slot(other) then known[#known + 1] = other.name end
    for _, name in ipairs(other and other.tied and other.names or {}) do
      if name == st.name then refuse(st, "'%s' is tied to others: say '%s'", name, other.name) end
    end
  end
  for _, at in ipairs(slots) do
    if m.gone[at] then refuse(st, "'%s' is gone since line %d", st.name, m.gone[at].line) end
  end
  refuse(st, "no %s '%s' is inherited%s", what, st.name, fail.near(st.name, known))
end

local function refuse_own(m, st, slots, advice)
  for _, at in ipairs(slots) do
    local own = m.own[at]
    if own then refuse(st, "declared in this file at line %d: %s", own.line, advice) end
  end
end

local function find_param(m, st)
  local slots = { "name " .. st.name }
  refuse_own(m, st, slots, "edit its values there")
  local index = m.at[slots[1]]
  if not index then missing(m, st, slots, "parameter") end
  local target = m.list[index]
  if target.kind ~= "param" then refuse(st, "is a %s at %s, no parameter", target.kind, place(target)) end
  return target, index
end

-- Changes of an inherited parameter ----------------------------------------------------------------

-- Refuses a row that has not the shape and types of the parameter's.
local function check_row(st, target, row)
  if #row ~= #target.names then
    refuse(st, #target.names == 1 and "each value wants one part, not %s" or "each value wants {%s}",
      #target.names == 1 and dsl.row_text(row) or table.concat(target.names, ", "))
  end
  for i, name in ipairs(target.names) do
    local want = math.type(target.rows[1][i]) or "string"
    if (math.type(row[i]) or "string") ~= want then
      refuse(st, "'%s' holds %ss, not %s", name, want, dsl.row_text { row[i] })
    end
  end
end

local function longer(st, target)
  local rows, known = table.move(target.rows, 1, #target.rows, 1, {}), {}
  for _, row in ipairs(rows) do known[table.concat(row, "\0")] = true end
  for _, row in ipairs(st.rows) do
    check_row(st, target, row)
    if known[table.concat(row, "\0")] then
      refuse(st, "has the value %s already, from %s", dsl.row_text(row), place(target))
    end
    rows[#rows + 1] = row
  end
  if #rows > dsl.values then refuse(st, "has more than %d values", dsl.values) end
  return rows
end

-- Whether a row stays, as a function; checks what the statement lists.
local function keeper(st, target)
  local range = st.range
  if range then
    if target.tied or math.type(target.rows[1][1]) ~= "integer" then
      refuse(st, "a range wants a parameter of integers: list the values")
    end
    return function(row)
      local x = row[1]
      return range[1] <= x and x <= range[2] and (x - range[1]) % range[3] == 0
    end
  end
  local stays, known = {}, {}
  for _, row in ipairs(target.rows) do known[table.concat(row, "\0")] = true end
  for _, row in ipairs(st.rows) do
    check_row(st, target, row)
    if not known[table.concat(row, "\0")] then
      refuse(st, "has no value %s; it has %s", dsl.row_text(row), dsl.rows_text(target.rows))
    end
    stays[table.concat(row, "\0")] = true
  end
  return function(row) return stays[table.concat(row, "\0")] end
end

local function shorter(st, target)
  local rows, keeps = {}, keeper(st, target)
  for _, row in ipairs(target.rows) do
    if keeps(row) then rows[#rows + 1] = row end
  end
  if #rows == 0 then refuse(st, "keeps none of its values %s", dsl.rows_text(target.rows)) end
  return rows
end

-- The default that the parameter has from here on.
local function default_of(st, target, rows)
  local default = st.default or target.default
  if st.default then check_row(st, target, st.default) end
  if default and not dsl.row_index(rows, default) then
    refuse(st, st.default and "default %s is not among its values"
      or "its default %s would not be among its values: give a 'default'", dsl.row_text(default))
  elseif target.pin and not dsl.row_index(rows, target.pin) then
    refuse(st, "it is pinned to %s at %s, which would go", dsl.row_text(target.pin), place(target))
  end
  return default
end

local WORD = { extend = "extended", narrow = "narrowed" }

local function change(m, st)
  local target, index = find_param(m, st)
  local new = copy_of(target)
  new.rows = (st.kind == "extend" and longer or shorter)(st, target)
  new.default = default_of(st, target, new.rows)
  new.doc = st.doc or target.doc
  new.touched, new.how = { table.unpack(target.touched or {}) }, { table.unpack(target.how or {}) }
  new.touched[#new.touched + 1], new.how[#new.how + 1] = place(st), WORD[st.kind]
  m.list[index] = new
end

-- Statements, by what they do ------------------------------------------------------------------------

local steps = { extend = change, narrow = change }

function steps.drop(m, st)
  local slots, found = { "name " .. st.name, "rule " .. st.name }, false
  if st.name:find("^forbid%-%d+$") then refuse(st, "a forbid has no name to drop it by: edit the base") end
  refuse_own(m, st, slots, "delete it there")
  for _, at in ipairs(slots) do
    local index = m.at[at]
    if index then
      for _, name in ipairs(m.list[index].names or { st.name }) do m.dropped[name] = st end
      m.list[index], m.at[at], m.gone[at], found = false, nil, st, true
    end
  end
  if not found then missing(m, st, slots, "statement") end
end

function steps.search(m, st)
  local index = m.at.search
  if not index then
    m.list[#m.list + 1], m.at.search = st, #m.list + 1
    return
  end
  local base, new = m.list[index], copy_of(st)
  new.values = {}
  for _, key in ipairs(dsl.search_keys) do
    new.values[key] = st.values[key]
    if new.values[key] == nil then new.values[key] = base.values[key] end
  end
  new.touched, new.how = { table.unpack(base.touched or {}) }, { table.unpack(base.how or {}) }
  new.touched[#new.touched + 1], new.how[#new.how + 1] = place(base), "over"
  m.list[index] = new
end

function steps.space() end -- each file's own

-- Everything else takes the place of its like, or comes last.
local function put(m, st)
  local at = slot(st)
  local index = at and m.at[at] or #m.list + 1
  m.list[index] = st
  if at then m.at[at], m.own[at] = index, st end
end

-- Without what was dropped; forbids get the names they go by in this space. It must fit into one file.
local function compact(m)
  local list, forbids, bytes = {}, 0, 0
  for _, st in ipairs(m.list) do
    if st and st.kind == "forbid" then
      forbids, st = forbids + 1, copy_of(st)
      st.name = "forbid-" .. forbids
    end
    if st then list[#list + 1], bytes = st, bytes + #(st.expr or "") + #(st.when or "") end
    if #list >= dsl.statements then -- `space` is one of them
      refuse(st, "more than %d statements, those of the bases counted", dsl.statements)
    elseif bytes > dsl.expressions then
      refuse(st, "more than %d bytes of expressions, those of the bases counted", dsl.expressions)
    end
  end
  return list
end

-- The statements of the space that is `own` (one file's) on top of `base` (a merged list); and the names
-- that are gone, with their drop.
function inherit.merge(base, own)
  local m = { list = {}, at = {}, own = {}, gone = {}, dropped = {} }
  for i, st in ipairs(base) do
    m.list[i] = st
    if slot(st) then m.at[slot(st)] = i end
  end
  for _, st in ipairs(own) do (steps[st.kind] or put)(m, st) end
  return compact(m), m.dropped
end

return inherit
