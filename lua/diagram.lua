-- diagram: the valid points of a bound space as a decision diagram. Each component of parameters is a
-- graph of its own: a node for each combination of the values that steps below still read (plan.lua),
-- an edge for each value that leads to a valid point, and how many points lie below. From it come
-- exact counts, uniform samples, the i-th point and the place of a point, and neighbours.
--
-- Layers are built for all components in declared order, as the walk of points.lua goes: a rule fails
-- here where it fails there. Counts are integers while they fit into 64 bits, floats beyond.

local fail = require "fail"
local plan = require "plan"

local diagram = {}

local fmt = string.format

-- An edge is one integer: child << 17 | is the parameter pinned here << 16 | row - 1.
local PINNED = 0x10000
local ROW = 0xffff

local methods = {}
local meta = { __index = methods }

-- Arithmetic of counts ------------------------------------------------------------------------------

local function add(a, b)
  local sum = a + b
  return sum < 0 and a + 0.0 + b or sum
end

local function mul(a, b)
  if a == 0 or b == 0 then return 0 end
  if math.type(a) == "integer" and math.type(b) == "integer" and b <= math.maxinteger // a then
    return a * b
  end
  return (a + 0.0) * b
end

diagram.add, diagram.mul = add, mul

-- 12, or "about 1.23e+40".
function diagram.text(n)
  return math.type(n) == "integer" and tostring(n) or fmt("about %.2e", n)
end

-- Building --------------------------------------------------------------------------------------------

