-- verbs_space: `loom space` prints what a space declares, or all of it as one file; `loom devices` the
-- figures that expressions read as device.<field>.

local device = require "device"
local dsl = require "dsl"
local flat = require "flat"
local space = require "space"
local tab = require "tab"

local verbs = {}

local fmt = string.format

-- space --------------------------------------------------------------------------------------------

local function values_text(st)
  local out = {}
  for i, row in ipairs(st.rows) do
    if i > 16 then
      out[i] = fmt("... (%d)", #st.rows)
      break
    end
    out[i] = dsl.row_text(row)
  end
  return table.concat(out, " ")
end

local function notes(st)
  local out = {}
  if st.tied then out[#out + 1] = "ties " .. table.concat(st.names, ", ") end
  if st.default then out[#out + 1] = "default " .. dsl.row_text(st.default) end
  if st.pin then out[#out + 1] = "pinned to " .. dsl.row_text(st.pin) end
  if st.when then out[#out + 1] = "when " .. st.when end
  if st.doc then out[#out + 1] = st.doc end
  return table.concat(out, "; ")
end

local function seed_text(st)
  local out = {}
  for i, key in ipairs(st.keys) do
    local value = st.values[key]
    out[i] = fmt("%s=%s", key, dsl.row_text(type(value) == "table" and value or { value }))
  end
  return table.concat(out, " ")
end

local function search_text(st)
  local out = {}
  for _, key in ipairs(dsl.search_keys) do
    local value = st.values[key]
    if value ~= nil then out[#out + 1] = fmt("%s=%s", key, key == "budget" and flat.time(value) or value) end
  end
  return table.concat(out, " ")
end

local function rule_cells(st)
  return { st.expr, st.why }
end

-- Kind of statement (its heading), title of its columns, one statement as cells.
local SECTIONS = {
  { "given", "names", "", function(st) return { table.concat(st.names, " "), "" } end },
  { "param", "values", "", function(st) return { values_text(st), notes(st) } end },
  { "let", "expression", "", function(st) return { st.expr, "" } end },
  { "must", "expression", "why", rule_cells },
  { "forbid", "expression", "why", rule_cells },
  { "prefer", "expression", "why", rule_cells },
  { "seed", "values", "", function(st) return { seed_text(st), "" } end },
  { "search", "keys", "", function(st) return { search_text(st), "" } end },
}

local function print_section(sp, section)
  local rows = {}
  for _, st in ipairs(sp.statements) do
    if section[1] == st.kind then
      local cells = section[4](st)
      rows[#rows + 1] = { st.name or "", cells[1], cells[2], flat.origin(st) }
    end
  end
  if #rows == 0 then return end
  local columns = {}
  for i, title in ipairs { section[1], section[2], section[3], "place" } do
    columns[i] = { title = title, key = i, align = "left" }
  end
  host.out("\n" .. tab.format(rows, columns))
end

local function print_space(sp)
  host.out(fmt("space %s: %s\n", sp.name, sp.doc))
  local facts = { { "place", flat.origin(sp) }, { "base", sp.base and sp.base.name }, { "template", sp.template },
    { "arch", sp.arch } }
  for _, fact in ipairs(facts) do
    if fact[2] then host.out(fmt("%-10s%s\n", fact[1], fact[2])) end
  end
  for _, section in ipairs(SECTIONS) do print_section(sp, section) end
end

function verbs.space(opt)
  for i, name in ipairs(opt.space or space.names()) do
    if i > 1 then host.out("\n") end
    local sp = space.load(name)
    if opt.flat then host.out(flat.text(sp)) else print_space(sp) end
  end
  return 0
end

-- devices ------------------------------------------------------------------------------------------

-- Every figure of every preset, and where it comes from.
function verbs.devices()
  local names, rows = device.names(), {}
  local columns = { { title = "device.", key = 1, align = "left" } }
  for i, name in ipairs(names) do columns[i + 1] = { title = name, key = i + 1, align = "right" } end
  columns[#columns + 1] = { title = "source", key = #columns + 1, align = "left" }
  for _, field in ipairs(device.fields()) do
    if field ~= "name" and field ~= "title" then
      local row = { field }
      for i, name in ipairs(names) do row[i + 1] = device.get(name)[field] end
      row[#columns], rows[#rows + 1] = device.source_of(field), row
    end
  end
  host.out(tab.format(rows, columns) .. "\n")
  host.out(tab.format(device.sources(), { { title = "source", key = 1 }, { title = "", key = 2 } }))
  return 0
end

return verbs
