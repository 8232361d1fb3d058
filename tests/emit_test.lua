-- Kernels and their descriptors as text: what is emitted, and what is refused, with a toy space and
-- templates that the tests write themselves; then select and `loom gen` with the real spaces.

local desc = require "desc"
local device = require "device"
local emit = require "emit"
local fail = require "fail"
local outdir = require "outdir"
local select_ = require "select"
local sh = require "tests_sh"
local verbs = require "verbs_flow"

local dir = sh.tmpdir "emit"

local toy = [[
//@ launch { args = {"A", "B", "C", "M", "N", "K"}, grid = "tiles", tile = {tile_m, 64},
//@   block = 128, smem = 0 }
constexpr int tile_m = $tile_m;
//@ for i = 1, 2 do
int x$i = $(i * tile_m);
//@ end
]]

-- A fresh template per test: the name must differ, because templates stay loaded.
local serial = 0
local function item(text, more)
  serial = serial + 1
  local name = "toy" .. serial .. ".cu"
  assert(host.write(dir .. "/templates/" .. name, text) ~= nil)
  local full = { tile_m = 64, layout = "tn", dtype = "f16", acc = "f32", M = 512, N = 512, K = 512 }
  for k, v in pairs(more or {}) do full[k] = v end
  return {
    b = { space = { name = "toy", template = name, doc = "a toy", arch = "sm_80", params = {}, order = {} },
          device = { arch = "sm_86" } },
    cand = { tile_m = full.tile_m },
    full = full, key = "toy:layout=tn,dtype=f16,acc=f32,tile_m=" .. full.tile_m,
  }
end

local function render(text, more)
  emit.dir = dir .. "/templates"
  local ok, r = pcall(emit.render, item(text, more))
  emit.dir = nil
  if not ok then error(r, 0) end
  return r
end

-- The text of the refusal that `text` as a template meets.
local function refusal(text, more)
  local ok, err = pcall(render, text, more)
  assert(not ok, "it is not refused")
  return fail.text(err) or error("an internal fault: " .. tostring(err))
end

local function expect(text, pattern)
  local said = refusal(text)
  assert(said:find(pattern, 1, true), "says: " .. said)
end

-- A launch directive; `more` is added to it or replaces its fields.
local function launch(more)
  return '//@ launch { args = {"A", "B", "C"}, grid = "tiles", tile = {64, 64}, block = 128, '
         .. "smem = 0" .. more .. " }\n"
end

local function rendered_text()
  local r = render(toy)
  assert(r.stem == "toy-" .. host.sha256(r.key):sub(1, 12))
  local head, body = r.text:match("^(.-)\n\n(.*)$")
  assert(head == "// toy: a toy\n// key   " .. r.key .. "\n// hash  " .. r.hash .. "   template toy"
         .. serial .. ".cu\n// again make gen KEY='" .. r.key .. "'", head)
  assert(body == "constexpr int tile_m = 64;\nint x1 = 64;\nint x2 = 128;\n", body)
end

local function descriptor_bytes()
  local r = render(toy)
  local want = '{"loom":1,"kernel":"loom_kernel","key":"toy:layout=tn,dtype=f16,acc=f32,tile_m=64",'
    .. '"arch":"sm_80","layout":"tn","dtype":"f16","acc":"f32","args":["A","B","C","M","N","K"],'
    .. '"grid":{"rule":"tiles","tile":[64,64],"split_k":1,"ctas_per_sm":1},"block":128,'
    .. '"cluster":1,"smem":0,"cooperative":false,"pdl":false,"tensors":[],'
    .. '"workspace":{"bytes":0,"init":"none"},'
    .. '"legal":{"m":1,"n":1,"k":1,"ld":1,"align":16,"M":0,"N":0,"K":0,"resident":false}}\n'
  assert(r.desc == want, r.desc)
  assert(desc.key(r.desc) == r.key)
end

local tensors = [[
//@ launch { args = {"tmap_a", "C"}, grid = "persistent", tile = {64, 64}, block = 128, smem = 1,
//@   pdl = true, legal = {m = 8, K = 512}, tensors = {
//@     {name = "tmap_a", operand = "A", dims = {"K", "M"}, stride = "lda", box = {64, 64},
//@      swizzle = 128}} }
]]

local function tensor_bytes()
  local r = render(tensors)
  assert(r.desc:find('"tensors":[{"name":"tmap_a","operand":"A","dims":["K","M"],"stride":"lda",'
                     .. '"box":[64,64],"swizzle":128,"l2":0}]', 1, true), r.desc)
  assert(r.desc:find('"legal":{"m":8,"n":1,"k":1,"ld":1,"align":16,"M":0,"N":0,"K":512,', 1, true))
end

