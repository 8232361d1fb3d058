-- resolve: statements -> space. Merges a child's statements into its base's, then gives every name
-- a meaning: kind, type, and depth, which is the number of parameters that must be bound before it
-- is known. Expressions are parsed, typed and compiled here, so whatever can be refused without a
-- point is refused at load. Names are looked up after the merge: a base may use what only a child
-- declares. Last, the schedule: which rules and lets run at which depth (points.lua runs it).

local device = require "device"
local dsl = require "dsl"
local expr = require "expr"
local fail = require "fail"

local resolve = {}

local fmt, refuse = string.format, dsl.refuse

-- What a problem gives; `given` picks the ones a spec may name. No parameter may take these names.
local PROBLEM = { M = "integer", N = "integer", K = "integer", layout = "string", dtype = "string",
  acc = "string" }
local PROBLEM_NAMES = { "M", "N", "K", "layout", "dtype", "acc" }

-- Names a template has already, or Lua or the expressions own.
local RESERVED = {}
for name in ([[space key hash include launch math string table ipairs assert error tostring select
  break do else elseif end false for function goto if in local nil repeat return then true until
  while]]):gmatch("%S+") do RESERVED[name] = true end
for _, name in ipairs(expr.reserved) do RESERVED[name] = true end

-- Inheritance ------------------------------------------------------------------------------------

local SLOT = { given = "given", param = "name ", let = "name ", must = "rule ", prefer = "rule " }

local function slot(st)
  return SLOT[st.kind] and SLOT[st.kind] .. (st.name or "")
end

local function refuse_twins(list)
  local seen = {}
  for _, st in ipairs(list) do
    local at = slot(st)
    if at and seen[at] then
      refuse(st, "already declared at line %d", seen[at].line)
    end
    if at then seen[at] = st end
  end
end

