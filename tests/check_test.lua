-- loom check, against a stand-in for g++ and the CPU device: what is refused, how it is said, and that
-- whatever the device does is a verdict.

local check_ = require "check"
local cpu_build = require "cpu_build"
local desc = require "desc"
local desc_read = require "desc_read"
local device = require "device"
local emit = require "emit"
local fail = require "fail"
local narrow_kit = require "narrow_kit"
local keys = require "key_kit"
local kit = require "cpu_kit"
local select_ = require "select"
local sh = require "tests_sh"
local shapes = require "shapes"
local static = require "static"
local verbs = require "verbs_check"

local dir = sh.tmpdir "check"
local h200 = device.get "h200"

local function check(words, more)
  local opt = kit.opt(dir, words, more)
  if not (more and more.kernel) then opt.key = opt.key or kit.hopper end
  return kit.caught(verbs.check, opt)
end

local function kernel(key, problem)
  local opt = { key = key or kit.hopper, device = h200, problems = { problem } }
  return emit.render(select_.pick(select_.problems(opt)[1], h200, opt)[1])
end

-- ------------------------------------------------------------------------------- verdicts

local function fine()
  local code, said = check()
  assert(code == 0, said)
  assert(said:find("\nstatic   ok  shared memory 147,5%d%d of 232,448 B; registers %d+ a thread at most"), said)
  assert(said:find("\nverdict  ok: 12 runs\n", 1, true), said)
  local runs = 0
  for line in said:gmatch("[^\n]+") do runs = runs + (line:find("^run      ok  ") and 1 or 0) end
  assert(runs == 12, said)
  for _, word in ipairs { "128x128x192", "schedule 3", "cancel", "pdl" } do assert(said:find(word, 1, true), word) end
end

local function a_deadlock()
  local code, said = check "deadlock=hopper:"
  assert(code == 1)
  local place = "kernels/hopper%-%x+%.cu:"
  assert(said:find("\nreport   deadlock: 32 threads wait at [^\n]*" .. place .. "9 %(templates/wgmma.cu:%d+%)\n"), said)
  assert(said:find("\nverdict  refused: deadlock: all threads wait at [^\n]*" .. place
    .. "9 %(templates/wgmma.cu:%d+%), the other side at [^\n]*" .. place .. "10 "), said)
  local runs = 0
  for _ in said:gmatch("\nrun ") do runs = runs + 1 end
  assert(runs == 1, "the first finding is the verdict")
end

local function no_answers()
  for _, case in ipairs {
    { "crash", "exited with 3" }, { "garbled", "Segmentation fault" }, { "error", "cannot load" },
    { "refused", "no multiple of 8" }, { "endless", "calls nothing for 10 s" }, { "hang", "no answer in 1 s" },
  } do
    host.remove(dir .. "/count")
    local code, said = check(case[1] .. "=hopper:", { timeout = 1 })
    assert(code == 1 and said:find("\nverdict  refused: [^\n]*" .. case[2]), said)
    assert(case[1] ~= "hang" or kit.count(dir, "job") == 1, "what does not end is not run again")
  end
end

local function no_compile()
  sh.remove(dir .. "/cache")
  local code, said = check "fail=stages"
  assert(code == 1, said)
  assert(said:find("verdict  refused: it does not compile for the CPU device: [^\n]*hopper%-%x+.cu:7:3: error: planted"), said)
end

local function in_the_cache()
  host.remove(dir .. "/count")
  sh.remove(dir .. "/cache")
  check()
  check()
  assert(kit.count(dir, "compile") == 1 and kit.count(dir, "job") == 24)
end

local function for_a_shape()
  local p = { M = 4104, N = 4096, K = 4096, layout = "tn", dtype = "f16", acc = "f32" }
  local code, said = check(nil, { problems = { p } })
  assert(code == 0 and said:find("392x384x576", 1, true), said)
  assert(said:find("verdict  ok: 5 runs", 1, true), said)
end

-- ------------------------------------------------------------------------------- files