local function written_once()
  emit.dir = dir .. "/templates"
  local one = item(toy)
  host.remove(dir .. "/out/" .. emit.stem("toy", one.key) .. ".cu")
  host.remove(dir .. "/out/" .. emit.stem("toy", one.key) .. ".json")
  local list, changed = emit.all({ one, one }, dir .. "/out")
  assert(#list == 1 and #list[1].items == 2 and changed == 2)
  local text = host.read(list[1].cu)
  local _, again = emit.all({ one }, dir .. "/out")
  emit.dir = nil
  assert(again == 0 and host.read(list[1].cu) == text and text == list[1].text)
end

local function size_dependence()
  emit.dir = dir .. "/templates"
  local one = item(launch "" .. "$tiles\n", { tiles = 4 })
  local full = { tiles = 9, layout = "tn", dtype = "f16", acc = "f32" }
  local two = { b = one.b, cand = one.cand, key = one.key, full = full }
  local ok, err = pcall(emit.all, { one, two }, dir .. "/out")
  emit.dir = nil
  assert(not ok and fail.text(err):find("depends on the problem's size", 1, true), tostring(err))
end

local function machine_words()
  local r = render(toy)
  for _, word in ipairs { host.root, "/home", "/tmp" } do
    assert(not r.text:find(word, 1, true) and not r.desc:find(word, 1, true), word)
  end
end

-- ------------------------------------------------------------------------------- select and gen

local function problem(m, n, k, layout)
  return { M = m, N = n, K = k, layout = layout, dtype = "f16", acc = "f32" }
end

local h200 = device.get "h200"

-- f's results with stdout captured (the last result) and stderr dropped.
local function quietly(f, ...)
  local out, err, parts = host.out, host.err, {}
  host.out, host.err = function(text) parts[#parts + 1] = text end, function() end
  local ok, result = pcall(f, ...)
  host.out, host.err = out, err
  if not ok then error(result, 0) end
  return result, table.concat(parts)
end

local function names(items)
  local list, seen = {}, {}
  for _, it in ipairs(items) do
    local name = it.b.space.name
    if not seen[name] then list[#list + 1] = name end
    seen[name] = true
  end
  table.sort(list)
  return table.concat(list, " ")
end

local function shares()
  local function of(p, n, spaces)
    return names(quietly(select_.pick, p, h200, { n = n, space = spaces }))
  end
  local all = { "hopper", "mma", "simt" }
  assert(of(problem(64, 64, 64, "tn"), 3) == "hopper mma simt")
  assert(of(problem(4096, 4096, 4096, "tn"), 3, all) == "hopper mma simt")
  assert(of(problem(4096, 4096, 4096, "nt"), 8, all) == "hopper mma simt")
  -- what is hopelessly slow there stays out unless it is asked for
  assert(of(problem(4096, 4096, 4096, "tn"), 64) == "hopper mma")
  assert(of(problem(101, 77, 33, "tn"), 8) == "hopper_any simt")
end

local function bounded()
  local p = problem(1024, 1024, 1024, "nn")
  local one, two = select_.pick(p, h200, { n = 7 }), select_.pick(p, h200, { n = 7 })
  assert(#one == 7 and #two == 7 and #select_.pick(p, h200, {}) == 16)
  for i, it in ipairs(one) do
    assert(it.key == two[i].key and (i == 1 or one[i - 1].ns <= it.ns))
  end
end

local function unserved()
  local ok, err = pcall(select_.pick, problem(64, 63, 64, "nt"), h200, { space = { "mma" } })
  assert(not ok and fail.text(err):find("^64x63x64 nt: space 'mma' has no candidate: without rule '"),
         tostring(err))
end

local function keyed()
  local p = problem(512, 512, 512, "tn")
  local key = select_.pick(p, h200, { n = 1 })[1].key
  local opt = { key = key, device = h200, problems = { problem(512, 512, 512, "nn"), p } }
  assert(#select_.problems(opt) == 1 and select_.problems(opt)[1] == p)
  assert(select_.pick(p, h200, opt)[1].key == key)
  opt.problems = {}
  assert(select_.problems(opt)[1].layout == "tn")
end

local function broken_key()
  local key = "mma:layout=tn,dtype=f16,acc=f32,tile_m=256,tile_n=256,tile_k=64,stages=6,warps_m=4,"
              .. "warps_n=2,group_m=1"
  local ok, err = pcall(select_.pick, problem(512, 512, 512, "tn"), h200, { key = key })
  assert(not ok and fail.text(err):find("^the key breaks '[%w-]+' at 512x512x512 on h200: "),
         tostring(err))
end

local function gen(more)
  local opt = { device = h200, nvcc = "none", out = dir .. "/gen", n = 4,
                problems = { problem(1024, 1024, 1024, "nn"), problem(1024, 1024, 1024, "tn") } }
  for k, v in pairs(more or {}) do opt[k] = v end
  return quietly(verbs.gen, opt)
end

local function files()
  local out = {}
  for _, name in ipairs(host.list(dir .. "/gen/kernels") or {}) do
    out[name] = host.read(dir .. "/gen/kernels/" .. name)
  end
  return out
end

local function gen_twice()
  for name in pairs(files()) do host.remove(dir .. "/gen/kernels/" .. name) end
  local code, text = gen()
  local first = files()
  local where = "8 kernels in " .. outdir.shown(dir) .. "/gen/kernels/"
  assert(code == 0 and text:find(where, 1, true), text)
  assert(text:find("16 files changed\n$") and text:find("mma%-%x+"), text)
  local _, again = gen()
  assert(again:find(" 0 files changed\n$"), again)
  for name, bytes in pairs(files()) do assert(first[name] == bytes, name) end
end

local function gen_keeps()
  host.write(dir .. "/gen/kernels/simt-000000000000.cu", "// old\n")
  gen()
  assert(files()["simt-000000000000.cu"] == "// old\n")
end

local function gen_key()
  local key = select_.pick(problem(512, 512, 512, "tn"), h200, { n = 1 })[1].key
  for name in pairs(files()) do host.remove(dir .. "/gen/kernels/" .. name) end
  local code = gen { key = key, problems = {} }
  local count = 0
  for _ in pairs(files()) do count = count + 1 end
  local stem = emit.stem(key:match("^[%w_]+"), key)
  assert(code == 0 and count == 2 and files()[stem .. ".cu"]:find(key, 1, true))
end

-- SIGINT while candidates are chosen for many problems: one line, nothing written.
local function interrupted_gen()
  local out, list = sh.tmpdir "interrupted gen", {}
  for i = 1, 400 do list[i] = string.format("%dx512x512", 64 * i) end
  assert(host.write(out .. "/many.txt", table.concat(list, "\n")))
  local child = host.spawn { argv = { sh.loom, "gen", "SHAPES=" .. out .. "/many.txt", "NVCC=none", "SPACE=mma,simt",
                                      "OUT=" .. out }, stderr = out .. "/err" }
  child:recv(1) -- nothing is printed before the end
  assert(sh.run({ "sh", "-c", "kill -INT " .. child:pid() }).code == 0)
  while child:recv(60) do end
  assert(child:close() == 1)
  local said = assert(host.read(out .. "/err"))
  assert(said:find("interrupted: candidates of %d+ of 800 problems chosen, nothing written\n$"), said)
  assert(not host.stat(out .. "/kernels"), "it went on")
  sh.remove(out)
end

-- A template of one's own needs no entry in the model; what it must not do is refused at its line.
local function own_template()
  local copy = sh.tmpdir "own template"
  for _, part in ipairs { "lua", "spaces", "templates" } do
    assert(sh.run({ "cp", "-r", host.root .. "/" .. part, copy .. "/" }).code == 0)
  end
  assert(host.write(copy .. "/spaces/mine.lua", 'space "mine" { format = 1, base = "simt", template = "mine.cu", '
                    .. 'arch = "sm_80", doc = "mine" }\n'))
  local simt = assert(host.read(copy .. "/templates/simt.cu"))
  local function weave(text)
    assert(host.write(copy .. "/templates/mine.cu", text) ~= nil)
    return sh.run({ sh.loom, "gen", "SHAPE=64x64x64", "SPACE=mine", "N=2", "NVCC=none", "OUT=" .. copy .. "/out" },
                  { cwd = copy, timeout = 60 })
  end
  local good = weave(simt)
  assert(good.code == 0 and good.output:find("mine%-%x+"), good.output)
  for text, message in pairs {
    ["//@ while true do end\n" .. simt] = "templates/mine.cu:1: more than %d+ instructions: does it end%?",
    ["//@ tile_m = 32\n" .. simt] = "templates/mine.cu:1: cannot set 'tile_m': write 'local tile_m'",
  } do
    local bad = weave(text)
    assert(bad.code == 1 and bad.output:find(message), bad.output)
  end
  -- a space that somebody is at work on does not stop the others
  assert(host.write(copy .. "/spaces/wip.lua", 'space "wip" { format = 1,\n'))
  local others = sh.run({ sh.loom, "count", "SHAPE=64x64x64" }, { cwd = copy })
  assert(others.code == 0 and others.output:find("note: space 'wip' is left out: "), others.output)
  sh.remove(copy)
end

return {
  { name = "a kernel has a head with its key, then the template's text", run = rendered_text },
  { name = "a descriptor is one line with a fixed order of fields", run = descriptor_bytes },
  { name = "tensor maps and legality stand in the descriptor", run = tensor_bytes },
  { name = "a key is written once and equal files are left alone", run = written_once },
  { name = "text that depends on the problem's size is refused", run = size_dependence },
  { name = "no path of this machine is emitted", run = machine_words },
  { name = "two renders of one candidate are equal", run = function()
    assert(render(toy).text:gsub("toy%d+", "") == render(toy).text:gsub("toy%d+", ""))
  end },
  { name = "an unknown name stands at the template's line", run = function()
    expect(launch "" .. "int x = $tile_q;\n", "templates/toy" .. serial + 1 .. ".cu:2: ")
    expect(launch "" .. "int x = $tile_q;\n", "'tile_q'")
  end },
  { name = "M is not to be pasted while the key does not name it", run = function()
    expect(launch "" .. "int m = $M;\n", "not part of the key")
  end },
  { name = "a template without launch is refused", run = function()
    expect("int x;\n", "declares no launch")
  end },
  { name = "a second launch is refused", run = function()
    expect(launch "" .. launch "", "called twice")
  end },
  { name = "an unknown launch field is refused with its name", run = function()
    expect(launch ", blocks = 3", "unknown field 'blocks'")
    expect(launch ", legal = {q = 3}", "unknown field 'q'")
  end },
  { name = "a float in a launch is refused", run = function()
    expect(launch ", cluster = 2.0", "not an integer")
  end },
  { name = "a launch of half a warp is refused", run = function()
    expect(launch ", block = 48", "not whole warps")
  end },
  { name = "what is no text is named in a launch, and not by its address", run = function()
    expect(launch ", grid = {}", "grid is 'a table', not one of")
    expect(launch ", block = {}", "block is a table, not an integer")
    expect(launch ", args = {{}}", "unknown argument 'a table'")
    expect(launch ", [{}] = 1", "unknown field 'a table'")
    expect(launch ", tensors = {x = 1}", "tensors is not a list")
    expect(launch ', args = {"A", "B", "C", more = "K"}', "args is not a list")
    expect(launch ", tile = {64, 64, 64}", "tile is not a list of two")
  end },
  { name = "a render that takes too much ends with its line", run = function()
    expect(launch "" .. 'int x;\n//@ local s = "x" for _ = 1, 40 do s = s .. s end\n',
           "cu:2: behind this line: not enough memory: a render may take 256 MiB (KEY='toy:")
    expect('//@ local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1 << 20) .. i end\n',
           "cu:1: not enough memory: a render may take 256 MiB (KEY='toy:")
    expect(launch "" .. '//@ local s = ("x"):rep(40 << 20)\n' .. ("$s"):rep(50) .. "\n",
           "cu:3: more than 64 MiB of output")
    expect(launch "" .. '$(("\\n"):rep(40 << 20))\n', "cu:2: more than 2097152 lines of output")
    assert(render(toy), "and the next one is as ever")
  end },
  { name = "an error of a template is one line", run = function()
    expect('//@ error("a\\nb")\n', "cu:1: a\\10b (KEY='")
  end },
  { name = "a template may have any name, and is a file", run = function()
    assert(host.write(dir .. "/templates/odd.lua", "$nope\n") ~= nil)
    expect('//@ include "odd.lua"\n', "templates/odd.lua:1: unknown name 'nope' (called from templates/toy")
    assert(sh.run({ "mkfifo", dir .. "/templates/pipe.cu" }).code == 0)
    expect('//@ include "pipe.cu"\n', "cannot open 'templates/pipe.cu'")
  end },
  { name = "an argument that is no tensor and no pointer is refused", run = function()
    expect(launch ', args = {"tmap_a"}', "unknown argument 'tmap_a'")
  end },
  { name = "a missing template is one line, at the space", run = function()
    local it = item(toy)
    it.b.space = { name = "toy", file = "toy.lua", line = 3, template = "simd.cu" }
    local ok, err = pcall(emit.render, it)
    local want = "toy.lua:3: space 'toy': no template 'templates/simd.cu' (did you mean 'simt.cu'?)"
    assert(not ok and fail.text(err) == want, tostring(err))
  end },
  { name = "every space that can serve a problem keeps one candidate", run = shares },
  { name = "N bounds the candidates, and a pick repeats", run = bounded },
  { name = "a problem that no space can serve is refused with the rule", run = unserved },
  { name = "a key picks its own candidate, and the problem it is valid for", run = keyed },
  { name = "a key that breaks a rule is refused with the rule", run = broken_key },
  { name = "gen twice writes the same bytes, and nothing the second time", run = gen_twice },
  { name = "gen leaves the kernels of earlier runs", run = gen_keeps },
  { name = "gen KEY= writes exactly that kernel", run = gen_key },
  { name = "a template of one's own works, and what it must not do is refused", run = own_template },
  { name = "Ctrl-C while candidates are chosen ends gen", run = interrupted_gen },
}
