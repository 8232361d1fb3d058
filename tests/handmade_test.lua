-- A changed .cu beside its origin, and two kernels side by side, against the stand-ins for nvcc, g++, the CPU
-- device and the worker.

local desc_read = require "desc_read"
local diff = require "diff"
local emit = require "emit"
local fail = require "fail"
local handmade = require "handmade"
local kit = require "cpu_kit"
local measure = require "measure"
local pair = require "pair"
local sass = require "sass"
local select_ = require "select"
local sh = require "tests_sh"
local store = require "store"

local dir = sh.tmpdir "handmade"
local other = kit.hopper:gsub("stages=4", "stages=5")
local p512 = { M = 512, N = 512, K = 512, layout = "tn", dtype = "f16", acc = "f32" }

local function quoted(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

local function script(name, text)
  local path = dir .. "/" .. name
  host.write(path, "#!/bin/sh\n" .. text .. "\n")
  assert(sh.run({ "chmod", "+x", path }).code == 0)
  return path
end

-- The fake worker, and every job it gets in a file.
local worker = script("worker.sh", "tee -a " .. quoted(dir .. "/jobs") .. " | " .. quoted(host.exe) .. " fake-worker")

local function kernel(key)
  local opt = { key = key or kit.hopper, device = kit.opt(dir).device, problems = {} }
  return emit.render(select_.pick(select_.problems(opt)[1], opt.device, opt)[1])
end

-- Writes own.cu and own.json: the kernel of the key, changed.
local function write(text, desc)
  local k = kernel()
  assert(host.write(dir .. "/own.cu", text and text(k.text) or k.text) ~= nil)
  assert(host.write(dir .. "/own.json", desc and desc(k.desc) or k.desc) ~= nil)
  return dir .. "/own.cu"
end

local function replaced(from, to)
  return function(text)
    local at, last = text:find(from, 1, true)
    assert(at, "the kernel lacks " .. from)
    return text:sub(1, at - 1) .. to .. text:sub(last + 1)
  end
end

local touched = replaced("group = 1;", "group = 2;")

local function options(path, words, more)
  host.remove(dir .. "/jobs")
  host.remove(dir .. "/count")
  local opt = kit.opt(dir, words, { kernel = path, backend = "fake", worker = worker, shape = { { 512, 512, 512 } }, nvcc = "none" })
  for name, value in pairs(more or {}) do opt[name] = value end
  return opt
end

local function bench(path, words, more)
  return kit.caught(handmade.run, options(path, words, more))
end

local function refused(pattern, path, more)
  local ok, err = pcall(bench, path, nil, more)
  assert(not ok and (fail.text(err) or ""):find(pattern), tostring(err))
  return err.code
end

-- ------------------------------------------------------------------------------- a changed kernel

local function beside()
  local path = write(touched)
  local code, said, notes = bench(path)
  assert(code == 0, said .. notes)
  assert(said:find("^kernel  [^\n]*own.cu\norigin  hopper:[^\n]*stages=4[^\n]*\ncheck   ok: 5 runs"), said)
  assert(said:find("\n512x512x512 tn f16 acc f32\ncuBLAS nn ", 1, true), said)
  assert(said:find("\norigin +%d%.%d+  +%d%.%d+  +%d") and said:find("\nown +%d%.%d+ %["), said)
  assert(said:find("\nin turns, 32 blocks: own is 1%.000 %[0.99%d,1.00%d%] times as fast as origin: SAME; with pdl 1%.000 "
                   .. "%[0.99%d,1.00%d%]: SAME\n$"), said)
  local jobs, times = host.read(dir .. "/jobs"), 0
  for _ in jobs:gmatch "time\t" do times = times + 1 end
  assert(times == 1 and jobs:find("\ntime\tcubin=" .. dir .. "/own.cu\tdesc=" .. dir .. "/own.json\tblocks=auto\trival_cubin=" .. dir
                                  .. "/origin/hopper%-%x+.cu\trival_desc=" .. dir .. "/origin/hopper%-%x+.json\tsamples=1\n"), jobs)
  assert(host.read(dir .. "/own.cu"):find("group = 2;", 1, true), "the file is left alone")
  local st = store.open(dir .. "/store.db")
  assert(st.db:rows("SELECT count(*) AS c FROM rows", {})[1].c == 0, "no row of a key is made of it")
  st:close()
end

-- A file in OUT/kernels is not written over by its own origin.
local function in_place()
  local k = kernel()
  emit.write(k, dir .. "/kernels")
  host.write(k.cu, touched(k.text))
  local code = bench(k.cu)
  assert(code == 0 and host.read(k.cu) == touched(k.text))
end

local function descriptor_counts()
  local path = write(touched, replaced('"smem":147520', '"smem":147536'))
  assert(bench(path) == 0)
  local id, launch = desc_read.file(dir .. "/own.json", "own.json")
  assert(id.key == kit.hopper and launch.smem == 147536)
  assert(host.read(dir .. "/jobs"):find("desc=" .. dir .. "/own.json", 1, true))
  local _, _, notes = bench(write())
  assert(notes:find("is what its key gives, byte by byte", 1, true) and notes:find("code and the launch of both are equal", 1, true))
  _, _, notes = bench(write(touched))
  assert(not notes:find("byte by byte", 1, true))
end

local function checked_first()
  local path = write(touched)
  local code, said = bench(path, "deadlock=hopper:")
  assert(code == 1 and said:find("check   refused: deadlock: all threads wait", 1, true), said)
  assert(said:find("report  deadlock: 32 threads wait at [^\n]*own.cu:9"), said)
  assert(not host.read(dir .. "/jobs"), "it is not launched")
  assert(bench(path, "deadlock=hopper:", { check = false }) == 0 and kit.count(dir, "") == 0)
  refused("no CPU device at [^\n]*CHECK=0", path, { cpu_worker = dir .. "/nowhere" })
  assert(bench(path, nil, { cpu_worker = dir .. "/nowhere", check = false }) == 0)
end

local function kept()
  refused("has no kernel of the name loom_kernel", write(replaced("loom_kernel(", "my_kernel(")))
  refused("has the parameters %([^\n]*, int, int, long%), its origin %([^\n]*, int, int, int%):",
          write(replaced("int K)", "long K)")))
  refused("is launched with the arguments %(tmap_a, tmap_b, M, tmap_c", write(touched, replaced('"tmap_c","M"', '"M","tmap_c"')))
  refused("has in its descriptor the arch %(sm_80%), its origin %(sm_90a%)", write(touched, replaced('"sm_90a"', '"sm_80"')))
  refused("the key is for layout=tn,[^\n]* the problem is nn", write(touched, replaced('"layout":"tn"', '"layout":"nn"')))
  refused("the origin of '[^\n]*own.cu' cannot be rendered: ", write(touched, replaced("stages=4", "stages=99")))
  assert(refused("is no .cu file", dir .. "/own.txt") == 2)
  for _, name in ipairs { "N", "PROCESSES", "BASELINES", "SANITIZE" } do
    assert(refused(name .. " says nothing to the bench of a .cu", write(), { given = { [name] = true } }) == 2)
  end
  assert(bench(write(replaced("tmap_a,\n", "a_tiles /* , */,\n"))) == 0, "names and comments may change")
end

local function which_problem()
  local path = write(touched)
  assert(refused("no SHAPE, and none in the head of '[^\n]*own.cu': say SHAPE=MxNxK", path, { shape = false }) == 2)
  local function first(line)
    return function(text) return line .. text end
  end
  local _, said = bench(write(first "// SHAPE=256x384x512 is mine\n"), nil, { shape = false })
  assert(said:find("\n256x384x512 tn f16 acc f32\n", 1, true), said)
  _, said = bench(write(first "// problem 1024x256x512\n"), nil, { shape = false })
  assert(said:find("\n1024x256x512 tn f16", 1, true), said)
  refused("LAYOUT=nn, and the kernel's is tn", path, { layout = { "nn" }, given = { LAYOUT = true } })
end

local function without_a_clock()
  local code, said = bench(write(touched), nil, { backend = "cpu", worker = kit.fake })
  assert(code == 0 and said:find("predicted: own is 1.000 times as fast as origin; nothing was timed", 1, true), said)
  assert(not said:find("cuBLAS", 1, true), said)
  code, said = bench(write(replaced("group = 1;", "group = 3;")), "wrong=nothing fail=group\\ =\\ 3",
                     { backend = "cpu", worker = kit.fake, check = false })
  assert(code == 0 or said:find("build", 1, true), said)
end

-- The worker has the two in one palindrome: what it says of them is what is said.
local function slower()
  local code, said = bench(write(replaced("#include", "constexpr int delay_steps = 40;\n#include")), nil, { check = false })
  assert(code == 0 and said:find("own is 0.9%d+ %[0.9%d+,0.9%d+%] times as fast as origin: SLOWER; with pdl 0.9[^\n]*SLOWER\n$"), said)
end

local function failures()
  local nvcc = host.root .. "/tests/fake-nvcc"
  local present = measure.gpu_present
  measure.gpu_present = function() return true end
  local ok, code, said = pcall(bench, write(touched), nil, { backend = "cuda", nvcc = nvcc, check = false,
    env = { "LOOM_FAKE_NVCC=fail=group.=.2" } })
  measure.gpu_present = present
  assert(ok, tostring(code))
  assert(code == 1 and said:find("\nbuild +own: [^\n]*own.cu%(7%): error: planted\n"), said)
  local k = kernel()
  code, said = bench(write(touched), nil, { check = false, env = { "LOOM_FAKE=wrong=" .. k.hash } })
  assert(code == 1 and said:find("\nwrong +origin: C differs from the reference at row 3"), said)
  for _, fault in ipairs { "crash", "refused" } do -- a lost worker names nobody: both are tried alone
    code, said = bench(write(touched), nil, { check = false, worker = false, env = { "LOOM_FAKE=" .. fault .. "=" .. k.hash } })
    assert(code == 1 and said:find("\n" .. fault .. " +origin: ") and not said:find("rival", 1, true), said)
  end
  assert(host.write(dir .. "/own-abababababab.json", k.desc) and host.write(dir .. "/own-abababababab.cu", touched(k.text)))
  for _, fault in ipairs { "crash", "wrong" } do
    code, said = bench(dir .. "/own-abababababab.cu", nil, { check = false, worker = false,
      env = { "LOOM_FAKE=" .. fault .. "=abab" } })
    assert(code == 1 and said:find("\n" .. fault .. " +own%-ab[^\n]*: "), said)
  end
  local old = script("old.sh", quoted(host.exe) .. " fake-worker | sed -u 's/\t[a-z]*_*rival[^\t]*//g'")
  refused("does not time two kernels at once", write(touched), { check = false, worker = old })
end

local function the_verb()
  local got = sh.run({ sh.loom, "bench", write(touched), "SHAPE=512x512x512", "BACKEND=fake", "CHECK=0", "OUT=" .. dir })
  assert(got.code == 0 and got.output:find("in turns, 32 blocks: own is", 1, true), got.output)
  got = sh.run({ sh.loom, "bench", dir .. "/own.cu", "SHAPE=512x512x512", "BACKEND=fake", "CHECK=0", "OUT=" .. dir, "CLOCKS=call,hot" })
  assert(got.code == 0 and got.output:find("\nother clocks, origin; [^\n]*\nclock [^\n]*\nhot +device time [^\n]*\ncall +host time [^\n]*\n"
                                           .. "other clocks, own; [^\n]*\nclock "), got.output)
  got = sh.run { sh.loom, "bench", "SHAPE=512x512x512", "CHECK=0", "BACKEND=fake" }
  assert(got.code == 2 and got.output:find("CHECK is for a .cu of your own", 1, true), got.output)
end

-- ------------------------------------------------------------------------------- figures

local function row(ratio, width)
  return { ratio = ratio, ratio_lo = ratio / (1 + width), ratio_hi = ratio * (1 + width) }
end

local function differences()
  local d = pair.quotient(row(2.0, 0.01), row(2.2, 0.01), "ratio")
  assert(math.abs(d.factor - 1.1) < 1e-9 and d.lo < 1.09 and d.hi > 1.11 and d.hi - d.lo < 0.04, pair.text(d))
  assert(pair.quotient(row(1, 0.1), row(1, 0.1), "ratio_pdl") == nil)
  local answer = { ratio_rival = "1.02", ratio_rival_lo = "1.01", ratio_rival_hi = "1.03", verdict_rival = "FASTER" }
  assert(pair.text(pair.of_answer(answer, "")) == "1.020 [1.010,1.030]" and pair.of_answer(answer, "_pdl") == nil)
end

local function signatures()
  local s = handmade.signature
  assert(s('extern "C" __global__ void loom_kernel(gptr<const half> A, // the first\n  const pair<int, int> x, int M)')
         == "gptr<const half>, const pair<int, int>, int")
  assert(s("void loom_kernel ( int *a, float&b )") == "int *, float&" and s("void my_loom_kernel(int a)") == nil)
  assert(s("/* loom_kernel(x y) */ void loom_kernel()") == "")
end

-- ------------------------------------------------------------------------------- two kernels

local function compare(a, b, more)
  local opt = options(nil, nil, { backend = false, shape = false, words = { a, b } })
  for name, value in pairs(more or {}) do opt[name] = value end
  local present = measure.gpu_present
  measure.gpu_present = function() return false end
  local ok, code, said, notes = pcall(kit.caught, diff.run, opt)
  measure.gpu_present = present
  if not ok then error(code, 0) end
  return code, said, notes
end

local function bare()
  local code, said, notes = compare(kit.hopper, other)
  assert(code == 0 and said:find("^a  hopper:[^\n]*stages=4[^\n]*\nb  hopper:[^\n]*stages=5[^\n]*\nat 4096x4096x4096 tn "), said)
  assert(said:find("\nparameter +a +b\nstages +4 +5\n\nlaunch +a +b\nsmem +147520 +180304\n\n"), said)
  assert(said:find("\n--- " .. kit.hopper .. "\n+++ " .. other .. "\n@@ ", 1, true), said)
  assert(said:find("\n%-constexpr int tile_m = 128, [^\n]*stages = 4;\n%+constexpr int tile_m = 128, [^\n]*stages = 5;\n"), said)
  assert(said:find("\nregisters +%- +%-\n") and said:find("\nshared memory +147520 +180304\n"), said)
  assert(said:find("\nwavefronts +64 +64\n") and said:find("\nglobal sectors +8 +8\n"), said)
  assert(notes:find("note: no nvcc: ", 1, true) and notes:find("no ratio", 1, true), notes)
  assert(not said:find(dir, 1, true), "no path is shown")
end

local DISASSEMBLY = [[
        Function : loom_kernel
	.headerflags	@"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;             /* 0x00000a00ff017b82 */
                                                                      /* 0x000fe20000000800 */
        /*0010*/              @!P0 BRA 0x300 ;                        /* 0x000002c000007945 */
        /*0020*/              @UP1 UTMALDG.2D [UR8], [UR6] ;          /* 0x0 */
        /*0030*/                   HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0 ;
        /*0040*/                   HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0 ;
        /*12340*/                  SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR4], R3 ;
        /*12350*/             @P2  QUUX R1 ;
]]