-- The base's statements with the child's in place of those of the same name, then the child's own.
local function merge(base, own)
  local list, at, added = {}, {}, {}
  for _, st in ipairs(base) do
    list[#list + 1] = st
    if slot(st) then at[slot(st)] = #list end
  end
  for _, st in ipairs(own) do
    local place = slot(st) and at[slot(st)]
    if place then list[place] = st elseif st.kind ~= "space" then added[#added + 1] = st end
  end
  return table.move(added, 1, #added, #list + 1, list)
end

-- Names ------------------------------------------------------------------------------------------

local function declare(sp, name, st, entry)
  local old = sp.names[name]
  if RESERVED[name] or (PROBLEM[name] and entry.kind ~= "given") then
    refuse(st, "the name '%s' is taken: it belongs to the %s", name,
      PROBLEM[name] and "problem" or "language")
  elseif old then
    refuse(st, "the name '%s' is already declared at %s:%d", name, old.st.file, old.st.line)
  end
  entry.st, entry.name = st, name
  sp.names[name] = entry
  sp.order[#sp.order + 1] = name
end

local function declare_all(sp)
  for _, st in ipairs(sp.statements) do
    if st.kind == "given" then
      for _, name in ipairs(st.names) do
        if not PROBLEM[name] then
          refuse(st, "unknown '%s'%s", name, fail.near(name, PROBLEM_NAMES))
        end
        declare(sp, name, st, { kind = "given", type = PROBLEM[name], depth = 0 })
      end
    elseif st.kind == "param" then
      local param = { kind = "param", name = st.name, names = st.names, rows = st.rows, tied = st.tied,
        default = st.default, st = st, index = #sp.params + 1 }
      sp.params[param.index] = param
      for i, name in ipairs(st.names) do
        declare(sp, name, st, { kind = "param", type = math.type(st.rows[1][i]) or "string",
          depth = param.index, param = param, column = i })
      end
    elseif st.kind == "let" then
      declare(sp, st.name, st, { kind = "let" })
      sp.lets[#sp.lets + 1] = sp.names[st.name]
    end
  end
end

local function unknown(sp, st, name)
  for _, param in ipairs(sp.params) do
    if param.tied and param.name == name then
      refuse(st, "'%s' is the name of tied parameters: use '%s'", name,
        table.concat(param.names, "' or '"))
    end
  end
  local known = table.move(sp.order, 1, #sp.order, 1, {})
  local field = name:match("^device%.(.*)$")
  if field then
    known = {}
    for i, f in ipairs(device.fields()) do known[i] = "device." .. f end
  end
  fail(fmt("%s:%d: %s: unknown name '%s'%s", st.file, st.line, dsl.label(st), name,
    fail.near(name, known)), { unknown = true })
end

-- Expressions --------------------------------------------------------------------------------------

local resolve_let

-- The entry of a name as statement `st` uses it.
local function lookup(sp, st, name)
  local entry = sp.names[name]
  if entry then
    if entry.kind == "let" then resolve_let(sp, entry, st) end
    return entry
  end
  local field = name:match("^device%.([%w_]+)$")
  local kind = field and device.type(field)
  if not kind then unknown(sp, st, name) end
  sp.device_names[name] = field
  return { kind = "device", type = kind, depth = 0, name = name }
end

-- Givens and parameters that decide the value, in declared order: what an error message names.
local function roots_of(sp, entries)
  local wanted, roots = {}, {}
  for _, entry in ipairs(entries) do
    for _, name in ipairs(entry.roots or { entry.name }) do wanted[name] = true end
  end
  for _, name in ipairs(sp.order) do
    if wanted[name] then roots[#roots + 1] = name end
  end
  return roots
end

local function point_text(names, V)
  local out = {}
  for _, name in ipairs(names) do
    if V[name] ~= nil then out[#out + 1] = fmt("%s=%s", name, V[name]) end
  end
  return table.concat(out, ", ")
end

-- Text -> {tree, type, depth, lets, roots, run(V)}; everything about it is known from here on.
local function expression(sp, st, text, want)
  local tree, err = expr.parse(text)
  if not tree then refuse(st, "%s", err) end
  local e = { tree = tree, text = text, depth = 0, lets = {}, names = tree.names }
  local entries = {}
  for i, name in ipairs(tree.names) do
    entries[i] = lookup(sp, st, name)
    e.depth = math.max(e.depth, entries[i].depth)
    if entries[i].kind == "let" then e.lets[#e.lets + 1] = entries[i] end
  end
  local types = {}
  for _, entry in ipairs(entries) do types[entry.name] = entry.type end
  e.type, err = expr.check(tree, function(name) return types[name] end)
  if not e.type then refuse(st, "%s", err) end
  if want and e.type ~= want then
    refuse(st, "'%s' is a%s %s, not a %s", text, e.type == "integer" and "n" or "", e.type, want)
  end
  e.roots = roots_of(sp, entries)
  e.run = expr.compile(tree, function(V, message)
    local at = point_text(e.roots, V)
    refuse(st, "%s%s", message, at ~= "" and " at " .. at or "")
  end)
  return e
end

local function cycle(sp, entry)
  local names, from = {}, 1
  for i, open in ipairs(sp.open) do
    names[i] = open.name
    if open == entry then from = i end
  end
  names[#names + 1] = entry.name
  refuse(entry.st, "depends on itself: %s", table.concat(names, " -> ", from))
end

function resolve_let(sp, entry)
  if entry.expr then return end
  if entry.busy then cycle(sp, entry) end
  entry.busy = true
  sp.open[#sp.open + 1] = entry
  if #sp.open > 100 then refuse(entry.st, "more than 100 lets in one chain") end
  local e = expression(sp, entry.st, entry.st.expr)
  sp.open[#sp.open] = nil
  entry.expr, entry.type, entry.depth, entry.roots = e, e.type, e.depth, e.roots
end

-- "needs {smem} B" -> {"needs ", expression, " B"}.
local function why_parts(sp, st)
  local parts, at = {}, 1
  while true do
    local open = st.why:find("[{}]", at)
    if not open then break end
    local inner = st.why:match("^{([^{}]*)}", open)
    if not inner then refuse(st, "'why' has a '%s' without its partner", st.why:sub(open, open)) end
    parts[#parts + 1] = st.why:sub(at, open - 1)
    parts[#parts + 1] = expression(sp, st, inner)
    at = open + #inner + 2
  end
  parts[#parts + 1] = st.why:sub(at)
  return parts
end

local function resolve_rules(sp)
  for _, st in ipairs(sp.statements) do
    if st.kind == "must" or st.kind == "prefer" then
      local rule = { kind = st.kind, name = st.name, why = st.why, st = st,
        expr = expression(sp, st, st.expr, "boolean"), parts = why_parts(sp, st) }
      local list = st.kind == "must" and sp.musts or sp.prefers
      list[#list + 1] = rule
    end
  end
end

local function resolve_whens(sp)
  for _, param in ipairs(sp.params) do
    local st = param.st
    if st.when then
      param.when = expression(sp, st, st.when, "boolean")
      for _, name in ipairs(param.when.names) do
        local entry = lookup(sp, st, name)
        if entry.depth >= param.index then
          refuse(st, "'when' uses '%s', which is not known before this parameter", name)
        end
      end
    end
  end
end

-- Seeds --------------------------------------------------------------------------------------------

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

local function resolve_seed(sp, st)
  local seed, used, known = { st = st, rows = {} }, {}, {}
  for _, param in ipairs(sp.params) do
    local row = seed_row(st, param, used)
    known[#known + 1] = param.name
    if row then
      seed.rows[param.index] = dsl.row_index(param.rows, row)
      if not seed.rows[param.index] then
        refuse(st, "'%s' has no value %s", param.name, dsl.row_text(row))
      end
    end
  end
  for _, key in ipairs(st.keys) do
    if not used[key] then refuse(st, "unknown parameter '%s'%s", key, fail.near(key, known)) end
  end
  return seed
end

-- Schedule -----------------------------------------------------------------------------------------
-- steps[d], d = 0..#params: what runs once parameter d is bound: {let=name, run=} or {rule=, run=}.
-- Rules come in source order, each with the lets it needs just before it, so that an earlier rule
-- guards the lets of a later one; then the lets of `when`, then the rest.

local function need(steps, entry, done)
  if done[entry] then return end
  done[entry] = true
  for _, let in ipairs(entry.expr.lets) do need(steps, let, done) end
  local at = steps[entry.depth]
  at[#at + 1] = { let = entry.name, entry = entry, expr = entry.expr, run = entry.expr.run }
end

local function schedule(sp, all_lets)
  local steps, done = {}, {}
  for d = 0, #sp.params do steps[d] = {} end
  for d = 0, #sp.params do
    for _, rule in ipairs(sp.musts) do
      if rule.expr.depth == d then
        for _, let in ipairs(rule.expr.lets) do need(steps, let, done) end
        steps[d][#steps[d] + 1] = { rule = rule, expr = rule.expr, run = rule.expr.run }
      end
    end
  end
  for _, param in ipairs(sp.params) do
    for _, let in ipairs(param.when and param.when.lets or {}) do need(steps, let, done) end
  end
  if all_lets then
    for _, let in ipairs(sp.lets) do need(steps, let, done) end
  end
  return steps
end

-- Public -------------------------------------------------------------------------------------------

local function settle(sp)
  declare_all(sp)
  for _, let in ipairs(sp.lets) do resolve_let(sp, let) end
  resolve_rules(sp)
  resolve_whens(sp)
  for _, st in ipairs(sp.statements) do
    if st.kind == "seed" then sp.seeds[#sp.seeds + 1] = resolve_seed(sp, st) end
  end
  sp.steps, sp.count_steps = schedule(sp, true), schedule(sp, false)
end

-- The space of a file's statements; base is the resolved space it inherits from, or nil. Without a
-- template a space is a base: names that only its children know are then its `missing` (a message).
function resolve.space(own, base)
  refuse_twins(own)
  local head = own[1]
  local sp = { name = head.name, file = head.file, line = head.line, doc = head.doc or "",
    format = head.format, base = base, template = head.template or (base and base.template),
    arch = head.arch or (base and base.arch), statements = merge(base and base.statements or {}, own),
    names = {}, order = {}, device_names = {}, params = {}, lets = {}, musts = {}, prefers = {},
    seeds = {}, open = {} }
  local ok, err = pcall(settle, sp)
  if not ok then
    if not (type(err) == "table" and err.unknown and not sp.template) then error(err, 0) end
    sp.missing = fail.text(err)
  end
  return sp
end

-- "needs 245760 B of shared memory, ...": the reason with what V knows filled in.
function resolve.why(rule, V)
  local out = {}
  for i, part in ipairs(rule.parts) do
    out[i] = part
    if type(part) == "table" then
      local known = true
      for _, name in ipairs(part.names) do known = known and V[name] ~= nil end
      local ok, value = pcall(function() return known and part.run(V) end)
      out[i] = known and ok and tostring(value) or "{" .. part.text .. "}"
    end
  end
  return table.concat(out)
end


return resolve
