-- verbs_space: `loom space` prints what a space declares.

local dsl = require "dsl"
local space = require "space"
local tab = require "tab"

local verbs = {}

local fmt = string.format

-- space --------------------------------------------------------------------------------------------

local function place(st)
  return fmt("%s:%d", st.file, st.line)
end

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

-- Kind of statement, its heading, titles of its columns, one statement as cells.
local SECTIONS = {
  { { given = true }, "given", { "names", "" }, function(st) return { table.concat(st.names, " "), "" } end },
  { { param = true }, "param", { "values", "" }, function(st) return { values_text(st), notes(st) } end },
  { { let = true }, "let", { "expression", "" }, function(st) return { st.expr, "" } end },
  { { must = true }, "must", { "expression", "why" }, function(st) return { st.expr, st.why } end },
  { { prefer = true }, "prefer", { "expression", "why" }, function(st) return { st.expr, st.why } end },
  { { seed = true }, "seed", { "values", "" }, function(st) return { seed_text(st), "" } end },
}

local function print_section(sp, section)
  local rows = {}
  for _, st in ipairs(sp.statements) do
    if section[1][st.kind] then
      local cells = section[4](st)
      rows[#rows + 1] = { st.name or "", cells[1], cells[2], place(st) }
    end
  end
  if #rows == 0 then return end
  local columns = { { title = section[2], align = "left" }, { title = section[3][1], align = "left" },
    { title = section[3][2], align = "left" }, { title = "place", align = "left" } }
  for i, column in ipairs(columns) do column.key = i end
  host.out("\n" .. tab.format(rows, columns))
end

local function print_space(sp)
  host.out(fmt("space %s: %s\n", sp.name, sp.doc))
  local facts = { { "place", place(sp) }, { "base", sp.base and sp.base.name }, { "template", sp.template },
    { "arch", sp.arch } }
  for _, fact in ipairs(facts) do
    if fact[2] then host.out(fmt("%-10s%s\n", fact[1], fact[2])) end
  end
  for _, section in ipairs(SECTIONS) do print_section(sp, section) end
end

function verbs.space(opt)
  for i, name in ipairs(opt.space or space.names()) do
    if i > 1 then host.out("\n") end
    print_space(space.load(name))
  end
  return 0
end

return verbs