local function disassembled()
  local counts = sass.parse(DISASSEMBLY)
  assert(counts.HGMMA == 2 and counts.UTMALDG == 1 and counts.SYNCS == 1 and counts.branch == 1 and counts.move == 1)
  assert(counts.other == 1 and counts.total == 7)
end

-- A disassembler beside nvcc goes before any other, so that this machine's does not matter.
local function with_nvcc()
  sh.remove(dir .. "/cache")
  local nvcc = script("nvcc", "exec sh " .. quoted(host.root .. "/tests/fake-nvcc") .. ' "$@"')
  script("cuobjdump", "[ \"$1\" = -sass ] && cat <<'END'\n" .. DISASSEMBLY .. "END")
  local code, said, notes = compare(kit.hopper, other, { nvcc = nvcc, env = { "LOOM_FAKE_NVCC=spill" } })
  assert(code == 0 and said:find("\nregisters +96 +96\nstack bytes +0 +0\nspill bytes +40 +40\n"), said .. notes)
  assert(said:find("\ninstructions +a +b\nHGMMA +2 +2\nUTMALDG +1 +1\nSYNCS +1 +1\n") and said:find("\ntotal +7 +7\n"), said)
  script("cuobjdump", "exit 1")
  code, said, notes = compare(kit.hopper, other, { nvcc = nvcc })
  assert(code == 0 and not said:find("HGMMA", 1, true) and notes:find("cuobjdump' failed", 1, true), notes)
  sh.remove(dir .. "/cache")
  code, said, notes = compare(kit.hopper, other, { nvcc = nvcc, env = { "LOOM_FAKE_NVCC=fail=stages.=.5" } })
  assert(code == 0 and said:find("\nregisters +96 +%-\n") and notes:find("note: hopper:[^\n]*error: planted"), notes)