-- grow(I, P, first, edges): the layer P below the states of layer I, and the edges to it; returns how
-- many these are.
local function grower(p, d, V, full)
  local write, out = plan.writer()
  local param, when, runs = p.sp.params[d], p.whens[d], {}
  write("local V, S, X, when, full, TRIES, LIMIT, EDGES = ...")
  write("return function(I, P, first, edges)")
  write("local C, ne, tries, id, t, u, k = I.col, 0, 0")
  write("for node = 1, I.n do I.at = node first[node] = ne + 1 if node %% 1024 == 0 then full(true) end")
  plan.restore(write, p, d)
  write("local low, high, pin = 1, %d, 0", #param.rows)
  if when then write("if not when(V) then low, high, pin = %d, %d, %d end", when.pin, when.pin, PINNED) end
  write("tries = tries + high - low + 1 if tries > TRIES or ne > EDGES then full() end")
  write("for r = low, high do")
  plan.bind(write, param)
  for i, step in ipairs(p.steps[d]) do
    runs[i] = step.run
    write(step.let and "V[%q] = S[%d](V)" or "if not S[%d](V) then goto skip end", step.let or i, i)
  end
  plan.insert(write, "P", p.live[d], p.key[d], "")
  write("ne = ne + 1 edges[ne] = id << 17 | pin | r - 1")
  write("::skip:: end end first[I.n + 1] = ne + 1 return ne end")
  local limits = plan.limits
  return plan.load(out, "grow", V, runs, plan.columns(param), when and when.run, full, limits.tries,
    limits.nodes, limits.edges)
end

-- The rules below depth d that read what was bound above, as a list of names in quotes; "" without any.
local function ties(p, d)
  local out, more = {}, 0
  for _, r in ipairs(p.removers) do
    local early, late = false, false
    for _, name in ipairs(r.expr.roots) do
      local depth = p.sp.names[name].depth
      early, late = early or (depth > 0 and depth <= d), late or depth > d
    end
    late = late or (r.param ~= nil and r.param.index > d)
    if early and late and #out < 8 then
      out[#out + 1] = "'" .. r.name .. "'"
    elseif early and late then
      more = more + 1
    end
  end
  return table.concat(out, ", ") .. (more > 0 and fmt(" and %d more", more) or "")
end

-- What to say where a pass met one of its limits at depth d: in the states behind it, or in the values that
-- it tried in the states before it.
function diagram.too_large(p, d)
  while d > 1 and ties(p, d) == "" do d = d - 1 end
  return fmt("space '%s': too many combinations to count: behind param '%s' the rules %s still tie together "
    .. "what stands before it", p.sp.name, p.sp.params[d].name, ties(p, d))
end

-- Which node an edge to `child` comes from, and by which row; a slow search, for messages.
local function parent(layer, child)
  for node = 1, layer.n do
    for e = layer.first[node], layer.first[node + 1] - 1 do
      if layer.edges[e] >> 17 == child then return node, (layer.edges[e] & ROW) + 1 end
    end
  end
end

-- Runs depth d's steps again at a state where one fails, V now complete, so that the message names the
-- whole point.
local function fail_at(p, g, d, node, V)
  local above = p.above[d]
  while above do
    local r
    node, r = parent(g.layers[above], node)
    local param = p.sp.params[above]
    for i, name in ipairs(param.names) do V[name] = param.rows[r][i] end
    above = p.above[above]
  end
  if p.whens[d] then p.whens[d].run(V) end
  for _, step in ipairs(p.steps[d]) do step.run(V) end
end

-- Cuts the edges that lead to no point and sums the others up: upto[e] counts the points below the
-- edges of e's node as far as e. Returns the counts of the layer's nodes.
local function prune(layer, below)
  local first, edges, upto, counts = layer.first, layer.edges, {}, {}
  local kept, from = 0, first[1]
  for node = 1, layer.n do
    local sum, to = 0, first[node + 1] - 1
    first[node] = kept + 1
    for e = from, to do
      local count = below[edges[e] >> 17]
      if count > 0 then
        local more = sum + count
        sum = more < 0 and sum + 0.0 + count or more
        kept = kept + 1
        edges[kept], upto[kept] = edges[e], sum
      end
    end
    counts[node], from = sum, to + 1
  end
  for e = kept + 1, from - 1 do edges[e] = nil end
  first[layer.n + 1] = kept + 1
  layer.upto = upto
  return counts
end

-- All layers in declared order; false where no point is left.
local function grow_all(p, g, V)
  local open, nodes, edges = {}, 0, 0
  if plan.enter(p, V) then return false end
  for d = 1, #p.sp.params do
    local layer = { first = {}, edges = {} }
    local from, into = open[p.comp[d]] or { n = 1, col = {} }, plan.layer(p.live[d])
    local function full(only_looks) -- now and then it is called to look whether the user has had enough
      if not only_looks then error({ too_large = d }, 0) end
      plan.look()
    end
    g.layers[d], g.open, g.depth, layer.n = layer, from, d, from.n
    local kept = grower(p, d, V, full)(from, into, layer.first, layer.edges)
    into.root, open[p.comp[d]] = nil, into
    nodes, edges = nodes + into.n, edges + kept
    if nodes > plan.limits.nodes or edges > plan.limits.edges then full() end
    if kept == 0 then return false end
  end
  return true
end

local function count_all(p, g)
  g.total = 1
  for c, comp in ipairs(p.comps) do
    local below = { 1 }
    for i = #comp.depths, 1, -1 do below = prune(g.layers[comp.depths[i]], below) end
    g.counts[c], g.total = below[1], mul(g.total, below[1])
    g.depths[c] = comp.depths
    for _, d in ipairs(comp.depths) do g.comp[d] = c end
  end
end

local function attempt(sp, removers, V, hoist)
  local p = plan.new(sp, removers, { hoist = hoist })
  local g = setmetatable({ sp = sp, layers = {}, comp = {}, depths = {}, counts = {}, total = 0, n = #sp.params }, meta)
  local ok, err = pcall(grow_all, p, g, V)
  if not ok and type(err) == "table" and err.too_large then fail(diagram.too_large(p, err.too_large)) end
  if not ok and hoist then return nil end
  if not ok then
    if g.open then fail_at(p, g, g.depth, g.open.at, V) end
    error(err, 0)
  end
  if err then count_all(p, g) end
  g.open = nil
  return g
end

-- The diagram of a space's valid points; V holds the values of the problem and the device.
function diagram.new(sp, V)
  local removers = plan.removers(sp)
  return attempt(sp, removers, V, "all") or attempt(sp, removers, V, nil)
end

-- Reading ---------------------------------------------------------------------------------------------
-- A point is `at`, the list of its row numbers, one for each parameter.

local FEW = 12 -- edges of a node up to which a plain search is the fastest

-- The edge of a node (its edges are lo..hi) that the q-th point below it takes, q from 0 on.
local function edge_of(upto, lo, hi, q)
  if hi - lo < FEW then
    while lo < hi and upto[lo] <= q do lo = lo + 1 end
    return lo
  end
  while lo < hi do
    local mid = (lo + hi) // 2
    if upto[mid] > q then hi = mid else lo = mid + 1 end
  end
  return lo
end

-- The edge of a node for row r, nil when there is none.
local function edge_by_row(edges, lo, hi, r)
  r = r - 1
  while lo < hi do
    local mid = (lo + hi) // 2
    if edges[mid] & ROW >= r then hi = mid else lo = mid + 1 end
  end
  if edges[lo] and lo <= hi and edges[lo] & ROW == r then return lo end
end

local function roots(g)
  local nodes = {}
  for c = 1, #g.counts do nodes[c] = 1 end
  return nodes
end

-- The i-th point in declared order, from 1 on; the total must be an integer.
function methods:unrank(i, at)
  local nodes, rest, points = roots(self), i - 1, self.total
  for d = 1, self.n do
    local layer, c = self.layers[d], self.comp[d]
    local node, upto = nodes[c], layer.upto
    local lo, hi = layer.first[node], layer.first[node + 1] - 1
    local others = points // upto[hi] -- points of the other components
    local e = edge_of(upto, lo, hi, rest // others)
    local before = e > lo and upto[e - 1] or 0
    rest, points = rest - before * others, (upto[e] - before) * others
    at[d], nodes[c] = (layer.edges[e] & ROW) + 1, layer.edges[e] >> 17
  end
  return at
end

-- Where a point stands in declared order, nil when it is none of the valid ones.
function methods:rank(at)
  if self.total == 0 then return nil end
  local nodes, before_all, points = roots(self), 0, self.total
  for d = 1, self.n do
    local layer, c = self.layers[d], self.comp[d]
    local node, upto = nodes[c], layer.upto
    local lo, hi = layer.first[node], layer.first[node + 1] - 1
    local e = at[d] and edge_by_row(layer.edges, lo, hi, at[d])
    if not e then return nil end
    local others, before = points // upto[hi], e > lo and upto[e - 1] or 0
    before_all, points = before_all + before * others, (upto[e] - before) * others
    nodes[c] = layer.edges[e] >> 17
  end
  return before_all + 1
end

-- One component's share of a point: its q-th, or, where q is nil or counts are no integers, one drawn
-- depth by depth.
local function draw_component(self, depths, q, rng, at)
  local node = 1
  for i = 1, #depths do
    local d = depths[i]
    local layer = self.layers[d]
    local upto, lo, hi = layer.upto, layer.first[node], layer.first[node + 1] - 1
    local count = upto[hi]
    local exact = math.type(count) == "integer"
    q = q or (exact and rng:int(count) - 1 or rng:unit() * count)
    local e = edge_of(upto, lo, hi, q)
    q = exact and q - (e > lo and upto[e - 1] or 0) or nil
    at[d], node = (layer.edges[e] & ROW) + 1, layer.edges[e] >> 17
  end
end

-- One of the valid points, each as likely as the other.
function methods:draw(rng, at)
  local exact = math.type(self.total) == "integer"
  local rest = exact and rng:int(self.total) - 1
  for c, count in ipairs(self.counts) do
    draw_component(self, self.depths[c], exact and rest % count or nil, rng, at)
    if exact then rest = rest // count end
  end
  return at
end

-- Calls take(at) for the valid points that differ from `at` in one to k free parameters, in declared
-- order. A parameter that the other point pins costs nothing: it is no choice there.
function methods:near(at, k, take)
  if self.total == 0 then return end
  local nodes, new = roots(self), {}
  local function go(d, left, changed)
    if d > self.n then
      if changed then take(new) end
      return
    end
    local layer, c = self.layers[d], self.comp[d]
    local node, edges = nodes[c], layer.edges
    local lo, hi = layer.first[node], layer.first[node + 1] - 1
    if left == 0 and edges[lo] & PINNED == 0 then -- nothing may change here: one edge, or none
      lo = at[d] and edge_by_row(edges, lo, hi, at[d]) or hi + 1
      hi = math.min(lo, hi)
    end
    for e = lo, hi do
      local r = (edges[e] & ROW) + 1
      local same = r == at[d]
      local cost = (same or edges[e] & PINNED ~= 0) and 0 or 1
      if cost <= left then
        new[d], nodes[c] = r, edges[e] >> 17
        go(d + 1, left - cost, changed or not same)
      end
    end
    nodes[c] = node
  end
  go(1, k, false)
end

return diagram
