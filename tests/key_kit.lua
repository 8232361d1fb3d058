-- key_kit.lua -- keys in tests: a test names the values that it is about, the space has the others. A parameter more
-- in a space is then no change of any test.

local fail = require "fail"
local space = require "space"

local kit = {}

-- What a parameter is when `said` (name -> text) does not tell: its default, or its first value; of a tied one that is
-- told in part, the first row that fits.
local function row_of(param, said)
  local function fits(row)
    for i, name in ipairs(param.names) do
      if said[name] and said[name] ~= tostring(row[i]) then return false end
    end
    return true
  end
  if param.default and fits(param.default) then return param.default end
  for _, row in ipairs(param.rows) do
    if fits(row) then return row end
  end
  local words = {}
  for _, name in ipairs(param.names) do words[#words + 1] = name .. "=" .. tostring(said[name]) end
  fail(string.format("no value of '%s' is %s", param.name, table.concat(words, ",")))
end

-- The whole key of one that says only some values, in any order: all of the space's parameters in declared order. A
-- type or layout that it leaves out: tn, f16, f32. `sp` is given when the space does not live in spaces/.
function kit.key(text, sp)
  local name, rest = text:match "^([%w_]+):(.*)$"
  sp = sp or space.load(name)
  local said, out = { layout = "tn", dtype = "f16", acc = "f32" }, {}
  local known = { layout = true, dtype = true, acc = true }
  for field, value in rest:gmatch "([%w_]+)=([%w_.+-]+)" do said[field] = value end
  for _, given in ipairs { "layout", "dtype", "acc" } do out[#out + 1] = given .. "=" .. said[given] end
  for _, param in ipairs(sp.params) do
    local row = row_of(param, said)
    for i, field in ipairs(param.names) do
      known[field], out[#out + 1] = true, field .. "=" .. tostring(row[i])
    end
  end
  for field in pairs(said) do
    if not known[field] then fail(string.format("space '%s' has no '%s': %s", name, field, text)) end
  end
  return name .. ":" .. table.concat(out, ",")
end

return kit
