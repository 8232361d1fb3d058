-- resolve: statements -> space. Those of a child are merged into its base's (inherit.lua); every name
-- gets a meaning: kind, type, and depth, which is the number of parameters that must be bound before it
-- is known. Expressions are parsed, typed and compiled here, so whatever can be refused without a
-- point is refused at load. Names are looked up after the merge: a base may use what only a child
-- declares. Last, the schedule: which rules and lets run at which depth (points.lua runs it).

local device = require "device"
local dsl = require "dsl"
local expr = require "expr"
local fail = require "fail"
local inherit = require "inherit"
local seeds = require "seeds"

local resolve = {}

local fmt, refuse = string.format, dsl.refuse

-- What a problem gives; `given` picks the ones a spec may name. No parameter may take these names.
local PROBLEM = { M = "integer", N = "integer", K = "integer", layout = "string", dtype = "string",
  acc = "string" }
-- What those of them that are strings may be.
resolve.given_values = { layout = { "nn", "tn", "nt", "tt" }, dtype = { "f16", "bf16" }, acc = { "f32", "f16" } }

local PROBLEM_NAMES = { "M", "N", "K", "layout", "dtype", "acc" }

-- Names a template has already, or Lua or the expressions own.
local RESERVED = {}
for name in ([[space key hash include launch math string table ipairs assert error tostring select
  break do else elseif end false for function goto if in local nil repeat return then true until
  while]]):gmatch("%S+") do RESERVED[name] = true end
for _, name in ipairs(expr.reserved) do RESERVED[name] = true end

-- Names ------------------------------------------------------------------------------------------

local function refuse_taken(st, name, by)
  refuse(st, "the name '%s' is already declared at %s:%d", name, by.file, by.line)
end