local function of_file()
  check()
  local k = kernel()
  local path = dir .. "/kernels/" .. k.stem .. ".cu"
  local code, said = check("deadlock=hopper:", { kernel = path })
  assert(code == 1 and said:find("templates/wgmma.cu:", 1, true), said)
  host.write(dir .. "/own.cu", k.text .. "// mine\n")
  host.write(dir .. "/own.json", k.desc)
  code, said = check("deadlock=hopper:", { kernel = dir .. "/own.cu" })
  assert(code == 1 and said:find("own.cu:9,", 1, true) and not said:find("templates/", 1, true), said)
  assert(check(nil, { kernel = dir .. "/own.cu" }) == 0)
end

local function descriptors_come_back()
  for _, key in ipairs { kit.hopper, "simt:layout=nn,dtype=f16,acc=f32,tile_m=64,tile_n=64,tile_k=16,thread_m=4,thread_n=4" } do
    local k = kernel(key)
    host.write(dir .. "/k.json", k.desc)
    local id, launch, line = desc_read.file(dir .. "/k.json", "k.json")
    assert(id.key == key and line == k.desc)
    id.arch = k.desc:match('"arch":"([^"]*)"')
    assert(desc.line(launch, id) == k.desc)
  end
  local line = kernel().desc
  for _, text in ipairs { "", "{", "[1,2", '{"loom":1}', (line:gsub('"key":"[^"]*"', '"key":5')),
                          (line:gsub('"dtype":"[^"]*",', "")), '{"loom":2,"grid":{}}', '{"loom":1,"grid":{}}', "{'a':1}" } do
    host.write(dir .. "/k.json", text)
    local ok, err = pcall(desc_read.file, dir .. "/k.json", "k.json")
    assert(not ok and fail.text(err):find("^k.json:1: "), tostring(err))
  end
end

local function of_spec()
  local code, said = check(nil, { kernel = narrow_kit.write(dir), layout = { "tn" } })
  assert(code == 0 and said:find("checked  2 kernels of 2, 0 refused", 1, true), said)
  host.remove(dir .. "/count")
  code, said = check("deadlock=hopper:", { kernel = host.root .. "/spaces/hopper.lua", jobs = 1 })
  assert(code == 1 and said:find("checked  1 kernels of 4, 1 refused", 1, true), said)
  assert(kit.count(dir, "job") == 1, "the first that is refused ends it")
  code, said = check("deadlock=hopper:", { kernel = host.root .. "/spaces/hopper.lua", n = 3 })
  assert(code == 1 and said:find("checked  3 kernels of 3, 3 refused", 1, true), said)
end

-- Layouts that the space does not have leave their share to the others.
local function spread()
  local code, said = check(nil, { kernel = host.root .. "/spaces/hopper.lua", n = 12, layout = { "nn", "tn", "nt", "tt" } })
  assert(code == 0 and said:find("checked  12 kernels of 12, 0 refused", 1, true), said)
  local values = { tile_m = {}, consumers = {}, split_k = {} }
  for key in said:gmatch("hopper:([^\n]*)") do
    for name, value in key:gmatch("([%l_]+)=(%d+)") do
      if values[name] then values[name][value] = true end
    end
  end
  for name, least in pairs { tile_m = 6, consumers = 3, split_k = 1 } do
    local n = 0
    for _ in pairs(values[name]) do n = n + 1 end
    assert(n >= least, name .. " has but " .. n .. " values")
  end
  local ok, err = pcall(check, nil, { kernel = host.root .. "/tests/spaces/ring.lua",
    problems = { { M = 7, N = 9, K = 11, layout = "tn", dtype = "f16", acc = "f32" } } })
  assert(not ok and fail.text(err):find "^space 'ring', 7x9x11 tn f16 acc f32: no point is left: [^\n]*eights", fail.text(err) or err)
end

local function words()
  local w = verbs.words { "hopper:layout=tn,a=1", "SHAPE=1x2x3", "out/x.cu" }
  assert(w[1] == "KEY=hopper:layout=tn,a=1" and w[2] == "SHAPE=1x2x3" and w[3] == "KERNEL=out/x.cu")
  local done = sh.run { sh.loom, "check" }
  assert(done.code == 2 and done.output:find("wants a key, a .cu with its .json beside it, or a spec", 1, true), done.output)
  done = sh.run { sh.loom, "check", "x.txt" }
  assert(done.code == 2 and done.output:find("'x.txt' is neither a key nor a .cu nor a .lua file", 1, true), done.output)
