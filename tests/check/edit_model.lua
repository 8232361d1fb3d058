-- edit_model: a space as plain data, and what each edit makes of it: written from the manual alone, so
-- that it can contradict the editor. Values are texts here, tied ones with commas.

local dsl = require "dsl"
local expr = require "expr"
local luatok = require "luatok"
local resolve = require "resolve"
local space = require "space"

local model = {}

local function row_text(row)
  return table.concat(row, ",")
end

-- Reading a space ----------------------------------------------------------------------------------

local function param_of(st)
  local p = { name = st.name, names = st.names, rows = {}, default = st.default and row_text(st.default),
    pin = st.pin and row_text(st.pin), rest = tostring(st.doc) .. "|" .. tostring(st.when) }
  for i, row in ipairs(st.rows) do p.rows[i] = row_text(row) end
  return p
end

-- A seed by parameters: the tied ones whole, however they were written.
local function seed_of(st, params)
  local seed = {}
  for _, p in ipairs(params) do
    local value = st.values[p.name]
    if type(value) == "table" then value = row_text(value) end
    if #p.names > 1 and value == nil and st.values[p.names[1]] ~= nil then
      local row = {}
      for i, name in ipairs(p.names) do row[i] = st.values[name] end
      value = row_text(row)
    end
    if value ~= nil then seed[p.name] = tostring(value) end
  end
  return seed
end

