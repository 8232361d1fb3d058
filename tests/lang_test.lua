-- The statements beyond domains and rules: pins, forbids, search, inheritance, the effective spec as text.

local device = require "device"
local dsl = require "dsl"
local flat = require "flat"
local space = require "space"

local PROBLEM = { M = 4096, N = 4096, K = 4096, layout = "nn", dtype = "f16", acc = "f32" }

local dir = "out/build/test/lang" -- as messages show it
local root = host.root .. "/"

local function write(name, text)
  assert(host.write(root .. dir .. "/" .. name .. ".lua", text) ~= nil)
end

-- Writes a spec into the test's folder and loads it.
local function spec(name, text)
  write(name, text)
  return space.load(root .. dir .. "/" .. name .. ".lua")
end

local function equal(got, want)
  assert(got == want, string.format("got %s, want %s", tostring(got), tostring(want)))
end

local function bind(sp, problem)
  return space.bind(sp, problem or PROBLEM, device.get "h200")
end

local function param_of(sp, name)
  for _, param in ipairs(sp.params) do
    if param.name == name then return param end
  end
  error("no param " .. name)
end

local function rows_text(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = dsl.row_text(row) end
  return table.concat(out, " ")
end

local function domain(sp, name)
  return rows_text(param_of(sp, name).domain)
end

local function labels(sp)
  local out = {}
  for i, st in ipairs(sp.statements) do out[i] = dsl.label(st) end
  return table.concat(out, "; ")
end

local function refused(name, text, want)
  local ok, err = pcall(spec, name, text)
  assert(not ok, "is accepted")
  equal(tostring(err), (want:gsub("DIR", dir)))
end

-- Everything a space means, as text: two spaces are the same when these are.
local function meaning(sp)
  local out = { sp.name, sp.doc, tostring(sp.template), tostring(sp.arch), table.concat(sp.order, " "), labels(sp) }
  local function add(...) out[#out + 1] = table.concat({ ... }, " | ") end
  for _, p in ipairs(sp.params) do
    add("param", p.name, table.concat(p.names, ","), rows_text(p.rows), rows_text(p.domain), tostring(p.tied),
      p.default and dsl.row_text(p.default) or "-", tostring(p.default_at), tostring(p.pinned),
      p.st.pin and dsl.row_text(p.st.pin) or "-", tostring(p.st.when), tostring(p.st.doc))
  end
  for _, let in ipairs(sp.lets) do add("let", let.name, let.st.expr) end
  for _, list in ipairs { sp.musts, sp.prefers } do
    for _, rule in ipairs(list) do add(rule.kind, rule.name, rule.expr and rule.expr.text or rule.st.expr, rule.why) end
  end
  for _, seed in ipairs(sp.seeds) do
    local at = {}
    for i in ipairs(sp.params) do at[i] = tostring(seed.rows[i]) end
    add("seed", table.concat(at, ","))
  end
  for _, key in ipairs(dsl.search_keys) do add("search", key, tostring(sp.search[key])) end
  return table.concat(out, "\n")
end

local function without_comments(text)
  return (("\n" .. text):gsub("\n%-%-[^\n]*", ""))
end

local function check_flat(sp)
  local text = flat.text(sp)
  assert(not text:find("base = ", 1, true))
  local again = space.load_text(root .. dir .. "/flat/" .. sp.name .. ".lua", text)
  equal(meaning(again), meaning(sp))
  assert(again.base == nil)
  equal(without_comments(flat.text(again)), without_comments(text))
  return text
end

local BASE = [[
space "all_base" { format = 1, template = "simt.cu", arch = "sm_80", doc = "of the base" }
given { "M", "N", "layout" }
param "a" { 1, 2, 4, 8, default = 2, doc = "first" }
param "r" { range = {2, 12, 2} }
param "w" { {1, "x"}, {2, "y"}, {3, "x"}, as = {"wn", "kind"}, default = {2, "y"} }
param "gone" { 1, 2 }
param "p" { 1, 2, 3, default = 1, when = "a > 1", pin = 3 }
let "twice" "2 * a"
let "unused" "gone + 1"
must "small" { "twice <= 16", why = "{twice} is \"too\" large\\much" }
must "old" { "gone == 1", why = "old" }
prefer "even" { "r % 4 == 0", why = "r is {r}" }
forbid { a = 8, wn = 3, why = "of the base" }
seed { a = 1, r = 4, w = {3, "x"} }
seed { a = 4, r = 12 }
seed { gone = 2 }
search { strategy = "evolve", budget = "2h", n = 4 }
]]

local CHILD = [[
space "all" { format = 1, base = "all_base", doc = "größer: all statements" }
drop "gone"
drop "unused"
drop "old"
extend "a" { 16, -3, 0x40 }
narrow "r" { range = {3, 8} }
extend "w" { {9, "y"}, default = {9, "y"} }
narrow "w" { {9, "y"}, {3, "x"}, doc = "both" }
param "p" { 1, 2, 3, 7, default = 1, pin = 2, when = "a > 2" }
param "q" { "none", "k", pin = "k" }
let "twice" [=[2 *
    a]=]
prefer "small" { "a ~= 8", why = [=[many
      lines, 'quoted']=] }
forbid { w = {9, "y"}, layout = "tt", a = 1, why = "known bad: {a}" }
seed { a = 16, q = "none" }
search { budget = "90s", rng = 7, mutator = "random" }
]]

return {
  { name = "a pin leaves one value and the domain written", run = function()
    local sp = spec("pin", [[
space "pin" { format = 1, template = "simt.cu" }
param "a" { 1, 2, 4, default = 1, pin = 4 }
param "w" { {1, 2}, {2, 4}, as = {"x", "y"}, pin = {2, 4} }
param "b" { 1, 2 }
seed { a = 2, b = 2 }
]])
    local a, w = param_of(sp, "a"), param_of(sp, "w")
    equal(rows_text(a.rows) .. "; " .. rows_text(a.domain), "4; 1 2 4")
    assert(a.pinned and a.default[1] == 4 and a.default_at == 1 and #a.st.rows == 3)
    equal(rows_text(w.rows) .. "; " .. rows_text(w.domain), "{2, 4}; {1, 2} {2, 4}")
    assert(w.default == nil and w.default_at == nil and not param_of(sp, "b").pinned)
    equal(sp.seeds[1].rows[a.index], 1)
    local b = bind(sp)
    equal(b:count().valid, 2)
    equal(b:key(b:seeds()[1]), "pin:layout=nn,dtype=f16,acc=f32,a=4,x=2,y=4,b=2")
  end },
  { name = "a pin and its when agree", run = function()
    local b = bind(spec("pin2", [[
space "pin2" { format = 1, template = "simt.cu" }
param "a" { 1, 2 }
param "s" { 1, 2, 4, default = 1, when = "a > 1", pin = 4 }
]]))
    equal(b:count().valid, 2)
    for cand in b:each() do equal(cand.s, 4) end
  end },
  { name = "a seed of a pinned parameter must be right all the same", run = function()
    refused("pin3", [[
space "pin3" { format = 1, template = "simt.cu" }
param "a" { 1, 2, pin = 1 }
seed { a = 3 }
]], "DIR/pin3.lua:3: seed: 'a' has no value 3")
  end },
  { name = "a forbid is a rule over values, in sorted order of names", run = function()
    local sp = spec("forbid", [[
space "forbid" { format = 1, template = "simt.cu" }
given { "layout" }
param "w" { {1, "x"}, {2, "y"}, as = {"wn", "kind"} }
param "a" { 1, 2, -9223372036854775807 - 1 }
forbid { w = {2, "y"}, layout = "nn", a = 1, why = "bad with {a}" }
must "r" { "a < 3", why = "x" }
forbid { a = 77, why = "what the domain lacks does no harm" }
forbid { a = -9223372036854775807 - 1, kind = "x", why = "least" }
]])
    local names, texts = {}, {}
    for i, rule in ipairs(sp.musts) do names[i], texts[i] = rule.name, rule.expr.text end
    equal(table.concat(names, " "), "forbid-1 r forbid-2 forbid-3")
    equal(texts[1], "not (a == 1 and layout == 'nn' and wn == 2 and kind == 'y')")
    equal(texts[4], "not (a == -9223372036854775807 - 1 and kind == 'x')")
    local keys = {}
    for cand in bind(sp):each() do keys[#keys + 1] = cand.wn .. cand.kind .. cand.a end
    equal(table.concat(keys, " "), "1x1 1x2 2y2 2y" .. math.mininteger)
  end },
  { name = "forbids are counted through base and child", run = function()
    write("fb", 'space "fb" { format = 1 }\nparam "a" { 1, 2, 3 }\nforbid { a = 1, why = "one" }\n')
    local sp = spec("fc", [[
space "fc" { format = 1, base = "fb", template = "simt.cu" }
forbid { a = 2, why = "two" }
]])
    equal(labels(sp), "param 'a'; forbid 'forbid-1'; forbid 'forbid-2'")
    equal(sp.musts[2].st.file, dir .. "/fc.lua")
    equal(sp.base.musts[1].name, "forbid-1")
    equal(bind(sp):count().valid, 1)
  end },
  { name = "a forbid of the base follows what the child makes of its parameter", run = function()
    write("fb2", 'space "fb2" { format = 1 }\nparam "w" { {1, 2}, {2, 2}, as = {"x", "y"} }\n'
      .. 'forbid { w = {1, 2}, why = "bad" }\n')
    local sp = spec("fc2", 'space "fc2" { format = 1, base = "fb2" }\nparam "w" { {1, 2}, {3, 2}, as = {"u", "v"} }\n')
    equal(sp.statements[2].expr, "not (u == 1 and v == 2)")
    equal(sp.base.statements[2].expr, "not (x == 1 and y == 2)")
  end },
  { name = "search keys are merged one by one", run = function()
    write("sb", 'space "sb" { format = 1 }\nparam "a" { 1 }\nsearch { budget = "2m", n = 4, rng = 1 }\n')
    local sp = spec("sc", 'space "sc" { format = 1, base = "sb" }\nsearch { rng = 0, mutator = "llm" }\n')
    local s = sp.search
    assert(s.budget == 120 and s.n == 4 and s.rng == 0 and s.mutator == "llm" and s.strategy == nil)
    equal(sp.base.search.rng, 1)
    equal(next(spec("sn", 'space "sn" { format = 1 }\n').search), nil)
  end },
  { name = "a name that only children know hides nothing else in a base", run = function()
    refused("open1", [[
space "open1" { format = 1 }
given { "M" }
let "x" "2 * y"
let "y" "tile_m + 1"
let "z" "x + 1"
must "first" { "x > 0", why = "{z}" }
must "second" { "not (M > 0) + 1", why = "wrong whatever tile_m is" }
]], "DIR/open1.lua:7: must 'second': '+' wants an integer, 'not (M > 0)' is a boolean in 'not (M > 0) + 1' at column 1")
    refused("open2", [[
space "open2" { format = 1 }
let "a" "tile_m"
let "b" "c"
let "c" "b"
]], "DIR/open2.lua:3: let 'b': depends on itself: b -> c -> b")
    local sp = spec("open3", 'space "open3" { format = 1 }\nlet "x" "2 * y"\nlet "y" "tile_m"\nmust "r" { "y > x", why = "no" }\n')
    assert(sp.missing:find("let 'y': unknown name 'tile_m'", 1, true), sp.missing)
  end },
  { name = "a seed of a base's base waits for the parameter that a grandchild declares", run = function()
    spec("wait1", 'space "wait1" { format = 1 }\nseed { tile_m = 64 }\n')
    spec("wait2", 'space "wait2" { format = 1, base = "wait1" }\nparam "tile_n" { 8 }\n')
    local sp = spec("wait3", 'space "wait3" { format = 1, base = "wait2", template = "simt.cu" }\nparam "tile_m" { 32, 64 }\n')
    equal(#sp.seeds, 1)
  end },
  { name = "drop takes statements out, and only inherited ones", run = function()
    write("all_base", BASE)
    local sp = spec("dropped", [[
space "dropped" { format = 1, base = "all_base" }
drop "unused"
drop "old"
drop "gone"
drop "even"
param "old" { 5 }
]])
    assert(not sp.names.gone and not sp.names.unused and #sp.prefers == 0)
    equal(sp.params[#sp.params].name, "old") -- a parameter now
    equal(#sp.seeds, 2) -- the seed that asks for `gone` is left out
  end },
  { name = "what a dropped name leaves behind is told with the drop's place", run = function()
    write("all_base", BASE)
    refused("dropped2", 'space "dropped2" { format = 1, base = "all_base" }\ndrop "gone"\n',
      "DIR/all_base.lua:9: let 'unused': 'gone' is gone: DIR/dropped2.lua:2 drops it")
    refused("dropped3", 'space "dropped3" { format = 1, base = "all_base" }\ndrop "w"\n',
      "DIR/all_base.lua:13: forbid 'forbid-1': 'wn' is gone: DIR/dropped3.lua:2 drops it")
  end },
  { name = "extend adds at the end, narrow keeps the order; the base stays as it is", run = function()
    write("all_base", BASE)
    local sp = spec("changed", [[
space "changed" { format = 1, base = "all_base" }
extend "a" { 16, 3 }
narrow "a" { 3, 4, 1, default = 4, doc = "fewer" }
extend "r" { range = {14, 18, 2} }
narrow "r" { range = {4, 16, 4}, default = 8 }
]])
    equal(domain(sp, "a"), "1 4 3")
    equal(domain(sp, "r"), "4 8 12 16")
    local a = param_of(sp, "a")
    assert(a.default[1] == 4 and a.default_at == 2 and a.st.doc == "fewer")
    equal(a.st.file .. ":" .. a.st.line, dir .. "/all_base.lua:3")
    equal(table.concat(a.st.touched, " "), dir .. "/changed.lua:2 " .. dir .. "/changed.lua:3")
    equal(domain(sp.base, "a"), "1 2 4 8")
    assert(param_of(sp.base, "a").st.touched == nil)
  end },
  { name = "an inherited seed that asks for what went is left out, an own one refused", run = function()
    write("all_base", BASE)
    local sp = spec("seeds", 'space "seeds" { format = 1, base = "all_base" }\nnarrow "a" { 1, 2 }\n')
    equal(#sp.seeds, 2)
    equal(select(2, labels(sp):gsub("seed", "")), 2)
    refused("seeds2", 'space "seeds2" { format = 1, base = "all_base" }\nnarrow "a" { 1, 2 }\nseed { a = 4 }\n',
      "DIR/seeds2.lua:3: seed: 'a' has no value 4")
  end },
  { name = "a seed left out does not come back in a grandchild", run = function()
    write("all_base", BASE)
    write("mid", 'space "mid" { format = 1, base = "all_base" }\nnarrow "a" { 1, 2 }\n')
    local sp = spec("grand", 'space "grand" { format = 1, base = "mid" }\nextend "a" { 4 }\n')
    equal(#sp.seeds, 2)
    equal(table.concat(param_of(sp, "a").st.touched, " "), dir .. "/mid.lua:2 " .. dir .. "/grand.lua:2")
  end },
  { name = "a pin of the base goes with its value only", run = function()
    write("all_base", BASE)
    refused("pinned", 'space "pinned" { format = 1, base = "all_base" }\nnarrow "p" { 1, 2 }\n',
      "DIR/pinned.lua:2: narrow 'p': it is pinned to 3 at DIR/all_base.lua:7, which would go")
    equal(rows_text(param_of(spec("pinned2",
      'space "pinned2" { format = 1, base = "all_base" }\nextend "p" { 4 }\n'), "p").rows), "3")
  end },
  { name = "a rule and a value of one name are told apart where the child stands", run = function()
    write("rb", 'space "rb" { format = 1 }\ngiven { "M" }\nmust "r" { "M > 0", why = "x" }\n')
    refused("rc", 'space "rc" { format = 1, base = "rb" }\nlet "r" "1"\n',
      "DIR/rc.lua:2: let 'r': the name 'r' is already declared at DIR/rb.lua:3")
    spec("rd", 'space "rd" { format = 1, base = "rb" }\ndrop "r"\nlet "r" "1"\n')
  end },
  { name = "more than 16 bases, one behind the other, are refused", run = function()
    write("chain0", 'space "chain0" { format = 1 }\n')
    for i = 1, 17 do write("chain" .. i, string.format('space "chain%d" { format = 1, base = "chain%d" }\n', i, i - 1)) end
    assert(space.load(root .. dir .. "/chain16.lua"))
    local ok, err = pcall(space.load, root .. dir .. "/chain17.lua")
    assert(not ok and tostring(err) == dir .. "/chain1.lua:1: space 'chain1': more than 16 bases, one behind the other",
      tostring(err))
  end },
  { name = "a base that has changed is read again, however far below", run = function()
    local function set(n) write("low", string.format('space "low" { format = 1 }\nparam "a" { %d }\n', n)) end
    local function value() return domain(space.load(root .. dir .. "/top.lua"), "a") end
    set(1)
    write("between", 'space "between" { format = 1, base = "low" }\n')
    write("top", 'space "top" { format = 1, base = "between" }\n')
    equal(value(), "1")
    local first = space.load(root .. dir .. "/top.lua").base
    assert(first == space.load(root .. dir .. "/top.lua").base) -- kept while it is the same
    set(2)
    equal(value(), "2")
    write("between", 'space "between" { format = 1, base = "low" }\nextend "a" { 3 }\n')
    equal(value(), "2 3")
    host.remove(root .. dir .. "/low.lua")
    local ok, err = pcall(value)
    assert(not ok and tostring(err) == dir .. "/between.lua:1: space 'between': no base 'low'", tostring(err))
  end },
  { name = "a base that is known may still close a circle", run = function()
    write("round1", 'space "round1" { format = 1 }\n')
    write("round2", 'space "round2" { format = 1, base = "round1" }\n')
    assert(spec("round3", 'space "round3" { format = 1, base = "round2" }\n'))
    local ok, err = pcall(space.load_text, root .. dir .. "/round1.lua", 'space "round1" { format = 1, base = "round2" }\n')
    assert(not ok and tostring(err) == dir .. "/round2.lua:1: space 'round2': inherits from itself: "
      .. "round1 -> round2 -> round1", tostring(err))
  end },
  { name = "a space and its bases are one file's worth", run = function()
    local lines = { 'space "much0" { format = 1 }' }
    for i = 1, 600 do lines[i + 1] = string.format('let "x%d" "%d"', i, i) end
    write("much0", table.concat(lines, "\n"))
    for i = 1, 600 do lines[i + 1] = string.format('let "y%d" "%d"', i, i) end
    lines[1] = 'space "much" { format = 1, base = "much0" }'
    refused("much", table.concat(lines, "\n"),
      "DIR/much.lua:401: let 'y400': more than 1000 statements, those of the bases counted")
    table.move(lines, 402, 601, 401) -- without y400 it is 1000: so many fit into a file as well
    local text = flat.text(spec("much", table.concat(lines, "\n", 1, 400)))
    equal(#space.load_text(root .. dir .. "/much.lua", text).lets, 999)
  end },
  { name = "a seed of a base is checked there, but for parameters that only a child declares", run = function()
    local base = 'space "sown" { format = 1 }\nparam "a" { 1, 2 }\nlet "x" "later + 1"\nseed { %s }\n'
    write("sown", base:format("a = 3"))
    refused("reap", 'space "reap" { format = 1, base = "sown", template = "simt.cu" }\nparam "later" { 5 }\n',
      "DIR/sown.lua:4: seed: 'a' has no value 3")
    write("sown", base:format("a = 2, later = 5"))
    local sp = spec("reap", 'space "reap" { format = 1, base = "sown", template = "simt.cu" }\nparam "later" { 5 }\n')
    equal(bind(sp):seeds()[1].a, 2)
  end },
  { name = "a file may have several ranges as long as one may be", run = function()
    local lines = { 'space "broad" { format = 1, template = "simt.cu" }' }
    for i = 1, 4 do lines[i + 1] = string.format('param "p%d" { range = {1, 65536} }', i) end
    equal(math.type(bind(spec("broad", table.concat(lines, "\n"))):total()), "float")
  end },
  { name = "a file that is no file, or too large, is refused", run = function()
    local function why(path) return tostring(select(2, pcall(space.load, path))) end
    equal(why("/dev/zero"), "/dev/zero:1: is no regular file")
    equal(why(root .. dir .. "/"), dir .. "/:1: is no regular file")
    write("large", 'space "large" { format = 1 }\n' .. ("-"):rep(1 << 20))
    equal(why(root .. dir .. "/large.lua"), dir .. "/large.lua:1: has 1048605 bytes; 1048576 are the most")
    local ok, err = pcall(space.load_text, root .. dir .. "/text.lua", ("\n"):rep((1 << 20) + 1))
    assert(not ok and tostring(err) == dir .. "/text.lua:1: has 1048577 bytes; 1048576 are the most", tostring(err))
  end },
  { name = "texts of several lines become one line", run = function()
    local sp = spec("lines", 'space "lines" { format = 1, template = "simt.cu", doc = [[\n  one\n\t two\n]] }\n'
      .. 'param "a" { 1, 2 }\nmust "r" { [[a == 1\n   or a == 2]], why = "x\\n y" }\n')
    equal(sp.doc, " one two")
    equal(sp.musts[1].expr.text, "a == 1 or a == 2")
    equal(sp.musts[1].why, "x y")
  end },
  { name = "the effective spec of every shipped space loads to the same space", run = function()
    local count = 0
    for _, name in ipairs(space.names()) do
      local sp = space.load(name)
      check_flat(sp)
      count = count + (sp.base and 1 or 0)
      local again = space.load_text(root .. dir .. "/flat/" .. name .. ".lua", flat.text(sp))
      if sp.template and device.runs(device.get "h200", sp.arch) then
        local p = setmetatable({ M = name == "hopper_any" and PROBLEM.M - 1 or nil }, { __index = PROBLEM })
        local a, b = bind(sp, p), bind(again, p)
        equal(b:count().valid, a:count().valid)
        equal(b:key(b:each()()), a:key(a:each()()))
      end
    end
    assert(count >= 3)
  end },
  { name = "the effective spec of a space with every statement loads to the same space", run = function()
    write("all_base", BASE)
    local text = check_flat(spec("all", CHILD))
    local function has(line) assert(text:find("\n" .. line .. "\n", 1, true), text) end
    has("-- " .. dir .. "/all_base.lua:3, extended at " .. dir .. "/all.lua:5\nparam \"a\" { 1, 2, 4, 8, 16, -3, 64, "
      .. 'default = 2, doc = "first" }')
    has('param "r" { range = { 4, 8, 2 } }') -- 4 6 8
    has('param "w" { { 3, "x" }, { 9, "y" }, as = { "wn", "kind" }, default = { 9, "y" }, doc = "both" }')
    has('param "p" { 1, 2, 3, 7, default = 1, pin = 2, when = "a > 2" }')
    has('let "twice" "2 * a"')
    has('prefer "small" { "a ~= 8", why = "many lines, \'quoted\'" }')
    has('forbid { a = 1, layout = "tt", w = { 9, "y" }, why = "known bad: {a}" }')
    has("-- " .. dir .. "/all.lua:17, over " .. dir .. "/all_base.lua:17\n"
      .. 'search { strategy = "evolve", mutator = "random", budget = "90s", rng = 7, n = 4 }')
  end },
  { name = "quotes and backslashes of a text survive in the effective spec", run = function()
    write("all_base", BASE)
    local text = check_flat(space.load(root .. dir .. "/all_base.lua"))
    assert(text:find([[why = "{twice} is \"too\" large\\much" }]], 1, true), text)
    assert(text:find('budget = "2h"', 1, true) and text:find("range = { 2, 12, 2 }", 1, true))
  end },
  { name = "a long list of values and the least integer survive in the effective spec", run = function()
    local sp = spec("long", [[
space "long" { format = 1, template = "simt.cu" }
local t = {}
for i = 1, 3000 do t[i] = i * i end
t[#t + 1] = -9223372036854775807 - 1
param "a" (t)
param "one" { range = {5, 5} }
]])
    local text = check_flat(sp)
    for line in text:gmatch("[^\n]+") do assert(#line <= 120, line) end
  end },
  { name = "a range that was changed is a range as long as it is one", run = function()
    write("all_base", BASE)
    local function r(name, change)
      return check_flat(spec(name, string.format('space "%s" { format = 1, base = "all_base" }\n%s\n', name, change)))
        :match('param "r" ([^\n]*)')
    end
    equal(r("range1", 'extend "r" { 14, 16 }'), "{ range = { 2, 16, 2 } }")
    equal(r("range2", 'extend "r" { 14, 17 }'), "{ 2, 4, 6, 8, 10, 12, 14, 17 }")
    equal(r("range3", 'extend "r" { 1 }'), "{ 2, 4, 6, 8, 10, 12, 1 }")
    equal(r("range4", 'narrow "r" { 8 }'), "{ range = { 8, 8 } }")
    equal(r("range5", 'narrow "r" { 8 }\nextend "r" { 4 }'), "{ 8, 4 }")
  end },
  { name = "random spaces and their effective specs are the same", run = function()
    math.randomseed(20, 25)
    local r = math.random
    for n = 1, 60 do
      local lines = { 'space "rand_base" { format = 1, template = "simt.cu" }' }
      for i = 1, r(2, 6) do
        local values, used = {}, {}
        for _ = 1, r(1, 6) do
          local x = r(-20, 99)
          if not used[x] then values[#values + 1], used[x] = x, true end
        end
        lines[#lines + 1] = string.format('param "p%d" { %s, default = %d%s }', i, table.concat(values, ", "),
          values[r(#values)], r(3) == 1 and ", pin = " .. values[r(#values)] or "")
        if r(2) == 1 then lines[#lines + 1] = string.format('forbid { p%d = %d, why = "n" }', i, values[1]) end
        if r(2) == 1 then lines[#lines + 1] = string.format('seed { p%d = %d }', i, values[#values]) end
      end
      write("rand_base", table.concat(lines, "\n") .. "\n")
      local sp = spec("rand", string.format('space "rand" { format = 1, base = "rand_base" }\n%s%s%s',
        r(2) == 1 and 'extend "p1" { 100, 101 }\n' or "", r(2) == 1 and 'extend "p2" { range = {200, 209, 3} }\n' or "",
        r(2) == 1 and 'must "p1-small" { "p1 < 50 or p2 < 50", why = "{p1}, {p2}" }\n' or ""))
      local ok, err = pcall(check_flat, sp)
      assert(ok, string.format("space %d: %s", n, err))
    end
  end },
  { name = "every preset has every figure, and every figure a source", run = function()
    local kinds = {}
    for _, source in ipairs(device.sources()) do kinds[source[1]] = #source[2] > 0 end
    assert(kinds.capability)
    for _, name in ipairs(device.names()) do
      assert(kinds[name], name)
      for _, field in ipairs(device.fields()) do
        local value, kind = device.get(name)[field], device.type(field)
        assert((math.type(value) or type(value)) == kind, name .. "." .. field)
        assert(kind == "string" or value > 0, name .. "." .. field)
        assert(device.source_of(field), field)
      end
    end
    for name in ("a100 rtx3090 rtx4090 l40s h100 h200 rtx5090"):gmatch("%S+") do device.get(name) end
    for field in ("smem_per_block smem_per_sm regs_per_sm sms l2 dram_gbs"):gmatch("%S+") do
      equal(device.type(field), "integer")
    end
  end },
}