end

local function other_compilers()
  local clang = dir .. "/clang++"
  host.write(clang, "#!/bin/sh\necho clang version 14.0.6\n")
  sh.run { "chmod", "+x", clang }
  for cxx, why in pairs {
    [clang] = "CXX names '[^']*/clang%+%+', the CPU device compiles kernels with g%+%+: say CXX=g%+%+",
    ["no-such-compiler"] = "no compiler 'no%-such%-compiler', which CXX names",
    ["/bin/false"] = "'/bin/false %-%-version' failed",
  } do
    local ok, err = pcall(check, nil, { cxx = cxx })
    assert(not ok and (fail.text(err) or ""):find("^" .. why), tostring(fail.text(err) or err))
  end
end

local function foreign_words()
  for log, want in pairs {
    ["k.cu:9:3: error: '__syncthreads' was not declared in this scope\n"] = "^k.cu:9:3: error: .*templates/lib/loom.cuh",
    ["k.cu:9:3: error: impossible constraint in 'asm'\n"] = "'asm' %(the CPU device runs the vocabulary",
    ["/tmp/a.s: Assembler messages:\n/tmp/a.s:7: Error: no such instruction: `nanosleep'\n"] = "^the assembler: no such .*loom.cuh",
    ["k.cu:9:3: error: 'rows' was not declared in this scope\n"] = "scope$",
  } do
    assert(cpu_build.parse_log(log).error:find(want), cpu_build.parse_log(log).error)
  end
  assert(not cpu_build.parse_log("k.cu:9:3: warning: unused\n").error)
end

local function without_device()
  local opt = kit.opt(dir, nil, { key = kit.hopper, cpu_worker = dir .. "/nowhere" })
  local ok, err = pcall(kit.caught, verbs.check, opt)
  assert(not ok and fail.text(err):find("no CPU device at '[^']*nowhere': `make loom%-cpu` builds it"), tostring(err))
end

-- ------------------------------------------------------------------------------- the real device

local function real(more)
  if not kit.real() then skip "no loom-cpu" end
  local opt = kit.opt(dir, nil, more)
  opt.cxx, opt.cpu_worker, opt.timeout = nil, kit.real(), 60
  local started = host.now()
  local code, said = kit.caught(verbs.check, opt)
  return code, said, host.now() - started
end

-- Specs whose edits lead to kernels that wait for ever: one and three consumers that take turns of two.
local function a_spec_that_deadlocks()
  for _, consumers in ipairs { 1, 3 } do
    local text = assert(host.read(host.root .. "/spaces/hopper.lua")):gsub('must "roles" {.-}\nmust', "must")
    text = text:gsub('param "warps"%s+{.-as =', 'param "warps" { {"pingpong", ' .. consumers .. "}, as ="):gsub("\nseed {.*", "\n")
    host.write(dir .. "/spec/hopper.lua", text)
    local code, said, seconds = real { kernel = dir .. "/spec/hopper.lua", layout = { "tn" } }
    assert(code == 1 and said:find "verdict  refused: deadlock: [^\n]*%(templates/wgmma.cu:%d+%)", said)
    assert(said:find "named barrier %d: 128 of 256 threads have come", said)
    assert(seconds < 10, "one second on an idle machine, here " .. seconds)
  end
end

-- A kernel that writes behind its shared memory, and one behind C.
local function a_kernel_that_writes_outside()
  local k = kernel "mma:layout=nn,dtype=f16,acc=f32,tile_m=64,tile_n=64,tile_k=64,stages=5,warps_m=2,warps_n=2,group_m=1"
  for _, change in ipairs { { "cp_async_16<f16>%(dst", "cp_async_16<f16>(dst + 65536" }, { "stg_pair%(C, ", "stg_pair(C, N + " } } do
    local text, count = k.text:gsub(change[1], change[2])
    assert(count > 0, change[1])
    host.write(dir .. "/outside.cu", text)
    host.write(dir .. "/outside.json", k.desc)
    local code, said = real { kernel = dir .. "/outside.cu" }
    assert(code == 1 and said:find "verdict  refused: out%-of%-bounds: [^\n]*outside.cu:%d+", said)
  end