end

local function files()
  local code, said = compare(kit.hopper, write(touched))
  assert(code == 0 and said:find("\nb  [^\n]*own.cu\n") and said:find("\nparameter: equal\n\nlaunch: equal\n", 1, true), said)
  assert(said:find("\n%-constexpr int group = 1;[^\n]*\n%+constexpr int group = 2;"), said)
  said = select(2, compare(kit.hopper, write()))
  assert(said:find("\ntext: equal\n", 1, true), said)
  local mma = "mma:layout=tn,dtype=f16,acc=f32,tile_m=32,tile_n=32,tile_k=64,stages=6,warps_m=2,warps_n=1,group_m=1"
  code, said = compare(kit.hopper, mma, { shape = { { 512, 512, 512 } } })
  assert(code == 0 and said:find("\nspace +hopper +mma\n") and said:find("\nconsumers +2 +%-\n")
         and said:find("\nwarps_m +%- +2\n"), said)
end

local function the_ratio()
  local bench_ = require "bench"
  for _, key in ipairs { kit.hopper, other } do
    kit.caught(bench_.run, options(nil, nil, { key = key, problems = { p512 }, kernel = false }))
  end
  local _, said, notes = compare(kit.hopper, other)
  assert(not said:find("ratio", 1, true) and notes:find("no run that timed both", 1, true), "two runs are two processes")
  local code
  code, said = compare(kit.hopper, other, { backend = "fake", shape = { { 512, 512, 512 } } })
  assert(code == 0 and said:find("\nratio, measured now; device fake") and said:find("\nin turns, 32 blocks: b is "), said)
  local st = store.open(dir .. "/store.db")
  st.db:exec("UPDATE rows SET run = 1")
  st:close()
  code, said = compare(kit.hopper, other)
  local head = "\nratio, from the store: of both ratios to cuBLAS\nproblem +device +run +a +b +b / a +b / a pdl\n"
  assert(code == 0 and said:find(head .. "512x512x512 +fake +1 +%d"), said)
  assert(not said:find("measured now", 1, true), said)
  _, said = compare(kit.hopper, other, { backend = "fake", shape = { { 512, 512, 512 } } })
  assert(said:find("ratio, from the store", 1, true) and said:find("ratio, measured now; ", 1, true), said)
  _, said, notes = compare(kit.hopper, other, { shape = { { 1024, 512, 512 } } })
  assert(not said:find("ratio", 1, true) and notes:find("no ratio", 1, true), said)