local function declare(sp, name, st, entry)
  local old = sp.names[name]
  if RESERVED[name] or (PROBLEM[name] and entry.kind ~= "given") then
    refuse(st, "the name '%s' is taken: it belongs to the %s", name,
      PROBLEM[name] and "problem" or "language")
  elseif old then
    refuse_taken(st, name, old.st)
  end
  entry.st, entry.name = st, name
  sp.names[name] = entry
  sp.order[#sp.order + 1], entry.place = name, #sp.order + 1
end

local function declare_given(sp, st)
  for _, name in ipairs(st.names) do
    if not PROBLEM[name] then refuse(st, "unknown '%s'%s", name, fail.near(name, PROBLEM_NAMES)) end
    declare(sp, name, st, { kind = "given", type = PROBLEM[name], depth = 0 })
  end
end

-- A parameter: `domain` are its values, `rows` those that it may take: one alone when it is pinned.
local function declare_param(sp, st)
  local param = { kind = "param", name = st.name, names = st.names, tied = st.tied, domain = st.rows,
    rows = st.pin and { st.pin } or st.rows, pinned = st.pin and true,
    default = st.default and (st.pin or st.default), st = st, index = #sp.params + 1 }
  param.default_at = param.default and dsl.row_index(param.rows, param.default)
  sp.params[param.index] = param
  for i, name in ipairs(st.names) do
    declare(sp, name, st, { kind = "param", type = math.type(st.rows[1][i]) or "string",
      depth = param.index, param = param, column = i })
  end
end

-- The name of tied parameters is one more that seeds and edits know.
local function check_tied(sp)
  for _, param in ipairs(sp.params) do
    local other = param.tied and sp.names[param.name]
    if other and other.param == param then
      refuse(param.st, "one of its tied names is its own")
    elseif other then
      refuse_taken(param.st, param.name, other.st)
    elseif param.tied and RESERVED[param.name] then
      refuse(param.st, "the name '%s' is taken: it belongs to the language", param.name)
    end
  end
end

-- Names of rules stand apart from those of values, so that `drop` knows which is meant.
local function check_rules(sp)
  local own = {}
  for _, param in ipairs(sp.params) do own[param.name] = param.st end
  for _, st in ipairs(sp.statements) do
    local entry = sp.names[st.name]
    local twin = (st.kind == "must" or st.kind == "prefer") and (entry and entry.st or own[st.name])
    if twin and twin.file == sp.file and st.file ~= sp.file then refuse_taken(twin, st.name, st) end
    if twin then refuse_taken(st, st.name, twin) end
  end
end

local function declare_all(sp)
  for _, st in ipairs(sp.statements) do
    if st.kind == "given" then
      declare_given(sp, st)
    elseif st.kind == "param" then
      declare_param(sp, st)
    elseif st.kind == "let" then
      declare(sp, st.name, st, { kind = "let" })
      sp.lets[#sp.lets + 1] = sp.names[st.name]
    end
  end
  check_tied(sp)
  check_rules(sp)
end

-- Fails for a name that nothing has; a base without a template may leave it to its children.
local function unknown(sp, st, name)
  local drop = sp.dropped[name]
  if drop then
    fail(dsl.complaint(st, "'%s' is gone: %s:%d drops it", name, drop.file, drop.line), { unknown = true })
  end
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
  fail(dsl.complaint(st, "unknown name '%s'%s", name, fail.near(name, known)), { unknown = true })
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
  local seen, roots = {}, {}
  for _, entry in ipairs(entries) do
    for _, name in ipairs(entry.roots or { entry.name }) do
      if sp.names[name] and not seen[name] then -- device.* are no names of the space
        seen[name], roots[#roots + 1] = true, name
      end
    end
  end
  table.sort(roots, function(a, b) return sp.names[a].place < sp.names[b].place end)
  return roots
end

local function point_text(names, V)
  local out = {}
  for _, name in ipairs(names) do
    if V[name] ~= nil then out[#out + 1] = fmt("%s=%s", name, V[name]) end
  end
  return table.concat(out, ", ")
end

-- Refuses a comparison of a given with what it can never be: it would be false for good.
local function check_givens(sp, st, tree)
  for _, pair in ipairs(tree.compared) do
    local name, found = pair[1], false
    local known = sp.names[name] and sp.names[name].kind == "given" and resolve.given_values[name]
    for _, one in ipairs(known or {}) do found = found or one == pair[2] end
    if known and not found then
      refuse(st, "'%s' is never '%s': it is one of %s", name, pair[2], table.concat(known, ", "))
    end
  end
end

-- Text -> {tree, type, depth, lets, roots, run(V)}; everything about it is known from here on.
local function expression(sp, st, text, want)
  local tree, err = expr.parse(text)
  if not tree then refuse(st, "%s", err) end
  local e = { text = text, depth = 0, lets = {}, names = tree.names }
  local entries = {}
  for i, name in ipairs(tree.names) do
    entries[i] = lookup(sp, st, name)
    e.depth = math.max(e.depth, entries[i].depth)
    if entries[i].kind == "let" then e.lets[#e.lets + 1] = entries[i] end
  end
  local types = {}
  for _, entry in ipairs(entries) do types[entry.name] = entry.type end
  e.type, e.tree = expr.check(tree, function(name) return types[name] end)
  if not e.type then refuse(st, "%s", e.tree) end
  if want and e.type ~= want then
    refuse(st, "'%s' is a%s %s, not a %s", text, e.type == "integer" and "n" or "", e.type, want)
  end
  check_givens(sp, st, tree)
  e.roots = roots_of(sp, entries)
  e.run = expr.compile(e.tree, function(V, message)
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
  if entry.missing then error(entry.missing, 0) end
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

-- `name == value` for one name of a forbid, checked.
local function equality(sp, st, name, value)
  local entry = sp.names[name]
  if name:find("^device%.") then refuse(st, "'%s' is the device's: a forbid names parameters and givens", name) end
  if not entry then unknown(sp, st, name) end
  if entry.kind == "let" then refuse(st, "'%s' is a let: a forbid names parameters and givens", name) end
  if (math.type(value) or "string") ~= entry.type then
    refuse(st, "'%s' is %s %s, not %s", name, entry.type == "integer" and "an" or "a", entry.type,
      dsl.row_text { value })
  end
  if type(value) == "string" then return fmt("%s == '%s'", name, value) end
  -- the least integer has no literal
  return fmt("%s == %s", name, value == math.mininteger and fmt("-%d - 1", math.maxinteger) or value)
end

-- What a forbid says, as the expression of a rule.
local function forbid_text(sp, st)
  local tied, parts = {}, {}
  for _, param in ipairs(sp.params) do tied[param.name] = param.tied and param end
  for _, key in ipairs(st.keys) do
    local value, param = st.values[key], tied[key]
    local row = type(value) == "table" and value or { value }
    if #row ~= (param and #param.names or 1) or (type(value) == "table") ~= (param ~= nil) then
      refuse(st, "'%s' wants %s", key, param and fmt("{%s}", table.concat(param.names, ", ")) or "one value")
    end
    for i, name in ipairs(param and param.names or { key }) do
      parts[#parts + 1] = equality(sp, st, name, row[i])
    end
  end
  return fmt("not (%s)", table.concat(parts, " and "))
end

local LISTS = { must = "musts", forbid = "musts", prefer = "prefers" }

local function resolve_rule(sp, st)
  local list = sp[LISTS[st.kind]]
  if st.kind == "forbid" then st.expr = forbid_text(sp, st) end -- the record is this space's own
  list[#list + 1] = { kind = list == sp.musts and "must" or "prefer", name = st.name, why = st.why, st = st,
    expr = expression(sp, st, st.expr, "boolean"), parts = why_parts(sp, st) }
end

local function resolve_when(sp, param)
  local st = param.st
  param.when = expression(sp, st, st.when, "boolean")
  for _, name in ipairs(param.when.names) do
    local entry = lookup(sp, st, name)
    if entry.depth >= param.index then
      refuse(st, "'when' uses '%s', which is not known before this parameter", name)
    end
  end
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

local function schedule(sp)
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
  for _, let in ipairs(sp.lets) do need(steps, let, done) end
  return steps
end

-- Public -------------------------------------------------------------------------------------------

-- f(sp, ...), which may find a name that nobody declares. In a base, a space without a template, that
-- is no error: its children may know the name. It is sp.missing then, and all the rest is checked.
local function attempt(sp, f, ...)
  if sp.template then return f(sp, ...) end
  local ok, err = pcall(f, sp, ...)
  if ok then return end
  if type(err) ~= "table" or not err.unknown then error(err, 0) end
  sp.missing = sp.missing or fail.text(err)
  for i = #sp.open, 1, -1 do -- lets that were under way lack the same name
    sp.open[i].missing, sp.open[i].busy, sp.open[i] = err, nil, nil
  end
end

local function settle(sp, own)
  declare_all(sp)
  seeds.resolve(sp, own, attempt)
  for _, let in ipairs(sp.lets) do attempt(sp, resolve_let, let) end
  for _, st in ipairs(sp.statements) do
    if LISTS[st.kind] then attempt(sp, resolve_rule, st) end
  end
  for _, param in ipairs(sp.params) do
    if param.st.when then attempt(sp, resolve_when, param) end
  end
  for _, st in ipairs(sp.statements) do
    if st.kind == "search" then sp.search = st.values end
  end
  if not sp.missing then sp.steps = schedule(sp) end
end

-- The space of a file's statements; base is the resolved space it inherits from, or nil. Without a
-- template a space is a base: names that only its children know are then its `missing` (a message).
function resolve.space(own, base)
  inherit.refuse_twins(own)
  local head = own[1]
  local sp = { name = head.name, file = head.file, line = head.line, doc = head.doc or "",
    format = head.format, base = base, base_name = head.base, template = head.template or (base and base.template),
    arch = head.arch or (base and base.arch),
    names = {}, order = {}, device_names = {}, params = {}, lets = {}, musts = {}, prefers = {},
    seeds = {}, search = {}, open = {} }
  sp.statements, sp.dropped = inherit.merge(base and base.statements or {}, own)
  settle(sp, own)
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