-- {params, lets, rules, seeds, search} of a loaded space.
function model.of(sp)
  local m = { params = {}, lets = {}, rules = {}, seeds = {}, search = {}, given = "" }
  for _, st in ipairs(sp.statements) do
    if st.kind == "param" then m.params[#m.params + 1] = param_of(st) end
    if st.kind == "let" then m.lets[#m.lets + 1] = { name = st.name, expr = st.expr } end
    if st.kind == "given" then m.given = table.concat(st.names, ",") end
    if st.kind == "must" or st.kind == "prefer" then
      m.rules[#m.rules + 1] = { rule = st.kind, name = st.name, expr = st.expr, why = st.why }
    end
    if st.kind == "search" then
      for key, value in pairs(st.values) do m.search[key] = value end
    end
  end
  for _, st in ipairs(sp.statements) do
    if st.kind == "seed" then m.seeds[#m.seeds + 1] = seed_of(st, m.params) end
  end
  return m
end

-- All of it as lines, to compare.
function model.text(m)
  local out = { "given " .. m.given }
  for _, p in ipairs(m.params) do
    out[#out + 1] = string.format("param %s (%s): %s; default %s, pin %s; %s", p.name, table.concat(p.names, ","),
      table.concat(p.rows, " "), p.default, p.pin, p.rest)
  end
  for _, l in ipairs(m.lets) do out[#out + 1] = "let " .. l.name .. " = " .. l.expr end
  for _, r in ipairs(m.rules) do out[#out + 1] = table.concat({ r.rule, r.name, r.expr, r.why }, " | ") end
  for _, s in ipairs(m.seeds) do
    local seed = { "seed" }
    for _, p in ipairs(m.params) do seed[#seed + 1] = s[p.name] and p.name .. "=" .. s[p.name] or nil end
    out[#out + 1] = table.concat(seed, " ")
  end
  for _, key in ipairs { "strategy", "mutator", "budget", "rng", "n" } do
    out[#out + 1] = "search " .. key .. " " .. tostring(m.search[key])
  end
  return table.concat(out, "\n")
end

-- Edits --------------------------------------------------------------------------------------------

local function copied(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, inner in pairs(value) do copy[key] = copied(inner) end
  return copy
end

function model.named(list, name)
  for i, item in ipairs(list) do
    if item.name == name then return item, i end
  end
end

function model.has(list, value)
  for i, item in ipairs(list) do
    if item == value then return i end
  end
end

local function value_text(value)
  return type(value) == "table" and row_text(value) or tostring(value)
end

local function texts(values)
  local out = {}
  for i, value in ipairs(values) do out[i] = value_text(value) end
  return out
end

-- The values become others; the default and the seeds follow.
local function new_rows(m, p, rows, follow)
  p.rows = rows
  if follow and p.default and not model.has(rows, p.default) then p.default = rows[1] end
  for _, seed in ipairs(m.seeds) do
    if seed[p.name] and not model.has(rows, seed[p.name]) then seed[p.name] = follow and rows[1] or nil end
  end
end

-- Where a number goes in a list that rises, else the end.
local function place_for(rows, text)
  local last
  for _, row in ipairs(rows) do
    local x = math.tointeger(tonumber(row))
    if not x or last and x <= last then return #rows + 1 end
    last = x
  end
  for i, row in ipairs(rows) do
    if tonumber(row) > tonumber(text) then return i end
  end
  return #rows + 1
end

local AFTER = {}

AFTER["set-domain"] = function(m, op)
  new_rows(m, model.named(m.params, op.param), texts(op.values), #op.values == 1)
end

AFTER["add-value"] = function(m, op)
  local p = model.named(m.params, op.param)
  for _, text in ipairs(texts(op.values)) do table.insert(p.rows, place_for(p.rows, text), text) end
end

AFTER["remove-value"] = function(m, op)
  local p = model.named(m.params, op.param)
  for _, text in ipairs(texts(op.values)) do table.remove(p.rows, model.has(p.rows, text)) end
  new_rows(m, p, p.rows, false)
end

AFTER["set-range"] = function(m, op)
  local rows = {}
  for x = op.values[1], op.values[2], op.values[3] or 1 do rows[#rows + 1] = tostring(x) end
  new_rows(m, model.named(m.params, op.param), rows, #rows == 1)
end

function AFTER.pin(m, op)
  model.named(m.params, op.param).pin = value_text(op.values[1])
end

function AFTER.unpin(m, op)
  model.named(m.params, op.param).pin = nil
end

AFTER["add-seed"] = function(m, op)
  local st = { values = {} }
  for _, field in ipairs(op.fields) do st.values[field.name] = field.value end
  m.seeds[#m.seeds + 1] = seed_of(st, m.params)
end

AFTER["set-let"] = function(m, op)
  model.named(m.lets, op.name).expr = op.expr
end

AFTER["add-rule"] = function(m, op)
  m.rules[#m.rules + 1] = { rule = op.rule, name = op.name, expr = op.expr, why = op.why }
end

AFTER["drop-rule"] = function(m, op)
  table.remove(m.rules, select(2, model.named(m.rules, op.name)))
end

function model.seconds(text)
  local digits, unit = text:match("^(%d+)(%l?)$")
  return tonumber(digits) * ({ [""] = 1, s = 1, m = 60, h = 3600 })[unit]
end

AFTER["set-search"] = function(m, op)
  m.search[op.key] = op.key == "budget" and model.seconds(op.value) or op.value
end

-- The model after an edit that applies.
function model.after(m, op)
  local new = copied(m)
  AFTER[op.kind](new, op)
  return new
end

-- Speed --------------------------------------------------------------------------------------------
-- The same texts are read many times over: the editor's old text is the result of the edit before.

local function remembered(f, key_of, limit)
  local known, size = {}, 0
  return function(...)
    local key = key_of(...)
    if not key then return f(...) end
    local got = known[key]
    if not got then
      got = table.pack(f(...))
      if size >= limit then known, size = {}, 0 end
      known[key], size = got, size + 1
    end
    return table.unpack(got, 1, got.n)
  end
end

local function by_two(a, b)
  return a .. "\0" .. b
end

-- Lets the loader remember what it read, and compile an expression only when somebody runs it; returns
-- what undoes that.
function model.quicken()
  local old = { load = space.load_text, read = dsl.read, parse = expr.parse, compile = expr.compile, space = resolve.space,
    scan = luatok.scan }
  space.load_text, dsl.read = remembered(old.load, by_two, 8), remembered(old.read, by_two, 16)
  luatok.scan = remembered(old.scan, function(text) return text end, 8)
  expr.parse = remembered(old.parse, function(text) return text end, 1000)
  resolve.space = remembered(old.space, function(own, base) return not base and own end, 8)
  expr.compile = function(...)
    local given, run = table.pack(...), nil
    return function(...)
      run = run or old.compile(table.unpack(given, 1, given.n))
      return run(...)
    end
  end
  return function()
    space.load_text, dsl.read, expr.parse, expr.compile = old.load, old.read, old.parse, old.compile
    resolve.space, luatok.scan = old.space, old.scan
  end
end

return model