end

local function usage()
  for _, words in ipairs { { kit.hopper }, { kit.hopper, other, other }, { "SHAPE=1x1x1" } } do
    local ok, err = pcall(diff.main, words)
    assert(not ok and err.code == 2 and fail.text(err):find("diff wants two kernels", 1, true), tostring(err))
  end
  local ok, err = pcall(diff.main, { kit.hopper, dir .. "/nothing.cu", "DEVICE=h200" })
  assert(not ok and fail.text(err):find("nothing.cu", 1, true), tostring(err))
  local got = sh.run { sh.loom, "help", "diff" }
  assert(got.code == 0 and got.output:find("usage: loom diff KEY|FILE.cu KEY|FILE.cu", 1, true), got.output)
end

return {
  { name = "a changed kernel is checked, then timed in turns with its origin", run = beside },
  { name = "a kernel that was changed in OUT/kernels is not written over", run = in_place },
  { name = "a changed descriptor is what is launched by; equal kernels are said to be", run = descriptor_counts },
  { name = "what the check refuses is not launched; CHECK=0 does not ask", run = checked_first },
  { name = "a changed kernel keeps its name, its arguments and its key", run = kept },
  { name = "the problem is SHAPE's, else the head comment's", run = which_problem },
  { name = "without a GPU both are verified and predicted", run = without_a_clock },
  { name = "a kernel that is slower than its origin is said to be", run = slower },
  { name = "a kernel that does not build or is wrong is named with its reason", run = failures },
  { name = "loom bench FILE.cu is a command line", run = the_verb },
  { name = "a ratio is the worker's, or of both ratios to cuBLAS", run = differences },
  { name = "parameters are compared by type", run = signatures },
  { name = "two keys side by side, without nvcc and without a GPU", run = bare },
  { name = "a disassembly is counted by class", run = disassembled },
  { name = "registers and instructions where nvcc and cuobjdump are", run = with_nvcc },
  { name = "a file beside its key, and kernels of two spaces", run = files },
  { name = "the ratio is the store's, of one run, or measured", run = the_ratio },
  { name = "diff wants two kernels", run = usage },
}
