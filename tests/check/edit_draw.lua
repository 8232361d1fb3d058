-- edit_draw: random edits of a space: "valid" ones, that must apply; "senseless" ones, that must be
-- refused; and "any", of which nothing is known but that they do no harm.

local edit = require "edit"
local model = require "check.edit_model"

local draw = {}

local random = math.random

local function pick(list)
  return list[random(#list)]
end

-- Values -------------------------------------------------------------------------------------------

-- A text of the model as a value of an op.
local function value_of(p, text)
  local row = {}
  for part in (text .. ","):gmatch("([^,]*),") do
    local sample = p.sample[#row + 1]
    row[#row + 1] = math.type(sample) == "integer" and math.tointeger(tonumber(part)) or part
  end
  return #row == 1 and row[1] or row
end

local function values_of(p, list)
  local out = {}
  for i, text in ipairs(list) do out[i] = value_of(p, text) end
  return out
end

-- A text of the parameter's types that it may have or not.
local function some_text(p)
  local parts = {}
  for i, sample in ipairs(p.sample) do
    if math.type(sample) == "integer" then
      parts[i] = tostring(pick { random(1, 300), random(1, 300), 8 * random(64), -random(4), random(0, 1 << 40) })
    else
      parts[i] = pick { "cooperative", "pingpong", "w" .. random(99), "a.b-c+" .. random(9) }
    end
  end
  return table.concat(parts, ",")
end

local function new_text(p, taken)
  while true do
    local text = some_text(p)
    if not model.has(p.rows, text) and not model.has(taken, text) then return text end
  end
end

local function shuffled(list)
  local out = table.move(list, 1, #list, 1, {})
  for i = #out, 2, -1 do
    local k = random(i)
    out[i], out[k] = out[k], out[i]
  end
  return out
end

-- Edits of domains -----------------------------------------------------------------------------------
-- Each takes the context {sp, m, own (parameters of the file)} and gives an op, or nil where none fits.

local valid, senseless = {}, {}

local function own_param(c, fits)
  for _, p in ipairs(shuffled(c.own)) do
    if not fits or fits(p) then return p end
  end
end

valid["set-domain"] = function(c)
  local p = own_param(c)
  if not p then return nil end
  local rows, taken = {}, {}
  for _, text in ipairs(shuffled(p.rows)) do
    if random(2) == 1 and #rows < 12 then rows[#rows + 1] = text end
  end
  for _ = 1, random(0, 2) do
    rows[#rows + 1] = new_text(p, taken)
    taken[#taken + 1] = rows[#rows]
  end
  local one = random(4) == 1 or #rows < 2
  if one then rows = { p.pin or pick(p.rows) } end
  for _, must in ipairs { p.pin or false, not one and p.default or false } do
    if must and not model.has(rows, must) then rows[#rows + 1] = must end
  end
  if not one then rows = shuffled(rows) end
  if table.concat(rows, " ") == table.concat(p.rows, " ") then return nil end
  return { param = p.name, values = values_of(p, rows) }
end

valid["add-value"] = function(c)
  local p = own_param(c, function(p) return #p.rows < 20 end)
  if not p then return nil end
  local rows = {}
  for i = 1, random(3) do rows[i] = new_text(p, rows) end
  return { param = p.name, values = values_of(p, rows) }
end

valid["remove-value"] = function(c)
  local p = own_param(c, function(p) return #p.rows > 1 end)
  if not p then return nil end
  local rows = {}
  for _, text in ipairs(shuffled(p.rows)) do
    local stays = text == p.pin or text == p.default
    if not stays and #rows < #p.rows - 1 and (#rows == 0 or random(3) == 1) then rows[#rows + 1] = text end
  end
  return #rows > 0 and { param = p.name, values = values_of(p, rows) } or nil
end

local function is_number(p)
  return #p.sample == 1 and math.type(p.sample[1]) == "integer"
end

-- Around the pin, or else the default where it has one.
valid["set-range"] = function(c)
  local p = own_param(c, is_number)
  if not p then return nil end
  local step, keep = random(3) == 1 and random(8) or 1, tonumber(p.pin or p.default or random(1, 64))
  local low, high = keep - step * random(0, 4), keep + step * random(0, 6) + (random(2) == 1 and random(0, step - 1) or 0)
  local far = keep > 1 << 60 or keep < -1 << 60 -- beside these there may be none
  if far or p.pin and p.default and p.pin ~= p.default then low, high, step = keep, keep, 1 end
  local values = { low, high, (step > 1 or random(4) == 1) and step or nil }
  local op = { kind = "set-range", param = p.name, values = values }
  local rows = model.named(model.after(c.m, op).params, p.name).rows
  -- the same values may be written so already
  return op, table.concat(rows, " ") == table.concat(p.rows, " ") and "any" or nil
end

function valid.pin(c)
  local p = own_param(c, function(p) return #p.rows > 1 or not p.pin end)
  if not p then return nil end
  local text = pick(p.rows)
  return text ~= p.pin and { param = p.name, values = values_of(p, { text }) } or nil
end

function valid.unpin(c)
  local p = own_param(c, function(p) return p.pin end)
  return p and { param = p.name, values = {} }
end

-- One of the same words where something is wrong.
local function spoilt(kind)
  return function(c)
    local p = own_param(c)
    local text = p and pick(p.rows)
    local value = p and value_of(p, text)
    local wrong = pick { "unknown", "type", "parts", "twice", "same" }
    if not p or wrong == "unknown" then return { param = pick { "tile", "nope", "a b", "M", "device", "x\"y", "" }, values = { 1 } } end
    if wrong == "type" then
      local row = {}
      for i, sample in ipairs(p.sample) do row[i] = math.type(sample) and "x" or 1 end
      return { param = p.name, values = { row } }
    end
    if wrong == "parts" then return { param = p.name, values = { { 1, 2, 3 } } } end
    if wrong == "twice" then return { param = p.name, values = { value, value } } end
    if kind == "add-value" then return { param = p.name, values = { value } } end
    if kind == "remove-value" then return { param = p.name, values = { value_of(p, new_text(p, {})) } } end
    if kind == "set-domain" then return { param = p.name, values = values_of(p, p.rows) } end
    return { param = p.name, values = { value_of(p, kind == "pin" and p.pin or new_text(p, {})) } }
  end
end

for _, kind in ipairs { "set-domain", "add-value", "remove-value", "pin" } do senseless[kind] = spoilt(kind) end

senseless["set-range"] = function(c)
  local p = own_param(c)
  local number = own_param(c, is_number)
  local tied = own_param(c, function(q) return not is_number(q) end)
  local bad = { { param = "nope", values = { 1, 2 } } }
  if p then bad[#bad + 1] = { param = p.name, values = { 1, "x" } } end
  if number then
    bad[#bad + 1] = { param = number.name, values = { random(9), -random(9) } }
    bad[#bad + 1] = { param = number.name, values = { 1, 9, -random(0, 3) } }
    bad[#bad + 1] = { param = number.name, values = { math.mininteger, math.maxinteger } }
  end
  if tied then bad[#bad + 1] = { param = tied.name, values = { 1, 4 } } end
  return pick(bad)
end

function senseless.unpin(c)
  local p = own_param(c, function(p) return not p.pin end)
  return { param = p and random(3) > 1 and p.name or "nope", values = {} }
end

-- Edits of statements --------------------------------------------------------------------------------

local function same_seed(c, fields)
  local before = model.text(c.m)
  local after = model.text(model.after(c.m, { kind = "add-seed", fields = fields }))
  local line = after:sub(#before + 1) -- not a prefix: search lines follow; compare seeds one by one
  local seeds, new = {}, model.after(c.m, { kind = "add-seed", fields = fields }).seeds
  for i, seed in ipairs(new) do
    local words = {}
    for _, p in ipairs(c.m.params) do words[#words + 1] = tostring(seed[p.name]) end
    seeds[i] = table.concat(words, " ")
  end
  for i = 1, #seeds - 1 do
    if seeds[i] == seeds[#seeds] then return line end
  end
end

local function some_seed(c)
  local fields = {}
  for _, p in ipairs(shuffled(c.all)) do
    if random(3) > 1 or #fields == 0 then
      local value = value_of(p, pick(p.rows))
      if type(value) == "table" and random(2) == 1 then
        for i, name in ipairs(p.names) do fields[#fields + 1] = { name = name, value = value[i] } end
      else
        fields[#fields + 1] = { name = p.name, value = value }
      end
    end
  end
  return fields
end

valid["add-seed"] = function(c)
  if #c.all == 0 or #c.m.seeds > 20 then return nil end
  local fields = some_seed(c)
  return not same_seed(c, fields) and { fields = fields } or nil
end

senseless["add-seed"] = function(c)
  local fields = #c.all > 0 and some_seed(c) or {}
  local wrong = random(4)
  if wrong == 1 or #fields == 0 then
    fields[#fields + 1] = { name = "nope", value = 1 }
  elseif wrong == 2 then
    fields[#fields + 1] = fields[1]
  elseif wrong == 3 then
    local p = pick(c.all)
    fields = { { name = p.name, value = value_of(p, new_text(p, {})) } }
  else
    fields[1] = { name = fields[1].name, value = { 1, 2, 3, 4 } }
  end
  return { fields = fields }
end

-- An expression of a type over what is known first, so that nothing depends on itself.
local function expression(c, kind)
  local first = c.all[1]
  local name = first and is_number(first) and first.name or c.m.given ~= "" and "M" or "1"
  local n = random(1, 1000)
  if kind == "boolean" then
    return pick { name .. " >= " .. n, "not (" .. name .. " % " .. n .. " == 0)", name .. " < " .. n .. " or " .. name .. "*2 > 7" }
  elseif kind == "string" then
    return "dtype"
  end
  return pick { name .. " + " .. n, name .. "*" .. n, "ceildiv(" .. name .. ", " .. n .. ")", tostring(n) }
end

valid["set-let"] = function(c)
  if #c.m.lets == 0 then return nil end
  local let = pick(c.m.lets)
  local entry = c.sp.names[let.name]
  local text = expression(c, entry and entry.type)
  return text ~= let.expr and { name = let.name, expr = text } or nil, not (entry and entry.type) and "any" or nil
end

senseless["set-let"] = function(c)
  local let = #c.m.lets > 0 and pick(c.m.lets).name or "x"
  -- a base is read up to the first name that its children declare: types and cycles are theirs to see
  local wrong = { "", " ", "1 +", "(1", "1\n", "1 < 2 < 3", "'a' + 1", let .. " + 1" }
  return pick { { name = "nope", expr = "1" }, { name = let, expr = wrong[random(#wrong - (c.sp.missing and 3 or 0))] },
    { name = pick { "tile_m", "M", "a\"b" }, expr = "1" } }
end

local WHY = { "plain", "it's so", 'a "quoted" word', "back\\slash", "{device.sms} SMs", "\xC3\xBC \xE2\x82\xAC", "%d %s $x", "]] --",
  "a'b\"c" }

valid["add-rule"] = function(c)
  if #c.m.rules > 40 then return nil end
  local name
  repeat name = pick { "r", "r-", "x.", "9" } .. random(1000) until not model.named(c.m.rules, name)
  return { rule = pick { "must", "prefer" }, name = name, expr = expression(c, "boolean"), why = pick(WHY) }
end

senseless["add-rule"] = function(c)
  local old = #c.m.rules > 0 and pick(c.m.rules).name or "a b"
  return pick { { rule = "must", name = old, expr = "1 < 2", why = "x" }, { rule = "let", name = "r", expr = "1 < 2", why = "x" },
    { rule = "must", name = pick { "a b", "", "\"", "-", "x\ny", "forbid-1" }, expr = "1 < 2", why = "x" },
    { rule = "prefer", name = "zz", expr = pick(c.sp.missing and { "1 <", "", "?" } or { "1", "1 <", "", "'a'", "1 < 'a'" }),
      why = "x" },
    { rule = "must", name = "zz", expr = "1 < 2", why = pick { "", "{", "}", "{1 +}", "\1", "\xff" } } }
end

valid["drop-rule"] = function(c)
  return #c.m.rules > 0 and { name = pick(c.m.rules).name } or nil
end

senseless["drop-rule"] = function(c)
  return { name = pick { "nope", "tile_m", "forbid-1", "", "a\"b", #c.m.lets > 0 and c.m.lets[1].name or "x" } }
end

valid["set-search"] = function(c)
  local key = pick { "budget", "rng", "n", "mutator", "strategy" }
  local op = { key = key }
  if key == "rng" then op.value = random(0, 0x7fffffff) end
  if key == "n" then op.value = random(1, 1000000) end
  if key == "mutator" then op.value = pick { "random", "llm" } end
  if key == "strategy" then op.value = "evolve" end
  if key == "budget" then op.value = random(1, 99999) .. pick { "", "s", "m", "h" } end
  local value = key == "budget" and model.seconds(op.value) or op.value
  return value ~= c.m.search[key] and op or nil
end

senseless["set-search"] = function()
  return pick { { key = "nope", value = "1" }, { key = "", value = "" }, { key = "rng", value = -1 }, { key = "n", value = 0 },
    { key = "rng", value = "x" }, { key = "budget", value = pick { "", "0", "soon", "1d", "-1s", "99999999999" } },
    { key = "strategy", value = "x" }, { key = "mutator", value = pick { "", "LLM", "a\nb", "\"" } } }
end

-- Drawing ------------------------------------------------------------------------------------------

local function context(sp, m)
  local c = { sp = sp, m = m, own = {}, all = {} }
  for _, param in ipairs(sp.params) do
    local p = model.named(m.params, param.name)
    p.sample = param.st.rows[1]
    c.all[#c.all + 1] = p
    if param.st.file == sp.file then c.own[#c.own + 1] = p end
  end
  return c
end

-- Wrong words in some place of an op that was fine.
local function disturbed(op)
  if op.values and #op.values > 0 then
    op.values[random(#op.values)] = pick { 0, -1, 64, math.maxinteger, math.mininteger, "x", "a+b", { 1, 2 }, { "pingpong", 2 } }
  elseif op.expr then
    op.expr = pick { op.expr .. " + 1", "(" .. op.expr .. ")", op.expr:gsub("%d+", "0"), "M", "nope", "threads > 3", "a_k_major" }
  elseif op.fields then
    op.fields[random(#op.fields)].value = pick { 1, 64, "x", { 1, 2 } }
  end
  if random(12) == 1 then op.expect = pick { "", "param", "seed { }", "a\"b\n" } end
  return op
end

-- An op, and what is known of it: "valid", "senseless", "any".
function draw.op(sp, m)
  local c = context(sp, m)
  local kind, fate = pick(edit.ops), pick { "valid", "valid", "any", "senseless", "senseless", "senseless" }
  local op, known
  if kind == "unpin" and fate == "valid" and not own_param(c, function(p) return p.pin end) then kind = "pin" end
  if fate ~= "senseless" then op, known = valid[kind](c) end
  if not op then op, fate, known = senseless[kind](c), "senseless", nil end
  if fate == "any" then op = disturbed(op) end
  op.kind = kind
  return op, known or fate
end

return draw