end

-- ------------------------------------------------------------------------------- static rules

-- The refusals of the hopper kernel with its launch changed by `change` and its text by `from`, `to`.
local function refusals(change, from, to, dev, problem)
  local k = kernel()
  if from then
    local text, count = k.text:gsub(from, to)
    assert(count > 0, from)
    k.text = text
  end
  if change then change(k.launch) end
  local _, list = static.check(k, dev or h200, problem)
  return list
end

local function one_refusal(pattern, ...)
  local list = refusals(...)
  assert(#list == 1 and list[1]:find(pattern), table.concat(list, "\n") .. " / " .. pattern)
end

local function static_rules()
  assert(#refusals() == 0)
  one_refusal("shared memory: 300,000 B, a block of the h200 has 232,448: 67,552 B too many; change stages, tile_m",
    function(l) l.smem = 300000 end)
  one_refusal("a cluster of 16 CTAs; 8 are the most", function(l) l.cluster = 16 end)
  one_refusal("setmaxnreg 228: registers are multiples of 8 from 24 to 256",
    nil, "setmaxnreg_inc<%d+>", "setmaxnreg_inc<228>")
  one_refusal("setmaxnreg: 40 %+ 2 x 240 registers in 3 warpgroups of 128 are 66,560, the CTA has 64,512",
    nil, "setmaxnreg_inc<%d+>", "setmaxnreg_inc<240>")
  one_refusal("__launch_bounds__%(256%) is less than the block's 384", nil, "__launch_bounds__%(threads", "__launch_bounds__(256")
  one_refusal("tensor 'tmap_a': strides must be multiples of 16 B, legal.ld = 4 allows 8 B", function(l)
    l.legal.ld, l.tensors = 4, { l.tensors[1] }
  end)
  one_refusal("clusters, TMA and wgmma want sm_90, rtx4090 is sm_89", function(l) l.smem = 1000 * 64 end, nil, nil,
    device.get "rtx4090")
  local big = { M = 8192, N = 8192, K = 64 }
  one_refusal("4096 CTAs that wait for each other at 8192x8192x64, the h200 holds 132 at once; change split_k, tile_m, tile_n",
    function(l) l.grid, l.cooperative = "tiles", true end, nil, nil, h200, big)
  one_refusal("a grid of 4096 CTAs at 8192x8192x64 is no multiple of the cluster of 3; change cluster, tile_m, tile_n",
    function(l) l.grid, l.cluster = "tiles", 3 end, nil, nil, h200, big)
  one_refusal("2 CTAs on an SM, their threads and shared memory leave room for 1; change stages",
    function(l) l.ctas_per_sm = 2 end)
end

local function all_shipped_pass()
  for _, p in ipairs { { 4096, 4096, 4096 }, { 256, 256, 4096 }, { 64, 4096, 64 } } do
    local problem = { M = p[1], N = p[2], K = p[3], layout = "nn", dtype = "f16", acc = "f32" }
    for _, item in ipairs(select_.pick(problem, h200, { n = 24 })) do
      local k = emit.render(item)
      local _, list = static.check(k, h200, problem)
      assert(#list == 0, k.key .. ": " .. table.concat(list, "; "))
    end
  end
end

-- ------------------------------------------------------------------------------- shapes

local function reduced()
  local k = kernel()
  local function of(m, n, kk)
    local s, smaller = shapes.reduce({ M = m, N = n, K = kk }, k)
    assert(s.M % 128 == m % 128 and s.N % 128 == n % 128 and s.K % 64 == kk % 64)
    return shapes.text(s), smaller
  end
  assert(of(4096, 4096, 4096) == "384x384x576")
  assert(of(4104, 8200, 16392) == "392x392x584")
  local same, smaller = of(128, 256, 64)
  assert(same == "128x256x64" and not smaller)
  k.launch.legal.K = 4096
  local s = shapes.reduce({ M = 4096, N = 4096, K = 4096 }, k)
  assert(s.K == 4096, "a baked dimension stays")
  for _, shape in ipairs(shapes.of(kernel())) do
    assert(shape[2].M % 8 == 0 and shape[2].N % 8 == 0 and shape[2].K % 8 == 0)
  end
end

-- ------------------------------------------------------------------------------- awkward operands

local ANY = "hopper_any:tile_m=64,tile_n=64,consumers=1,producers=1,stages=2"

-- A full check has each shape with operands at 2 bytes past 1 KiB and rows an odd number of elements apart, where the
-- kernel takes that, and at 16 bytes where TMA does not.
local function awkward_runs()
  for key, want in pairs { [ANY] = 1, [kit.hopper] = 8 } do
    local k = kernel(keys.key(key), { M = key == ANY and 65 or 64, N = 72, K = 80, layout = "tn", dtype = "f16", acc = "f32" })
    local shifted, plain, odd, whole = 0, 0, {}, {}
    for _, run in ipairs(check_.runs(k, {})) do
      if run.shift then shifted = shifted + 1 else plain = plain + 1 end
      assert(run.shift == nil or run.shift == want, run.shift)
      for name, ld in pairs(run.padded and shapes.padded(k, run.shape) or {}) do
        local step = k.launch.legal.ld
        assert(ld % step == 0)
        if ld // step % 2 == 1 then odd[name] = true end
      end
      for _, name in ipairs { "M", "N", "K" } do whole[name] = whole[name] or run.shape[name] % 2 == 1 end
    end
    assert(shifted == 6 and plain == 6)
    assert(odd.lda and odd.ldb and odd.ldc)
    assert((whole.M and whole.N and whole.K) == (want == 1))
  end
end

-- A kernel that is right where operands are aligned alone; one that is right where rows are.
local function operands_at_odd_addresses()
  local k = kernel(keys.key(ANY), { M = 65, N = 72, K = 80, layout = "tn", dtype = "f16", acc = "f32" })
  for _, change in ipairs { { "const int first = gptr_past_16%(p%) / 2;", "const int first = 0;" },
                            { "h%.shift%[j%] = [^;]*;", "h.shift[j] = o.first;" }, { "$", "" } } do
    local text, count = k.text:gsub(change[1], change[2], 1)
    assert(count == 1, change[1])
    host.write(dir .. "/awkward.cu", text)
    host.write(dir .. "/awkward.json", k.desc)
    local code, said = real { kernel = dir .. "/awkward.cu" }
    assert(code == (change[1] == "$" and 0 or 1), said)
    assert(code == 0 or said:find "\nrun      wrong [^\n]*, padded, shifted", said)
  end
end

return {
  { name = "a kernel that is right gets every shape and schedule, and ok", run = fine },
  { name = "a deadlock is refused with the lines of kernel and template", run = a_deadlock },
  { name = "whatever the device does is a verdict", run = no_answers },
  { name = "a kernel that does not compile is refused with its line", run = no_compile },
  { name = "an object comes from the cache the second time", run = in_the_cache },
  { name = "SHAPE is stood in for by the same remainders", run = for_a_shape },
  { name = "a .cu with its .json is checked; its template is named where its key gives it", run = of_file },
  { name = "a descriptor reads back as it was written, anything else is refused", run = descriptors_come_back },
  { name = "of a space's file some points are checked", run = of_spec },
  { name = "a space's points are unlike each other; where there are none the rule is named", run = spread },
  { name = "a key or a file may stand bare", run = words },
  { name = "a compiler that is no g++ is refused before any kernel", run = other_compilers },
  { name = "asm and CUDA's own functions are called what they are", run = foreign_words },
  { name = "without the CPU device the line says what to do", run = without_device },
  { name = "a spec whose kernels deadlock is refused at the template's line", run = a_spec_that_deadlocks },
  { name = "a kernel that writes out of bounds is refused at its line", run = a_kernel_that_writes_outside },
  { name = "static rules name the number, the limit and what to change", run = static_rules },
  { name = "no shipped candidate breaks a static rule", run = all_shipped_pass },
  { name = "a reduced problem keeps the remainders", run = reduced },
  { name = "a full check has awkward addresses, rows and sizes", run = awkward_runs },
  { name = "kernels that take operands for aligned are refused", run = operands_at_odd_addresses },
}
