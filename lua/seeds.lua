-- seeds: what each seed of a space asks of its parameters. A file's own seeds must be right; one that
-- is inherited and asks for what this file took away is left out.

local dsl = require "dsl"
local fail = require "fail"

local seeds = {}

local refuse = dsl.refuse

-- The row a seed asks of a parameter, nil when it leaves it out.
local function seed_row(st, param, used)
  local whole = st.values[param.name]
  if whole ~= nil then
    used[param.name] = true
    if param.tied == (type(whole) == "table" or nil) then
      return param.tied and whole or { whole }
    end
    refuse(st, "'%s' wants %s", param.name, param.tied and "a list of values" or "one value")
  end
  if not param.tied then return nil end
  local row, count = {}, 0
  for i, name in ipairs(param.names) do
    row[i] = st.values[name]
    if row[i] ~= nil then used[name], count = true, count + 1 end
  end
  if count > 0 and count < #param.names then
    refuse(st, "'%s' are tied: give all of them or none", table.concat(param.names, "', '"))
  end
  return count > 0 and row or nil
end

-- {st, rows = {index of parameter = index of row}}; a pinned parameter takes its pin.
local function resolve(sp, st)
  local seed, used, known = { st = st, rows = {} }, {}, {}
  for _, param in ipairs(sp.params) do
    local row = seed_row(st, param, used)
    known[#known + 1] = param.name
    if row then
      local at = dsl.row_index(param.domain, row)
      if not at then refuse(st, "'%s' has no value %s", param.name, dsl.row_text(row)) end
      seed.rows[param.index] = param.pinned and 1 or at
    end
  end
  for _, key in ipairs(st.keys) do
    if not used[key] then -- a base without a template may leave it to its children
      fail(dsl.complaint(st, "unknown parameter '%s'%s", key, fail.near(key, known)), { unknown = true })
    end
  end
  return seed
end

-- Fills sp.seeds; `own` are the statements of the space's own file. An inherited seed that asks for what
-- is no longer there leaves sp.statements too: nobody below inherits it. attempt(sp, f) forgives a base
-- without a template what only its children know.
function seeds.resolve(sp, own, attempt)
  local is_own, kept = {}, {}
  for _, st in ipairs(own) do is_own[st] = true end
  for _, st in ipairs(sp.statements) do
    local ok, err = true, nil
    if st.kind == "seed" then
      ok, err = pcall(attempt, sp, function() sp.seeds[#sp.seeds + 1] = resolve(sp, st) end)
    end
    if not ok and (is_own[st] or not fail.text(err)) then error(err, 0) end
    if ok then kept[#kept + 1] = st end
  end
  sp.statements = kept
end

return seeds
