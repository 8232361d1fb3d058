-- plan: what is computed at which depth when parameters are bound one after another, and which names
-- must be remembered below it. Two points that agree in those names have the same future: diagram.lua
-- and tally.lua treat them as one, which is why neither walks the product.
--
-- A part of an expression that is known before the whole is computed where it is known and takes the
-- place of its names: of `stages * (tile_m + tile_n)` only the sum is remembered. Such a hidden let
-- may fail where the walk would not have come by; the caller then asks for a plan without them.

local expr = require "expr"
local fail = require "fail"

local plan = {}

local fmt = string.format

plan.RAISED = {} -- value of a let that failed, in a guarded plan

local RAISED = plan.RAISED

-- Limits of one pass: states remembered, edges kept, values tried. A state takes some 150 bytes.
plan.limits = { nodes = 600000, edges = 4000000, tries = 50000000 }

-- What rules can remove points, in declared order: each `when`, then the musts.
function plan.removers(sp)
  local list = {}
  for _, param in ipairs(sp.params) do
    if param.when then
      list[#list + 1] = { name = param.name .. " when", kind = "when", param = param, expr = param.when }
    end
  end
  for _, rule in ipairs(sp.musts) do
    list[#list + 1] = { name = rule.name, kind = rule.st.kind, rule = rule, expr = rule.expr }
  end
  return list
end

-- Parts of expressions ------------------------------------------------------------------------------

local CONSTANT = { int = true, str = true }
local DIVIDES = { ["/"] = true, ["//"] = true, ["%"] = true, ceildiv = true }

local function text_of(node)
  if node.op == "name" then return node.value end
  if CONSTANT[node.op] then return fmt("%q", node.value) end
  local out = { node.op }
  for i, arg in ipairs(node.args) do out[i + 1] = text_of(arg) end
  return "(" .. table.concat(out, " ") .. ")"
end

-- Can it fail but for overflow?
local function risky(node)
  if DIVIDES[node.op] and node.args[2].op ~= "int" then return true end
  for _, arg in ipairs(node.args) do
    if risky(arg) then return true end
  end
  return false
end

local stores = setmetatable({}, { __mode = "k" }) -- space -> what its plans share

local function store_of(sp)
  stores[sp] = stores[sp] or { staged = { all = {}, integers = {} }, compiled = {} }
  return stores[sp]
end

local function early()
  error(RAISED, 0)
end

-- The function of a tree; one for all plans of the space. It fails without saying why.
local function compiled(sp, node)
  local store, text = store_of(sp), text_of(node)
  store.compiled[text] = store.compiled[text] or expr.compile({ root = node, text = text, tokens = {} }, early)
  return store.compiled[text]
end

local function reads_of(node, reads)
  if node.op == "name" then
    reads[#reads + 1] = node.value
  end
  for _, arg in ipairs(node.args) do reads_of(arg, reads) end
  return reads
end

-- node -> the same with every part that is known before the whole replaced by a hidden name; depth of
-- the whole. `parts` collects what is hidden: {name, depth, node}.
local function stage(sp, node, kinds, lazy, parts)
  if node.op == "name" then
    local entry = sp.names[node.value]
    return node, entry and entry.depth or 0
  elseif CONSTANT[node.op] then
    return node, 0
  end
  local copy, depth = setmetatable({ args = {} }, { __index = node }), 0
  local depths = {}
  for i, arg in ipairs(node.args) do
    local later = lazy or (i > 1 and (node.op == "and" or node.op == "or"))
    copy.args[i], depths[i] = stage(sp, arg, kinds, later, parts)
    depth = math.max(depth, depths[i])
  end
  for i, arg in ipairs(copy.args) do
    local later = lazy or (i > 1 and (node.op == "and" or node.op == "or"))
    if depths[i] < depth and arg.op ~= "name" and not CONSTANT[arg.op]
      and (kinds == "all" or arg.type == "integer") and not (later and risky(arg)) then
      local part = { name = "#" .. text_of(arg), depth = depths[i], node = arg }
      parts[#parts + 1] = part
      copy.args[i] = { op = "name", value = part.name, args = {}, type = arg.type }
    end
  end
  return copy, depth
end

local function staged(sp, e, kinds)
  local known = store_of(sp).staged[kinds]
  if not known[e] then
    local parts = {}
    local node = stage(sp, e.tree.root, kinds, false, parts)
    known[e] = { node = node, parts = parts }
  end
  return known[e]
end

-- Guarded functions -----------------------------------------------------------------------------------
-- In a guarded plan nothing fails: a let gets the value RAISED, a rule that fails or reads such a let
-- counts as `verdict`, a `when` too; p.raised says that there was such a thing.

local function guarded(p, run, names, verdict)
  return function(V)
    local ok, value = true, nil
    for i = 1, #names do
      if V[names[i]] == RAISED then ok = false end
    end
    if ok then ok, value = pcall(run, V) end
    if ok then return value end
    p.raised = true
    return verdict
  end
end

-- Plans -----------------------------------------------------------------------------------------------

-- How expression `e` runs in this plan: the function and the names it reads.
local function runner(p, e, verdict)
  if p.hoist then
    local node = staged(p.sp, e, p.hoist).node
    return compiled(p.sp, node), reads_of(node, {}), node
  elseif p.guard then
    return guarded(p, compiled(p.sp, e.tree.root), e.names, verdict), e.names, e.tree.root
  end
  return e.run, e.names, e.tree.root
end

-- A computed name; `roots` lists the parameters that decide it.
local function declare(p, name, depth, roots)
  local set = {}
  for _, root in ipairs(roots) do
    if p.names[root] then set[root] = true end
  end
  p.names[name] = { depth = depth, roots = set, list = roots, last = 0 }
  p.order[#p.order + 1] = name
end

local function need(p, entry)
  if p.names[entry.name] then return end
  for _, let in ipairs(entry.expr.lets) do need(p, let) end
  local run, reads = runner(p, entry.expr, RAISED)
  declare(p, entry.name, entry.depth, entry.expr.roots)
  table.insert(p.steps[entry.depth], { let = entry.name, run = run, reads = reads, expr = entry.expr })
end

-- The hidden lets that the expression's parts want, behind everything else of their depth.
local function hide(p, e, hidden)
  for _, part in ipairs(p.hoist and staged(p.sp, e, p.hoist).parts or {}) do
    if not p.names[part.name] then
      local reads = reads_of(part.node, {})
      p.names[part.name] = {} -- until it is declared
      hidden[#hidden + 1] = { let = part.name, depth = part.depth, node = part.node, reads = reads }
    end
  end
end

-- Rules in declared order at the depth where their names are known, each behind the lets it needs, as
-- resolve.lua orders them; then the lets of `when`; then the hidden ones.
local function schedule(p, removers)
  for d = 0, #p.sp.params do
    for _, r in ipairs(removers) do
      if r.rule and r.expr.depth == d then
        for _, let in ipairs(r.expr.lets) do need(p, let) end
        local run, reads, node = runner(p, r.expr, p.guard)
        table.insert(p.steps[d], { remover = r, run = run, reads = reads, node = node })
      end
    end
  end
  for _, r in ipairs(removers) do
    if r.param then
      for _, let in ipairs(r.expr.lets) do need(p, let) end
      local run, reads = runner(p, r.expr, p.guard)
      p.whens[r.param.index] = { remover = r, run = run, reads = reads, pin = r.param.default_at }
    end
  end
  if not p.hoist then return end
  local hidden = {}
  for d = 0, #p.sp.params do
    for _, step in ipairs(p.steps[d]) do hide(p, step.remover and step.remover.expr or step.expr, hidden) end
    if p.whens[d] then hide(p, p.whens[d].remover.expr, hidden) end
  end
  table.sort(hidden, function(a, b)
    if a.depth ~= b.depth then return a.depth < b.depth end
    return a.let < b.let
  end)
  for _, step in ipairs(hidden) do
    local roots = {}
    for _, read in ipairs(step.reads) do
      local list = p.names[read] and p.names[read].list or {}
      table.move(list, 1, #list, #roots + 1, roots)
    end
    declare(p, step.let, step.depth, roots)
    step.run = compiled(p.sp, step.node)
    table.insert(p.steps[step.depth], step)
  end
end

-- Parameters that a rule connects, directly or through others, form a component; above[d] is the depth
-- before d in its component.
local function components(p, removers)
  local up = {}
  for d = 1, #p.sp.params do up[d] = d end
  local function root(d)
    while up[d] ~= d do d = up[d] end
    return d
  end
  for _, r in ipairs(removers) do
    local first = r.param and root(r.param.index)
    for _, name in ipairs(r.expr.roots) do
      local depth = p.sp.names[name].depth
      if depth > 0 then
        first = first or root(depth)
        local other = root(depth)
        first, up[math.max(first, other)] = math.min(first, other), math.min(first, other)
      end
    end
  end
  for d = 1, #p.sp.params do
    local first = root(d)
    if first == d then
      p.comps[#p.comps + 1] = { depths = {} }
      p.comp[d] = p.comps[#p.comps]
    end
    local comp = p.comp[first]
    p.comp[d], p.above[d] = comp, comp.depths[#comp.depths]
    table.insert(comp.depths, d)
  end
end

-- live[d]: names of d's component, known at depth d, that something below reads; key[d]: those of them
-- that decide the others.
local function settle_live(p)
  for d = 1, #p.sp.params do
    local function read(step)
      for _, name in ipairs(step.reads) do
        if p.names[name] then p.names[name].last = math.max(p.names[name].last, d) end
      end
    end
    for _, step in ipairs(p.steps[d]) do read(step) end
    if p.whens[d] then read(p.whens[d]) end
  end
  for d = 1, #p.sp.params do
    local live, key, is_live = {}, {}, {}
    for _, name in ipairs(p.order) do
      local info = p.names[name]
      if info.depth >= 1 and info.depth <= d and info.last > d and p.comp[info.depth] == p.comp[d] then
        live[#live + 1] = name
        is_live[name] = true
      end
    end
    for _, name in ipairs(live) do
      local decided = not p.names[name].param
      for root in pairs(p.names[name].roots) do decided = decided and is_live[root] end
      if not decided then key[#key + 1] = name end
    end
    -- what is known early comes first: many states then share the tables of the way to them
    local at = {}
    for i, name in ipairs(key) do at[name] = i end
    table.sort(key, function(a, b)
      local x, y = p.names[a].depth, p.names[b].depth
      if x ~= y then return x < y end
      return at[a] < at[b]
    end)
    p.live[d], p.key[d] = live, key
  end
end

-- The plan for some of the space's removers. opts.hoist: "all", "integers" (parts of that type alone)
-- or nil; opts.guard: what a rule that cannot be evaluated counts as (true or RAISED), nil where it shall fail;
-- opts.whole: the plan whose components to keep.
function plan.new(sp, removers, opts)
  local p = { sp = sp, removers = removers, hoist = opts.hoist, guard = opts.guard, steps = {}, whens = {}, names = {},
    order = {}, comps = {}, comp = {}, above = {}, live = {}, key = {}, raised = false }
  for d = 0, #sp.params do p.steps[d] = {} end
  for d, param in ipairs(sp.params) do
    for _, name in ipairs(param.names) do
      p.names[name] = { depth = d, roots = { [name] = true }, list = { name }, last = 0, param = true }
      p.order[#p.order + 1] = name
    end
  end
  schedule(p, removers)
  if opts.whole then
    p.comps, p.comp, p.above = opts.whole.comps, opts.whole.comp, opts.whole.above
  else
    components(p, removers)
  end
  settle_live(p)
  return p
end

-- Code ------------------------------------------------------------------------------------------------
-- The inner loops of the passes are Lua text made for one depth: names are constants in it.

-- A layer: the states of one depth, numbered; col[i][id] is the value of live name i.
function plan.layer(live)
  local layer = { n = 0, root = {}, col = {} }
  for i = 1, #live do layer.col[i] = {} end
  return layer
end

-- A text that grows: add(format, ...).
function plan.writer()
  local out = {}
  return function(...) out[#out + 1] = fmt(...) end, out
end

function plan.load(out, name, ...)
  return assert(load(table.concat(out, "\n"), "=" .. name, "t"))(...)
end

-- V's names that are live above depth d, from state `node` of a layer with columns C.
function plan.restore(add, p, d)
  for i, name in ipairs(p.live[p.above[d]] or {}) do add("V[%q] = C[%d][node]", name, i) end
end

-- Sets parameter d to its row r, from X, the list of its columns.
function plan.bind(add, param)
  for i, name in ipairs(param.names) do add("V[%q] = X[%d][r]", name, i) end
end

-- id = the state of layer `P` (a Lua expression) that V is in; `fresh` runs where it is a new one.
-- Uses the locals t, u, k, id.
function plan.insert(add, P, live, key, fresh)
  if #key == 0 then
    add("id = 1 if %s.n == 0 then", P)
  else
    add("t = %s.root", P)
    for i = 1, #key - 1 do
      add("k = V[%q] u = t[k] if u == nil then u = {} t[k] = u end t = u", key[i])
    end
    add("k = V[%q] id = t[k] if id == nil then id = %s.n + 1 t[k] = id", key[#key], P)
  end
  add("%s.n = id if id > LIMIT then full() end u = %s.col", P, P)
  for i, name in ipairs(live) do add("u[%d][id] = V[%q]", i, name) end
  add("%s end", fresh)
end

function plan.columns(param)
  local columns = {}
  for i = 1, #param.names do
    columns[i] = {}
    for r, row in ipairs(param.rows) do columns[i][r] = row[i] end
  end
  return columns
end

-- Values bound at depth 0 in V; the first rule that refuses all points, nil when none does.
function plan.enter(p, V)
  for _, step in ipairs(p.steps[0]) do
    if step.let then
      V[step.let] = step.run(V)
    elseif not step.run(V) then
      return step.remover
    end
  end
end

-- Passes call it now and then: the user may have had enough.
function plan.look()
  if host.interrupted() then fail("interrupted while counting points") end
end

return plan
