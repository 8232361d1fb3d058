-- edit_statement: edits of whole statements: seeds, lets, rules, the search. New ones stand behind the
-- last of their kind and are written as it is; what belongs to a base is never changed there: this file
-- replaces or drops it.

local domain = require "edit_domain"
local dsl = require "dsl"
local duration = require "duration"
local expr = require "expr"
local fail = require "fail"
local meaning = require "edit_meaning"
local place = require "edit_place"
local splice = require "splice"
local words = require "edit_words"

local statement = {}

local fmt, refuse, row_text = string.format, dsl.refuse, dsl.row_text

local WIDTH = 120 -- columns of a line before a rule's reason moves to a line of its own

-- What is there ------------------------------------------------------------------------------------

-- Complaints about a statement that is not there yet stand at the file's own.
local function at_head(ed, kind, name)
  return { kind = kind, name = name, file = ed.sp.file, line = ed.sp.line }
end

local function find(list, kinds, name)
  for _, st in ipairs(list) do
    if kinds[st.kind] and st.name == name then return st end
  end
end

local function names_of(list, kinds)
  local names = {}
  for _, st in ipairs(list) do
    if kinds[st.kind] then names[#names + 1] = st.name end
  end
  return names
end

local function base_statements(ed)
  return ed.sp.base and ed.sp.base.statements or {}
end

-- A text that will stand in a statement: one line, not empty.
local function check_text(st, what, text)
  if type(text) ~= "string" then refuse(st, "%s is a %s, not a text", what, type(text)) end
  if not text:find("%S") then refuse(st, "%s is empty", what) end
  if text:find("%c") then refuse(st, "%s has a control character", what) end
  if not utf8.len(text) then refuse(st, "%s is not UTF-8", what) end
end

-- In a base the loader stops at the first name that only a child knows: what follows has not been read.
local function check_expression(st, what, text)
  check_text(st, what, text)
  local tree, err = expr.parse(text)
  if not tree then refuse(st, "%s", err) end
end

local function check_reason(st, text)
  check_text(st, "the reason", text)
  for inner in text:gmatch("{([^{}]*)}") do check_expression(st, "a '{}' of the reason", inner) end
  if text:gsub("{[^{}]*}", ""):find("[{}]") then refuse(st, "the reason has a brace without its partner") end
end

-- Puts a new statement behind the last of the first of some groups of kinds, else behind the head, or
-- with no group at the end of the file.
local function add(ed, st, text, groups)
  local t
  for _, kinds in ipairs(groups) do
    t = t or place.last(ed, kinds)
  end
  place.expect(ed, st, t)
  place.add(ed, t, text)
  ed.added[1] = st
  return st
end

local BEHIND_RULES = { { "must", "prefer" }, { "let", "param" }, { "space" } }

-- Seeds --------------------------------------------------------------------------------------------

-- The parameter that a field of a seed names, whole or a part of it.
local function param_of(ed, st, name)
  local known = {}
  for _, param in ipairs(ed.sp.params) do
    known[#known + 1] = param.name
    for i, column in ipairs(param.names) do
      if param.name == name then return param.st end
      if column == name then return param.st, i end
    end
  end
  refuse(st, "unknown parameter '%s'%s", name, fail.near(name, known))
end

local function check_fields(ed, st, fields)
  if type(fields) ~= "table" or #fields == 0 then refuse(st, "no value is given") end
  for _, field in ipairs(fields) do
    local param, column = param_of(ed, st, tostring(field.name))
    if st.values[field.name] ~= nil then refuse(st, "'%s' is given twice", field.name) end
    if column then
      domain.row({ names = { field.name }, rows = { { param.rows[1][column] } } }, field.value, st)
    else
      domain.row(param, field.value, st)
    end
    st.values[field.name] = field.value
    st.keys[#st.keys + 1] = field.name
  end
  table.sort(st.keys)
end

-- What the seed asks of each parameter, as rows by the parameter's name; tied parts come together.
local function asks(ed, seed, st)
  local rows = {}
  for _, param in ipairs(ed.sp.params) do
    local row = domain.seed_row(param, seed)
    rows[param.name] = row or nil
    local some = seed.values[param.name] ~= nil
    for _, name in ipairs(param.tied and param.names or {}) do
      if st and seed.values[name] ~= nil and (some or not row) then
        refuse(st, "'%s' are tied: give all of them or none", table.concat(param.names, "', '"))
      end
    end
    if st and row and not dsl.row_index(param.st.rows, row) then
      refuse(st, "'%s' has no value %s", param.name, row_text(row))
    end
  end
  return rows
end

local function seed_text(ed, fields)
  local last = place.last(ed, { "seed" })
  local doc, parts, rows = ed.doc, {}, ""
  local text = last and place.text(ed, last) or ""
  for _, field in ipairs(last and last.fields or {}) do
    if doc.tokens[field.first].text == "{" then rows = doc.text:sub(doc.tokens[field.first].from, field.to) end
  end
  local style = splice.style_of(rows)
  local quote, is = text:match("[\"']"), text:match("[%w_]([ \t]*=[ \t]*)[^=]") or " = "
  if quote then style.quote = quote end
  for i, field in ipairs(fields) do
    local row = type(field.value) == "table" and field.value or { field.value }
    parts[i] = field.name .. is .. splice.spell(row, style)
  end
  local tight = text:find("^%w+[ \t(]*{[^%s}]")
  local pad = tight and "" or " "
  return "seed {" .. pad .. table.concat(parts, tight and not text:find(",[ \t]") and "," or ", ") .. pad .. "}"
end

local function add_seed(ed)
  local fields, st = ed.op.fields, at_head(ed, "seed")
  st.values, st.keys = {}, {}
  check_fields(ed, st, fields)
  local rows = asks(ed, st, st)
  for _, other in ipairs(ed.own) do
    if other.kind == "seed" and meaning.same(rows, asks(ed, other)) then
      refuse(other, "asks for the same already")
    end
  end
  return add(ed, st, seed_text(ed, fields), { { "seed" } })
end

-- Lets ---------------------------------------------------------------------------------------------

local LET, RULES = { let = true }, { must = true, prefer = true }

local function set_let(ed)
  local name, text = tostring(ed.op.name), ed.op.expr
  local st, old = find(ed.own, LET, name), find(base_statements(ed), LET, name)
  if not st and not old then
    fail(fmt("%s:%d: no let '%s'%s", ed.sp.file, ed.sp.line, name,
      fail.near(name, names_of(ed.sp.statements, LET))))
  end
  check_expression(st or at_head(ed, "let", name), "the expression", text)
  if (st or old).expr == text then refuse(st or old, "is '%s' already", text) end
  if not st then
    st = at_head(ed, "let", name)
    st.expr = text
    return add(ed, st, fmt('let "%s" %s', name, place.quoted(text)), { { "let" }, { "param" }, { "space" } })
  end
  local t = place.claim(ed, st)
  local token = ed.doc.tokens[t.string]
  splice.change(ed.doc, token.from, token.to, place.quoted(text, token.text:match("^[\"']")))
  meaning.becomes(ed, st, { { "expr", text } })
  return st
end

-- Rules --------------------------------------------------------------------------------------------

-- must "name" { "expression", why = "reason" }, the reason on a line of its own where it is long.
local function rule_text(op)
  local front = fmt('%s %s { %s,', op.rule, place.quoted(op.name), place.quoted(op.expr))
  local back = fmt("why = %s }", place.quoted(op.why))
  return front .. (#front + #back < WIDTH and " " or "\n  ") .. back
end

local function add_rule(ed)
  local op = ed.op
  local name = tostring(op.name)
  if not RULES[op.rule] then
    fail(fmt("%s:%d: a rule is 'must' or 'prefer', not '%s'", ed.sp.file, ed.sp.line, tostring(op.rule)))
  end
  local st = at_head(ed, op.rule, name)
  check_text(st, "the name", name)
  check_expression(st, "the expression", op.expr)
  check_reason(st, op.why)
  local old = find(ed.own, RULES, name) or find(ed.sp.statements, RULES, name)
  if old then refuse(old, "is there already: give another name") end
  local dropped = find(ed.own, { drop = true }, name)
  if dropped then refuse(dropped, "takes the name: give another one") end
  st.expr, st.why = op.expr, op.why
  return add(ed, st, rule_text { rule = op.rule, name = name, expr = op.expr, why = op.why }, BEHIND_RULES)
end

local function drop_rule(ed)
  local name = tostring(ed.op.name)
  local st, base = find(ed.own, RULES, name), find(base_statements(ed), RULES, name)
  local dropped = base and find(ed.own, { drop = true }, name)
  if dropped then refuse(dropped, "the rule is dropped already") end
  if name:find("^forbid%-%d+$") then
    fail(fmt("%s:%d: '%s' counts a forbid statement: edit the file by hand", ed.sp.file, ed.sp.line, name))
  elseif not st and not base then
    fail(fmt("%s:%d: no rule '%s'%s", ed.sp.file, ed.sp.line, name,
      fail.near(name, names_of(ed.sp.statements, RULES))))
  end
  local drop = at_head(ed, "drop", name)
  if not st then return add(ed, drop, fmt('drop "%s"', name), BEHIND_RULES) end
  place.cut(ed, place.claim(ed, st), base and fmt('drop "%s"', name))
  ed.gone[st] = true
  if base then ed.added[1] = drop end
  return st
end

-- The search -----------------------------------------------------------------------------------------

-- What the value of a key is read as.
local function search_value(key, value)
  if key == "budget" then return duration.seconds(value) end
  return value
end

local function check_search(st, key, value)
  local known
  for _, k in ipairs(dsl.search_keys) do known = known or k == key end
  if not known then
    refuse(st, "unknown key '%s'%s", key, fail.near(key, dsl.search_keys))
  end
  local want = words.search_numbers[key] and "integer" or "string"
  if (math.type(value) or type(value)) ~= want then
    refuse(st, "'%s' wants a%s %s, not %s", key, want == "integer" and "n" or "", want,
      type(value) == "string" and "'" .. value .. "'" or tostring(value))
  end
  if want == "string" then check_text(st, fmt("'%s'", key), value) end
end

local function set_search(ed)
  local key, value = tostring(ed.op.key), ed.op.value
  local st = find(ed.own, { search = true })
  check_search(st or at_head(ed, "search"), key, value)
  local spelled = type(value) == "string" and place.quoted(value) or tostring(value)
  if not st then
    st = at_head(ed, "search")
    st.values = { [key] = search_value(key, value) }
    return add(ed, st, fmt("search { %s = %s }", key, spelled), {})
  end
  local t, values = place.claim(ed, st), {}
  local field = splice.field_of(t, key)
  for k, old in pairs(st.values) do values[k] = old end
  if values[key] ~= nil and values[key] == search_value(key, value) then
    refuse(st, "'%s' has the value %s already", key, tostring(value))
  end
  values[key] = search_value(key, value)
  if field then
    splice.change(ed.doc, ed.doc.tokens[field.first].from, field.to, spelled)
  elseif #t.fields > 0 then
    splice.add_field(ed.doc, t.fields[#t.fields], key, { value }, t.fields)
  end
  meaning.becomes(ed, st, { { "values", values } })
  return st
end

-- Each takes ed, makes the changes and returns the statement they are about.
statement.ops = { ["add-seed"] = add_seed, ["set-let"] = set_let, ["add-rule"] = add_rule,
  ["drop-rule"] = drop_rule, ["set-search"] = set_search }

return statement
