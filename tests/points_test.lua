-- Points without a walk: counts, ranks, samples, neighbours and reasons against trying all points.

local device = require "device"
local fail = require "fail"
local gap = require "gap"
local kit = require "points_kit"
local plan = require "plan"
local rng = require "rng"
local space = require "space"
local verbs = require "verbs_points"

local fmt = string.format

local function equal(got, want, where)
  assert(got == want, fmt("got %s, want %s%s", tostring(got), tostring(want), where and " in\n" .. where or ""))
end

-- What a walk lists: its keys in order, nil where it meets a rule that cannot be evaluated.
local function walked(b)
  local keys, cands = {}, {}
  local ok = pcall(function()
    for cand in b:each() do
      cands[#cands + 1] = cand
      keys[#keys + 1] = kit.short(b, cand)
    end
  end)
  return ok and keys or nil, cands
end

-- product, and count and alone of each remover, by trying all points.
local function tried(s)
  local count, alone, failed, product = {}, {}, {}, 0
  local n = kit.try_all(s, function(_, verdicts, _, tests)
    product = product + 1
    local first
    for i = 1, tests do
      failed[i] = failed[i] or verdicts[i] == nil
      if verdicts[i] == false then
        first = first or i
        alone[i] = (alone[i] or 0) + 1
      end
    end
    if first then count[first] = (count[first] or 0) + 1 end
  end)
  for i = 1, n do
    count[i] = count[i] or 0
    if failed[i] then alone[i] = nil else alone[i] = alone[i] or 0 end
  end
  return product, count, alone
end

local function check_ranks(b, keys, cands, text)
  equal(b:total(), #keys, text)
  for i, key in ipairs(keys) do
    equal(kit.short(b, b:at(i)), key, text)
    equal(b:index(cands[i]), i, text)
  end
  equal(b:at(0), nil)
  equal(b:at(#keys + 1), nil)
end

local function check_counts(b, s)
  local c = b:count()
  local product, count, alone = tried(s)
  equal(c.product, product, s.text)
  local sum = c.valid
  for i, r in ipairs(c.removed) do
    sum = sum + r.count
    equal(r.count, count[i], r.name .. " in\n" .. s.text)
    equal(r.alone, alone[i], r.name .. " alone in\n" .. s.text)
  end
  equal(sum, product, s.text)
end

-- The valid points by trying: {key, values of each parameter, pinned} and whether a point is valid.
local function valid_points(b, s)
  local list, by_key = {}, {}
  kit.try_all(s, function(env, verdicts, pinned, tests)
    for i = 1, tests do
      if not verdicts[i] then return end
    end
    local cand, point = {}, { pinned = pinned }
    for d, param in ipairs(s.params) do
      local row = {}
      for i, name in ipairs(param.names) do cand[name], row[i] = env[name], tostring(env[name]) end
      point[d] = table.concat(row, " ")
    end
    point.key = kit.short(b, cand)
    list[#list + 1], by_key[point.key] = point, point
  end)
  return list, by_key
end

local function check_neighbours(b, s, cands)
  local list, by_key = valid_points(b, s)
  equal(#list, #cands, s.text)
  for i = 1, #cands, 1 + #cands // 5 do
    local from = by_key[kit.short(b, cands[i])]
    for k = 1, 3 do
      local want, got = {}, {}
      for _, to in ipairs(list) do
        local cost = 0
        for d = 1, #to do
          if to[d] ~= from[d] and not to.pinned[d] then cost = cost + 1 end
        end
        if to ~= from and cost <= k then want[#want + 1] = to.key end
      end
      for j, near in ipairs(b:neighbours(cands[i], k)) do got[j] = kit.short(b, near) end
      equal(table.concat(got, "\n"), table.concat(want, "\n"), fmt("%s, %d away, in\n%s", from.key, k, s.text))
    end
  end
end

-- The point that violates the fewest rules, then the nearest, by trying: how many, key of the first.
local function nearest(b, s)
  local far = {}
  for i, r in ipairs(plan.removers(b.space)) do far[i] = r.rule and gap.compile(r.expr.tree.root) end
  local least, shortest, key = math.huge, math.huge, nil
  kit.try_all(s, function(env, verdicts, _, tests)
    local bad, by = 0, 0
    for i = 1, tests do
      if not verdicts[i] then
        local ok, share = pcall(far[i] or error, env)
        bad, by = bad + 1, by + (ok and share or 1)
      end
    end
    if bad < least or bad == least and by < shortest - 1e-9 then least, shortest, key = bad, by, kit.short(b, env) end
  end)
  return least, key
end

local function check_why(b, s)
  local why = b:why_empty()
  local least, key = nearest(b, s)
  equal(#why.rules, least, s.text)
  equal(kit.short(b, why.cand), key, s.text)
end

-- A rejection at 5 sigma: counts of each outcome against their expected shares.
local function chi_square(counts, shares, n)
  local sum = 0
  for i, share in ipairs(shares) do sum = sum + ((counts[i] or 0) - n * share) ^ 2 / (n * share) end
  local freedom = #shares - 1
  assert(sum < freedom + 5 * math.sqrt(2 * freedom), fmt("chi-square %.1f at %d degrees of freedom", sum, freedom))
end

local function large(name)
  return space.bind(space.load(fmt("%s/tests/spaces/%s.lua", host.root, name or "large")),
    { M = 512, N = 2048, K = 4096, layout = "tn", dtype = "f16", acc = "f32" }, device.get "h200")
end

-- Product, valid points and removals of a bound space by trying all its points, with its own rules.
local function by_hand(b)
  local sp, V, count, product, valid = b.space, {}, {}, 0, 0
  for name, value in pairs(b.base) do V[name] = value end
  local lets, removers = {}, plan.removers(sp)
  for d = 0, #sp.params do
    for _, step in ipairs(sp.steps[d]) do
      if step.let then lets[#lets + 1] = step end
    end
  end
  local at = {}
  local function judge()
    product = product + 1
    for _, step in ipairs(lets) do V[step.let] = step.run(V) end
    for i, r in ipairs(removers) do
      if not r.expr.run(V) and not (r.param and at[r.param.index] == r.param.default_at) then
        count[i] = (count[i] or 0) + 1
        return
      end
    end
    valid = valid + 1
  end
  local function descend(d)
    if d > #sp.params then return judge() end
    for r, row in ipairs(sp.params[d].rows) do
      at[d] = r
      for i, name in ipairs(sp.params[d].names) do V[name] = row[i] end
      descend(d + 1)
    end
  end
  descend(1)
  return product, valid, count
end

-- f()'s refusal; fails where there is none.
local function refusal(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok, "no refusal")
  return fail.text(err) or error(err, 0)
end

local function said(f, ...)
  local out, err, text, errors = host.out, host.err, {}, {}
  host.out, host.err = function(t) text[#text + 1] = t end, function(t) errors[#errors + 1] = t end
  local ok, code = pcall(f, ...)
  host.out, host.err = out, err
  assert(ok, code)
  return code, table.concat(text), table.concat(errors)
end

-- A space whose states are many: nothing can be forgotten before the last parameter.
local function tied(n)
  local lines, names = {}, {}
  for i = 1, n do
    lines[i] = fmt('param "p%d" { range = {1, 10} }', i)
    names[i] = fmt("p%d * p%d", i, i % n + 1)
  end
  lines[n + 1] = fmt('must "sum" { "%s > 5", why = "small" }', table.concat(names, " + "))
  lines[n + 2] = fmt('must "ends" { "p1 < p%d", why = "order" }', n)
  return table.concat(lines, "\n")
end

local CHAIN = {}
for i = 1, 7 do CHAIN[i] = fmt('param "p%d" { range = {1, 10} }', i) end
for i = 2, 7 do
  CHAIN[#CHAIN + 1] = fmt('must "r%d" { "(p%d * 7 + p%d) %% 10 == %d", why = "no" }', i, i - 1, i, i)
end
CHAIN[#CHAIN + 1] = 'must "end" { "p7 == 3", why = "no" }'

return {
  { name = "random spaces: counts, ranks, removals, neighbours, reasons agree with trying all points", run = function()
    local seed = math.tointeger(tonumber(host.getenv "LOOM_POINTS_SEED" or 1))
    math.randomseed(seed, 23)
    local seen = { listed = 0, failing = 0, empty = 0 }
    for i = 1, 150 do
      local s = kit.random(math.random)
      local b = kit.bind("r" .. i, s.text)
      local keys, cands = walked(b)
      if keys then
        check_ranks(b, keys, cands, s.text)
        check_counts(b, s)
        if #keys > 0 then check_neighbours(b, s, cands) else check_why(b, s) end
        seen[#keys > 0 and "listed" or "empty"] = seen[#keys > 0 and "listed" or "empty"] + 1
      else
        local err = refusal(b.total, b)
        assert(err:find("^[^\n]*points/r%d+%.lua:%d+: [^\n]*//0 divides by zero[^\n]*$"), s.text .. "\n" .. err)
        seen.failing = seen.failing + 1
      end
    end
    assert(seen.listed > 30 and seen.empty > 20 and seen.failing > 1,
      fmt("%d listed, %d empty, %d failing", seen.listed, seen.empty, seen.failing))
  end },
  { name = "a rule that fails names the whole point, though its parts were long forgotten", run = function()
    local b = kit.bind("forgot", [[
param "a" { 1, 2 }
param "b" { 1, 2 }
param "c" { 1, 2, 3, 4 }
param "d" { 1, 2 }
let "s" "a + b"
must "r" { "12 // (s - c) ~= 5", why = "five" }
]])
    local err = refusal(b.total, b)
    assert(err:find("forgot.lua:8: must 'r': 12//0 divides by zero at a=1, b=1, c=2", 1, true)
      or err:find("at a=1, b=1, c=2", 1, true), err)
  end },
  { name = "a part of an expression that would fail where nobody asks is left alone", run = function()
    local b = kit.bind("lazy", [[
param "a" { 0, 3, 4 }
param "b" { 1, 4 }
must "share" { "a == 0 or 12 // a == b", why = "no" }
]])
    equal(b:total(), 3)
    equal(b:count().removed[1].alone, 3)
    b = kit.bind("guarded", [[
param "a" { 0, 3, 4 }
param "b" { 1, 4 }
must "positive" { "a > 0", why = "no" }
must "share" { "12 // a == b", why = "no" }
]])
    equal(b:total(), 1)
    local c = b:count()
    equal(c.removed[1].count .. " " .. c.removed[1].alone, "2 2")
    equal(c.removed[2].count, 3)
    equal(c.removed[2].alone, nil)
  end },
  { name = "a reduced copy of the large space: counts agree with trying all its points", run = function()
    local b = large "reduced"
    local c = b:count()
    local product, valid, count = by_hand(b)
    equal(c.product, product)
    equal(c.valid, valid)
    assert(product > 50000 and valid > 500, fmt("%d of %d", valid, product))
    for i, r in ipairs(c.removed) do equal(r.count, count[i] or 0, r.name) end
    for i = 1, valid, 7 do equal(b:index(b:at(i)), i) end
  end },
  { name = "10^14 points are counted and drawn from at once", run = function()
    local started = host.now()
    local b, draw = large(), rng.new "large"
    local total, seen = b:total(), {}
    local list = b:sample(10000, draw)
    local seconds = host.now() - started
    assert(seconds < 10, fmt("%.1f s", seconds)) -- under 2 s on a machine of its own: bench-gen says
    local c, sum = b:count(), total
    assert(c.product > 10 ^ 14 and math.type(c.product) == "integer", c.product)
    equal(c.valid, total)
    for _, r in ipairs(c.removed) do sum = sum + r.count end
    equal(sum, c.product)
    equal(#list, 10000)
    local different = 0
    for i, cand in ipairs(list) do
      local key = b:key(cand)
      if not seen[key] then different = different + 1 end
      seen[key] = true
      if i % 20 == 0 then assert(b:check(cand)) end
      if i % 50 == 0 then equal(b:key(b:at(b:index(cand))), key) end
    end
    assert(different > 9900, different)
    for _, near in ipairs(b:neighbours(list[1])) do assert(b:check(near)) end
  end },
  { name = "samples are uniform: chi-square over every point of a small space", run = function()
    local b = kit.bind("uniform", [[
param "a" { range = {1, 6} }
param "free" { 1, 2, 3, 4, 5, 6 }
param "b" { range = {1, 40} }
param "s" { 1, 2, 4, default = 2, when = "a > 3" }
must "near" { "b % (a + 1) == 0", why = "no" }
]])
    local total, draw, counts, shares = b:total(), rng.new "uniform", {}, {}
    local n, g = 50 * total, b.diagram
    assert(#g.counts == 2 and g.counts[1] % 2 == 0 and g.counts[2] == 6) -- one draw serves both
    for i = 1, total do shares[i] = 1 / total end
    for _, cand in ipairs(b:sample(n, draw)) do
      local i = b:index(cand)
      counts[i] = (counts[i] or 0) + 1
    end
    assert(total > 100, total)
    chi_square(counts, shares, n)
    assert(not pcall(chi_square, { n // 2, n - n // 2 }, shares, n), "the test cannot fail")
  end },
  { name = "samples are uniform where counts no longer fit into 64 bits", run = function()
    local lines = {}
    for i = 1, 12 do lines[i] = fmt('param "p%d" { range = {1, 100} }', i) end
    for i = 1, 11 do
      lines[#lines + 1] = fmt('must "r%d" { "p%d + p%d > 1", why = "no" }', i, i, i + 1) -- ties all, removes none
    end
    lines[#lines + 1] = 'must "near" { "p12 - p11 < 2 and p11 - p12 < 2", why = "far" }'
    local b, draw, n = kit.bind("float", table.concat(lines, "\n")), rng.new "float", 20000
    assert(math.type(b:total()) == "float" and math.abs(b:total() / (1e20 * 298) - 1) < 1e-9, b:total())
    local differences, last, flat = {}, {}, {}
    for i = 1, 100 do flat[i] = 0.01 end
    for _, cand in ipairs(b:sample(n, draw)) do
      differences[cand.p12 - cand.p11 + 2] = (differences[cand.p12 - cand.p11 + 2] or 0) + 1
      last[cand.p3] = (last[cand.p3] or 0) + 1
    end
    chi_square(differences, { 99 / 298, 100 / 298, 99 / 298 }, n)
    chi_square(last, flat, n)
    assert(refusal(b.at, b, 1):find("points are too many to number", 1, true))
  end },
  { name = "one valid point in 10^7 is drawn at once", run = function()
    local b = kit.bind("needle", table.concat(CHAIN, "\n"))
    local started = host.now()
    local c = b:count()
    equal(c.product, 10 ^ 7 | 0)
    equal(c.valid, 1)
    local key = kit.short(b, b:at(1))
    for _, cand in ipairs(b:sample(100, rng.new "needle")) do equal(kit.short(b, cand), key) end
    assert(b:check(b:at(1)))
    assert(host.now() - started < 1)
  end },
  { name = "an empty space has no sample, and nothing is drawn", run = function()
    local b = kit.bind("none", 'param "a" { 1, 2 }\nmust "r" { "a > 2", why = "{a} is small" }\n')
    equal(b:total(), 0)
    equal(b:draw(rng.new "x"), nil)
    equal(#b:sample(5, rng.new "x"), 0)
    equal(b:at(1), nil)
    equal(b:index { a = 1 }, nil)
    equal(#b:neighbours { a = 1 }, 0)
  end },
  { name = "a value outside the domain has no rank; its neighbours are valid points", run = function()
    local b = kit.bind("outside", 'param "a" { 1, 2, 3 }\nparam "b" { 1, 2 }\nmust "r" { "a ~= b", why = "x" }\n')
    equal(b:index { a = 7, b = 1 }, nil)
    equal(b:index { a = 1, b = 1 }, nil)
    local out = {}
    for i, near in ipairs(b:neighbours { a = 7, b = 1 }) do out[i] = kit.short(b, near) end
    equal(table.concat(out, " "), "a=2,b=1 a=3,b=1")
    assert(refusal(b.index, b, { a = 1 }):find("the candidate lacks 'b'", 1, true))
  end },
  { name = "pins and forbids count as the walk has them", run = function()
    local b = kit.bind("forbids", [[
param "a" { 1, 2, 3, 4, pin = 3 }
param "w" { {1, "x"}, {2, "y"}, {3, "y"}, as = {"n", "kind"} }
param "s" { 1, 2, 4, default = 4, when = "n > 1" }
must "sum" { "a + n <= 5", why = "much" }
forbid { kind = "x", s = 4, why = "never both" }
forbid { w = {2, "y"}, s = 1, why = "nor these" }
]])
    local keys, cands = walked(b)
    equal(table.concat(keys, " "), "a=3,n=2,kind=y,s=2 a=3,n=2,kind=y,s=4")
    check_ranks(b, keys, cands)
    local c = b:count()
    equal(c.product, 9)
    local text = {}
    for i, r in ipairs(c.removed) do text[i] = fmt("%s %s %d %d", r.kind, r.name, r.count, r.alone) end
    equal(table.concat(text, ", "), "when s when 2 2, must sum 3 3, forbid forbid-1 1 1, forbid forbid-2 1 1")
  end },
  { name = "what is too large to count is one error that names the rules", run = function()
    local limits = plan.limits
    plan.limits = { nodes = 500, edges = 100000, tries = 1000000 }
    local ok, err = pcall(refusal, function() return kit.bind("tied", tied(8)):total() end)
    plan.limits = limits
    assert(ok and err:find("^space 'tied': too many combinations to count: behind param 'p%d' the rules "
      .. "'sum', 'ends' still tie together what stands before it$"), err)
  end },
  { name = "parameters that no rule connects are counted apart", run = function()
    local lines = {}
    for i = 1, 15 do lines[i] = fmt('param "p%d" { range = {1, 10} }', i) end
    for i = 1, 13, 3 do lines[#lines + 1] = fmt('must "r%d" { "p%d < p%d", why = "x" }', i, i, i + 2) end
    local b = kit.bind("apart", table.concat(lines, "\n"))
    equal(b:total(), 450 ^ 5 // 1 | 0)
    local c = b:count()
    equal(c.removed[1].alone, 55 * 10 ^ 13 // 1 | 0)
    equal(c.removed[2].count, 45 * 55 * 10 ^ 11 // 1 | 0)
    local edges = 0
    for _, layer in ipairs(b.diagram.layers) do edges = edges + #layer.edges end
    assert(edges < 1000, edges)
    for _, i in ipairs { 1, 2, 12345678901, b:total() } do equal(b:index(b:at(i)), i) end
  end },
  { name = "an empty space names the smallest set of rules, and the closest point", run = function()
    local b = kit.bind("why", [[
param "tile" { 64, 128, 256 }
param "stages" { 3, 4, 5 }
let "smem" "tile * stages * 1000"
must "large" { "smem > 130000", why = "{smem} B are few" }
must "fits" { "smem <= 100000", why = "{smem} B are many" }
must "deep" { "stages >= 3", why = "{stages} are few" }
]])
    local why = b:why_empty()
    equal(#why.rules, 1)
    equal(why.rules[1].name .. ": " .. why.rules[1].why, "fits: 192000 B are many")
    equal(why.key, "why:layout=nn,dtype=f16,acc=f32,tile=64,stages=3")
    equal(b:check(why.cand), nil)
    b = kit.bind("full", 'param "a" { 1 }\n')
    equal(b:why_empty(), nil)
  end },
  { name = "a space too large to explain names the rule that removes most", run = function()
    local why, b = require "why", kit.bind("vast", tied(4) .. '\nmust "never" { "p1 > 10 and p4 < 0", why = "no" }')
    local limits = why.limits
    why.limits = { nodes = 10, tries = 100, most = 8 }
    local ok, empty = pcall(b.why_empty, b)
    why.limits = limits
    assert(ok, empty)
    equal(empty.rules[1].name, "ends")
    equal(empty.key, nil)
    assert(why.text(empty):find("^rule 'ends' %(order%) removes most$"), why.text(empty))
    equal(#b:why_empty().rules, 1)
  end },
  { name = "a gap is how far a rule is from holding", run = function()
    local function far(text, V)
      local tree = assert(require "expr".parse(text))
      require "expr".check(tree, function(name) return math.type(V[name]) or type(V[name]) end)
      return gap.compile(tree.root)(V)
    end
    local V = { a = 10, b = 40, s = "x", yes = true }
    equal(far("a < b", V), 0)
    equal(far("a > b", V), 31 / 40)
    equal(far("a >= b", V), 30 / 40)
    equal(far("a == b", V), 30 / 40)
    equal(far("a ~= 10", V), 1 / 10)
    equal(far("a > b and b < a", V), 62 / 40)
    equal(far("a > b or a >= b", V), 30 / 40)
    equal(far("not (a < b and yes)", V), 30 / 40)
    equal(far("s == 'y'", V), 1)
    equal(far("not yes", V), 1)
    equal(far("b // (a - 10) == 1", V), 1)
    equal(far("ceildiv(b, a) == 5 or min(a, b) * 2 == 25", V), 1 / 5)
  end },
  { name = "sample and neighbours print keys, one a line; the same seed draws the same", run = function()
    local opt = { space = { "simt" }, device = device.get "h200", n = 5, seed = 7,
      problems = { kit.problem(4096), kit.problem(64) } }
    local code, text = said(verbs.sample, opt)
    equal(code, 0)
    local n = 0
    for line in text:gmatch("[^\n]+") do
      n = n + 1
      local _, _, cand, sp = space.parse_key(line)
      assert(space.bind(sp, opt.problems[1], opt.device):check(cand))
    end
    equal(n, 10)
    equal(select(2, said(verbs.sample, opt)), text)
    opt.seed = 8
    assert(select(2, said(verbs.sample, opt)) ~= text)
    opt.key = text:match("[^\n]+")
    code, text = said(verbs.neighbours, { key = opt.key, device = opt.device, problems = { kit.problem(4096) } })
    equal(code, 0)
    assert(text:find("^simt:layout=nn") and not text:find(opt.key, 1, true), text)
  end },
  { name = "count says what each rule removes in declared order and alone, and why nothing is left", run = function()
    local opt = { space = { host.root .. "/tests/spaces/ring.lua" }, device = device.get "h200",
      problems = { kit.problem(4096, 4095, 4096) } }
    local code, text, err = said(verbs.count, opt)
    equal(code, 1)
    assert(text:find("rule +removed +alone +why\n") and text:find("\neights +7040 +7040 "), text)
    assert(text:find("\nacc%-regs +0 +1760 "), text)
    assert(err:find("^loom: space 'ring' has no valid point for 4096x4095x4096 nn f16 acc f32 on h200: without "
      .. "rule 'eights' %(TMA needs rows .*%) there would be points; closest: ring:layout=nn,.-\n$"), err)
    code, text, err = said(verbs.sample, opt)
    equal(code .. text, "1")
    assert(err:find("without rule 'eights'", 1, true), err)
  end },
}
