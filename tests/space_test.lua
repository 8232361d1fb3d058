-- Bound spaces: order, counts, keys, reasons, seeds.

local device = require "device"
local space = require "space"

local dir = "out/build/test/core-space" -- as messages show it
local root = host.root .. "/"
local H200 = device.get "h200"

local function problem(M, N, K, layout)
  return { M = M, N = N or M, K = K or M, layout = layout or "nn", dtype = "f16", acc = "f32" }
end

local function load_spec(name, body)
  local text = string.format('space "%s" { format = 1, template = "simt.cu" }\n'
    .. 'given { "M", "N", "K", "layout", "dtype", "acc" }\n%s', name, body)
  assert(host.write(root .. dir .. "/" .. name .. ".lua", text) ~= nil)
  return space.load(root .. dir .. "/" .. name .. ".lua")
end

local function bind(name, body, p)
  return space.bind(load_spec(name, body), p or problem(64), H200)
end

local function keys(b)
  local out = {}
  for cand in b:each() do out[#out + 1] = (b:key(cand):gsub("^.-acc=f32,?", "")) end
  return out
end

local function equal(got, want)
  assert(got == want, string.format("got %s, want %s", tostring(got), tostring(want)))
end

local function check_sum(count)
  local sum = count.valid
  for _, r in ipairs(count.removed) do sum = sum + r.count end
  equal(sum, count.product)
end

-- A random space as statements, and the same as plain Lua tables for the brute force.
local function random_spec()
  local r, params, lines, rules = math.random, {}, {}, {}
  for i = 1, r(2, 5) do
    local values, when = {}, nil
    for k = 1, r(1, 4) do values[k] = k * r(1, 3) + (k > 1 and values[k - 1] or 0) end
    if i > 1 and r(3) == 1 then when = string.format("p%d %% 2 == %d", r(i - 1), r(0, 1)) end
    params[i] = { values = values, when = when }
    lines[#lines + 1] = string.format('param "p%d" { %s, default = %d%s }', i, table.concat(values, ", "),
      values[#values], when and ', when = "' .. when .. '"' or "")
  end
  lines[#lines + 1] = string.format('let "x" "p%d * p%d"', r(#params), r(#params))
  lines[#lines + 1] = string.format('let "y" "x + p%d"', r(#params))
  for i = 1, r(1, 4) do
    local a = ({ "x", "y", "p1", "p" .. #params })[r(4)]
    rules[i] = string.format("%s %% %d ~= %d or p%d < %d", a, r(2, 5), r(0, 2), r(#params), r(0, 4))
    lines[#lines + 1] = string.format('must "r%d" { "%s", why = "none" }', i, rules[i])
  end
  return params, table.concat(lines, "\n"), rules, lines
end

-- Valid points by trying all, with Lua as the judge.
local function brute_force(params, rules, lines)
  local env, found = {}, {}
  local judge = {}
  for i, rule in ipairs(rules) do judge[i] = load("return " .. rule, "=r", "t", env) end
  local lets = {}
  for _, line in ipairs(lines) do
    local name, text = line:match('^let "(%w)" "(.*)"$')
    if name then lets[#lets + 1] = { name, load("return " .. text, "=l", "t", env) } end
  end
  local function descend(i)
    if i > #params then
      for _, let in ipairs(lets) do env[let[1]] = let[2]() end
      for _, rule in ipairs(judge) do
        if not rule() then return end
      end
      local out = {}
      for k = 1, #params do out[k] = string.format("p%d=%d", k, env["p" .. k]) end
      found[#found + 1] = table.concat(out, ",")
      return
    end
    local values, when = params[i].values, params[i].when
    local free = not when or load("return " .. when, "=w", "t", env)()
    for k = free and 1 or #values, #values do
      env["p" .. i] = values[k]
      descend(i + 1)
    end
  end
  descend(1)
  return found
end

return {
  { name = "points come in declared order, the last parameter fastest", run = function()
    local b = bind("order", 'param "a" { 2, 1 }\nparam "w" { {1, "x"}, {2, "y"}, as = {"wm", "wn"} }\n')
    equal(table.concat(keys(b), " "),
      "a=2,wm=1,wn=x a=2,wm=2,wn=y a=1,wm=1,wn=x a=1,wm=2,wn=y")
  end },
  { name = "a rule's removals weigh the points below it", run = function()
    local c = bind("weigh", [[
param "a" { 1, 2, 3 }
param "b" { range = {1, 10} }
param "c" { range = {1, 100} }
must "c-small" { "c <= 90", why = "{c} is large" }
must "a-odd" { "a % 2 == 1", why = "{a} is even" }
must "b-next" { "b ~= a + 1", why = "{b}" }
]]):count()
    equal(c.product, 3000)
    local by = {}
    for _, r in ipairs(c.removed) do by[r.name] = r.count end
    equal(by["c-small"], 300)
    equal(by["a-odd"], 900)
    equal(by["b-next"], 180)
    equal(c.valid, 1620)
    check_sum(c)
  end },
  { name = "`when` pins to the default instead of multiplying", run = function()
    local b = bind("pins", 'param "a" { 1, 2 }\nparam "s" { 1, 2, 4, default = 2, when = "a > 1" }\n')
    equal(table.concat(keys(b), " "), "a=1,s=2 a=2,s=1 a=2,s=2 a=2,s=4")
    local c = b:count()
    equal(c.valid, 4)
    equal(c.removed[1].name, "s when")
    equal(c.removed[1].count, 2)
    local ok, rule, why = b:check { a = 1, s = 4 }
    assert(not ok and rule == "s when" and why == "pinned to 2: 1 > 1 is false", why)
  end },
  { name = "random spaces: enumeration and count agree with brute force", run = function()
    math.randomseed(5, 17)
    for i = 1, 300 do
      local params, body, rules, lines = random_spec()
      local b = bind("random", body)
      local got, want, c = keys(b), brute_force(params, rules, lines), b:count()
      assert(table.concat(got, " ") == table.concat(want, " "), string.format("space %d:\n%s", i, body))
      equal(c.valid, #want)
      check_sum(c)
      for cand in b:each() do assert(b:check(cand)) end
    end
  end },
  { name = "two walks give the same points, and walks do not disturb each other", run = function()
    local b = bind("twice", 'param "a" { 1, 2, 3 }\nparam "b" { 1, 2, 3 }\nmust "r" { "a ~= b", why = "same" }\n')
    equal(table.concat(keys(b)), table.concat(keys(b)))
    local one, two = b:each(), b:each()
    equal(one().b, 2)
    equal(two().b, 2)
    equal(one().b, 3)
    equal(two().b, 3)
  end },
  { name = "huge products are counted without being listed", run = function()
    local lines = {}
    for i = 1, 30 do lines[i] = string.format('param "p%d" { range = {1, 100} }', i) end
    lines[31] = 'must "near" { "p30 - p29 < 2 and p29 - p30 < 2", why = "far" }'
    local c = bind("huge", table.concat(lines, "\n")):count()
    assert(math.abs(c.product / 1e60 - 1) < 1e-12, c.product)
    assert(math.abs(c.valid / (1e56 * 298) - 1) < 1e-12, c.valid)
    local small = {}
    for i = 1, 9 do small[i] = lines[i] end
    small[10] = 'must "near" { "p9 - p8 < 2 and p8 - p9 < 2", why = "far" }'
    c = bind("large", table.concat(small, "\n")):count()
    equal(c.product, 10 ^ 18 // 1 | 0)
    equal(c.valid, 100 ^ 7 * 298 // 1 | 0)
    check_sum(c)
  end },
  { name = "an earlier rule guards the lets of a later one", run = function()
    local b = bind("guard", [[
param "a" { 0, 3, 4 }
let "share" "12 / a"
let "rest" "24 / share"
must "positive" { "a > 0", why = "a is {a}" }
must "three" { "rest == 2 * a", why = "{rest}" }
]])
    equal(table.concat(keys(b), " "), "a=3 a=4")
    equal(b:count().valid, 2)
    local ok, rule, why = b:check { a = 0 }
    assert(not ok and rule == "positive" and why == "a is 0")
  end },
  { name = "a space without parameters has one point", run = function()
    local b = bind("single", 'must "m" { "M == 64", why = "M is {M}" }\n')
    equal(#keys(b), 1)
    equal(b:count().valid, 1)
    b = space.bind(b.space, problem(65), H200)
    equal(#keys(b), 0)
    equal(b:count().removed[1].why, "M is 65")
  end },
  { name = "check fills the reason in and knows values that are not in the domain", run = function()
    local b = bind("reasons", [[
param "tile" { 64, 128 }
let "smem" "tile * 4096"
must "fits" { "smem <= device.smem_per_block", why = "needs {smem} B, {device.name} has {device.smem_per_block}" }
]])
    local ok, rule, why = b:check { tile = 128 }
    assert(not ok and rule == "fits" and why == "needs 524288 B, h200 has 232448", why)
    ok, rule, why = b:check { tile = 65 }
    assert(not ok and rule == "tile" and why == "65 is not among its values", why)
    ok, rule, why = b:check { tile = 64, layout = "tn" }
    assert(not ok and rule == "layout" and why == "the candidate has tn, the problem nn", why)
    assert(not pcall(b.check, b, {}))
  end },
  { name = "shared memory at the limit is kept, one byte more is not", run = function()
    local b = bind("limit", 'param "smem" { 232447, 232448, 232449 }\n'
      .. 'must "fits" { "smem <= device.smem_per_block", why = "no" }\n')
    equal(table.concat(keys(b), " "), "smem=232447 smem=232448")
  end },
  { name = "explain shows every rule with its numbers, and what could not be computed", run = function()
    local b = bind("explain", [[
param "a" { 2, 3 }
let "half" "a / 2"
must "even" { "a % 2 == 0", why = "{a} is odd" }
must "half-small" { "half < 9", why = "{half}" }
prefer "big" { "a > 2", why = "{a} is small" }
]])
    local rows, lets = b:explain { a = 2 }
    equal(rows[1].rule .. " " .. tostring(rows[1].ok) .. " " .. rows[1].filled, "even true 2 % 2 == 0")
    equal(rows[2].filled, "1 < 9")
    equal(rows[3].kind .. " " .. tostring(rows[3].ok) .. " " .. rows[3].why, "prefer false 2 is small")
    equal(lets[1].value, 1)
    rows, lets = b:explain { a = 3 }
    equal(rows[1].ok, false)
    equal(rows[2].ok, nil)
    assert(lets[1].error:find("let 'half': 3/2 is not exact at a=3", 1, true), lets[1].error)
  end },
  { name = "explain lists a when that reads what could not be computed, and so does why_empty", run = function()
    local b = bind("explain-when", [[
param "a" { 1, 3 }
let "half" "a / 2"
param "b" { 1, 2, default = 1, when = "half > 1" }
must "never" { "M < 0", why = "no" }
]])
    local rows = b:explain { a = 3, b = 1 }
    equal(rows[2].rule .. " " .. tostring(rows[2].ok) .. " " .. rows[2].filled, "b when nil half > 1")
    local empty = b:why_empty()
    equal(#empty.rules .. empty.rules[1].name .. empty.rules[2].name, "2b whennever")
  end },
  { name = "what takes too long to try is an error that names the rules, at the last parameter too", run = function()
    local plan = require "plan"
    local b, limits = bind("slow", 'param "a" { range = {1, 100} }\nparam "b" { range = {1, 100} }\n'
      .. 'must "same" { "a == b", why = "no" }\n'), plan.limits
    plan.limits = { nodes = 1000, edges = 1000, tries = 5000 }
    local ok, err = pcall(b.total, b)
    plan.limits = limits
    assert(not ok and tostring(err) == "space 'slow': too many combinations to count: behind param 'a' the rules 'same' "
      .. "still tie together what stands before it", tostring(err))
  end },
  { name = "a rule that cannot be evaluated at a point is far from holding there", run = function()
    local b = bind("far", [[
param "a" { 0, 1 }
must "below" { "a < 0", why = "no" }
must "many" { "10 // a > 20", why = "no" }
]])
    equal(b:why_empty().cand.a, 1)
  end },
  { name = "full gives the problem, parameters and lets", run = function()
    local b = bind("full", 'param "a" { 2 }\nlet "x" "a * M"\nlet "yes" "x > 1"\n')
    local full = b:full { a = 2 }
    assert(full.x == 128 and full.yes == true and full.layout == "nn" and full.a == 2 and full.M == 64)
    for cand, live in b:each() do
      for _, name in ipairs { "x", "yes", "a", "M", "layout" } do equal(live[name], b:full(cand)[name]) end
    end
  end },
  { name = "prefer rules rank and never reject", run = function()
    local b = bind("soft", 'param "a" { 1, 2 }\nprefer "two" { "a == 2", why = "x" }\nprefer "one" { "a == 3", why = "x" }\n')
    equal(#keys(b), 2)
    local n, names = b:soft { a = 1 }
    equal(n .. table.concat(names, ","), "2two,one")
    equal(b:soft { a = 2 }, 1)
  end },
  { name = "seeds are completed, pinned, checked, and listed once", run = function()
    local b = bind("seeds", [[
param "a" { 1, 2, 3 }
param "w" { {1, 2}, {2, 1}, as = {"wm", "wn"} }
param "s" { 1, 2, 4, default = 2, when = "a > 1" }
must "not-three" { "a ~= 3", why = "x" }
seed { a = 2, w = {2, 1}, s = 4 }
seed { a = 1, s = 4 }
seed { a = 1 }
seed { a = 3 }
seed { wm = 2, wn = 1, a = 2 }
]])
    local out = {}
    for i, cand in ipairs(b:seeds()) do out[i] = b:key(cand):match("acc=f32,(.*)") end
    equal(table.concat(out, " "), "a=2,wm=2,wn=1,s=4 a=1,wm=1,wn=2,s=2 a=2,wm=2,wn=1,s=2")
  end },
  { name = "a key read back is the same candidate", run = function()
    local b = bind("keys", 'param "a" { 1, 2 }\nparam "w" { {1, "x"}, {2, "y"}, as = {"wm", "wn"} }\n',
      problem(64, 64, 64, "tn"))
    for cand in b:each() do
      local key = b:key(cand)
      local name, part, again = space.parse_key(key, b.space)
      assert(name == "keys" and part.layout == "tn" and part.dtype == "f16" and part.acc == "f32")
      equal(b:key(again), key)
      equal(math.type(again.wm), "integer")
    end
  end },
  { name = "a wrong key is one clear error", run = function()
    local sp = load_spec("badkey", 'param "tile" { 64, 128 }\nparam "w" { {1, 2}, {2, 1}, as = {"wm", "wn"} }\n')
    local good = "badkey:layout=nn,dtype=f16,acc=f32,tile=64,wm=1,wn=2"
    assert(space.parse_key(good, sp))
    local function refused(key, message)
      local ok, err = pcall(space.parse_key, key, sp)
      assert(not ok and tostring(err) == message, tostring(err))
    end
    refused("badkey", "key 'badkey' is not of the form space:name=value,...")
    refused("x:tile=1", "key 'x:tile=1' is not of space 'badkey'")
    local key = good:gsub("tile=64", "tile=65")
    refused(key, "key '" .. key .. "': 'tile' is 65; space 'badkey' has 64, 128")
    key = good:gsub("wn=2", "wn=1")
    refused(key, "key '" .. key .. "': 'wm,wn' is 1,1; space 'badkey' has {1, 2}, {2, 1}")
    key = good:gsub("tile=64,", "")
    refused(key, "key '" .. key .. "' lacks 'tile' of space 'badkey'")
    key = good .. ",tiel=64"
    refused(key, "key '" .. key .. "': space 'badkey' has no 'tiel' (did you mean 'tile'?)")
    key = good .. ",tile=64"
    refused(key, "key '" .. key .. "': 'tile' stands twice")
    key = good:gsub("nn", "xx")
    refused(key, "key '" .. key .. "': 'layout' is 'xx', not one of 'nn', 'tn', 'nt', 'tt'")
    key = good .. ","
    refused(key, "key '" .. key .. "': '' is not of the form name=value")
  end },
  { name = "an unknown space is named with its nearest neighbour", run = function()
    local ok, err = pcall(space.load, "comon")
    assert(not ok and tostring(err) == "no space 'comon' (did you mean 'common'?)", tostring(err))
    ok, err = pcall(space.load, "no/such.lua")
    assert(not ok and tostring(err):find("no/such.lua", 1, true), tostring(err))
  end },
  { name = "a space binds only to devices that run its code", run = function()
    assert(host.write(root .. dir .. "/hopperish.lua",
      'space "hopperish" { format = 1, template = "x.cu", arch = "sm_90a" }\n') ~= nil)
    local sp = space.load(root .. dir .. "/hopperish.lua")
    local ok, err = pcall(space.bind, sp, problem(64), device.get "a100")
    assert(not ok and tostring(err) == "space 'hopperish' is for sm_90a, 'a100' is sm_80", tostring(err))
    assert(space.bind(sp, problem(64), device.get "h100"))
    assert(not device.runs(device.get "rtx5090", "sm_90a") and device.runs(device.get "rtx5090", "sm_80"))
  end },
  { name = "the shipped spaces load, count, and have valid seeds where they have points", run = function()
    for _, dev in ipairs { "h200", "a100" } do
      for _, name in ipairs(space.list(device.get(dev))) do
        -- hopper has far too many points to list; what ring.lua says of them is alike
        local sp = space.load(name == "hopper" and root .. "tests/spaces/ring.lua" or name)
        for _, layout in ipairs { "nn", "tn", "nt", "tt" } do
          local size = name == "hopper_any" and 4095 or 4096
          local b = space.bind(sp, problem(size, 4096, 4096, layout), device.get(dev))
          local count, valid = b:count(), 0
          for cand, full in b:each() do
            valid = valid + 1
            if valid % 97 == 1 then
              assert(b:check(cand))
              local again = b:full(cand)
              for key, value in pairs(again) do equal(full[key], value) end
              equal(b:key(select(3, space.parse_key(b:key(cand), sp))), b:key(cand))
            end
          end
          equal(count.valid, valid)
          check_sum(count)
          for _, cand in ipairs(b:seeds()) do assert(b:check(cand)) end
        end
      end
    end
  end },
  { name = "200,000 points are listed", run = function()
    local b = bind("speed", [[
param "tile_m" { range = {16, 256, 16} }
param "tile_n" { range = {16, 256, 16} }
param "tile_k" { 16, 32, 64, 128 }
param "stages" { range = {2, 9} }
param "w" { {1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 4}, {4, 2}, {4, 4}, {1, 4}, as = {"wm", "wn"} }
param "swizzle" { 0, 1, 2, 3 }
let "smem" "stages * (tile_m + tile_n) * tile_k * 2"
let "threads" "32 * wm * wn"
let "regs" "tile_m * tile_n // threads"
must "fits" { "smem <= 4 * device.smem_per_block", why = "x" }
must "few" { "regs <= 100000 and tile_m % 16 == 0", why = "x" }
]])
    local n = 0
    for _ in b:each() do
      n = n + 1
      if n == 200000 then break end
    end
    equal(n, 200000)
  end },
}
