-- flat: a space as the text of one file: every statement in force, its base's too, in the order in which
-- they count, each under a comment that says where it stands. It loads to the same space again.

local dsl = require "dsl"

local flat = {}

local fmt = string.format

local WIDTH = 110 -- bytes of a line of values, about

local function quoted(text)
  return fmt("%q", text) -- no newlines in it: dsl.lua has made one line of every text
end

local function value_text(value)
  -- %q writes the least integer in hexadecimal, which reads back as itself
  return type(value) == "string" and quoted(value) or fmt("%q", value)
end

-- A row: 4, "none" or { 2, 4 }.
local function row_text(row)
  local out = {}
  for i, value in ipairs(row) do out[i] = value_text(value) end
  return #out == 1 and out[1] or "{ " .. table.concat(out, ", ") .. " }"
end

-- Items with commas between them, broken into lines.
local function wrapped(items)
  local lines, line = {}, ""
  for i, item in ipairs(items) do
    local more = item .. (i < #items and ", " or "")
    if line ~= "" and #line + #more > WIDTH then lines[#lines + 1], line = line:gsub(" $", ""), "" end
    line = line .. more
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n  ")
end

local function body(items)
  return "{ " .. wrapped(items) .. " }"
end

-- key = value for the keys that the statement has, in this order.
local function add_fields(items, st, keys)
  for _, key in ipairs(keys) do
    if st[key] ~= nil then items[#items + 1] = key .. " = " .. value_text(st[key]) end
  end
  return items
end

-- {low, high} or {low, high, step} where a range made the rows and they are one still.
local function range_of(st)
  if not st.ranged then return nil end
  local low, high = st.rows[1][1], st.rows[#st.rows][1]
  local step = #st.rows > 1 and st.rows[2][1] - low or 1
  for i, row in ipairs(st.rows) do
    if step < 1 or row[1] - low ~= (i - 1) * step then return nil end
  end
  return step == 1 and { low, high } or { low, high, step }
end

local function param_text(st)
  local items, range = {}, range_of(st)
  if range then items[1] = "range = " .. row_text(range) end
  for i, row in ipairs(range and {} or st.rows) do items[i] = row_text(row) end
  if st.tied then
    local names = {}
    for i, name in ipairs(st.names) do names[i] = quoted(name) end
    items[#items + 1] = "as = " .. "{ " .. table.concat(names, ", ") .. " }"
  end
  for _, key in ipairs { "default", "pin" } do
    if st[key] then items[#items + 1] = key .. " = " .. row_text(st[key]) end
  end
  return fmt("param %s ", quoted(st.name)) .. body(add_fields(items, st, { "when", "doc" }))
end

-- name = value pairs of a seed or a forbid.
local function pair_items(st)
  local items = {}
  for i, key in ipairs(st.keys) do
    local value = st.values[key]
    items[i] = fmt("%s = %s", key, row_text(type(value) == "table" and value or { value }))
  end
  return items
end

local function rule_text(st)
  return fmt("%s %s ", st.kind, quoted(st.name)) .. body(add_fields({ quoted(st.expr) }, st, { "why" }))
end

local writers = { param = param_text, must = rule_text, prefer = rule_text }

function writers.given(st)
  local items = {}
  for i, name in ipairs(st.names) do items[i] = quoted(name) end
  return "given " .. body(items)
end

writers["let"] = function(st)
  return fmt("let %s %s", quoted(st.name), quoted(st.expr))
end

function writers.seed(st)
  return "seed " .. body(pair_items(st))
end

function writers.forbid(st)
  return "forbid " .. body(add_fields(pair_items(st), st, { "why" }))
end

-- Seconds as the language writes them.
function flat.time(seconds)
  for _, unit in ipairs { { 3600, "h" }, { 60, "m" } } do
    if seconds % unit[1] == 0 then return seconds // unit[1] .. unit[2] end
  end
  return seconds .. "s"
end

function writers.search(st)
  local values = {}
  for key, value in pairs(st.values) do values[key] = value end -- order does not matter: a copy
  values.budget = values.budget and flat.time(values.budget)
  return "search " .. body(add_fields({}, values, dsl.search_keys))
end

-- "spaces/hopper.lua:7, narrowed at x.lua:3": where a statement comes from.
function flat.origin(st)
  local out = { fmt("%s:%d", st.file, st.line) }
  for i, place in ipairs(st.touched or {}) do
    out[i + 1] = fmt("%s %s", st.how[i] == "over" and "over" or st.how[i] .. " at", place)
  end
  return (table.concat(out, ", "):gsub("%c", "?"))
end

-- The text of the space, whatever it inherits from.
function flat.text(sp)
  local head = { format = sp.format, template = sp.template, arch = sp.arch, doc = sp.doc ~= "" and sp.doc or nil }
  local items = add_fields({}, head, { "format", "template", "arch", "doc" })
  local out = { "-- " .. flat.origin(sp), fmt("space %s ", quoted(sp.name)) .. body(items) }
  for _, st in ipairs(sp.statements) do
    out[#out + 1] = "-- " .. flat.origin(st)
    out[#out + 1] = writers[st.kind](st)
  end
  return table.concat(out, "\n") .. "\n"
end

return flat
