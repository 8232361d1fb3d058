-- The worker's parent and the bench loop, against the fake worker: faults are planted by hash, and
-- every one of them must end as a row, not as a stuck or dead parent.

local bench = require "bench"
local device = require "device"
local fail = require "fail"
local fake = require "fake"
local measure = require "measure"
local outdir = require "outdir"
local sh = require "tests_sh"
local store = require "store"
local worker = require "worker"

local dir = sh.tmpdir "bench"

local function remove_store()
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(dir .. "/store.db" .. tail) end
end

-- ------------------------------------------------------------------------------- sessions

local problem_pairs = { { "M", 512 }, { "N", 512 }, { "K", 512 }, { "layout", "tn" },
                        { "dtype", "f16" }, { "acc", "f32" }, { "seed", 1 } }

local function session(faults, more)
  local opt = { argv = { host.exe, "fake-worker" }, env = { "LOOM_FAKE=" .. (faults or "") },
                log = dir .. "/worker.log", timeouts = { ready = 20, problem = 1, time = 1 } }
  for k, v in pairs(more or {}) do opt[k] = v end
  return worker.session(opt)
end

-- The job of a kernel with this hash; its files are written.
local function job(hash)
  local base = dir .. "/toy-" .. hash
  host.write(base .. ".cu", "// " .. hash .. "\n")
  host.write(base .. ".json", '{"loom":1,"key":"toy:' .. hash .. '"}\n')
  return { { "cubin", base .. ".cu" }, { "desc", base .. ".json" }, { "blocks", 8 } }
end

local function time(s, problem, hash)
  return s:time(problem, hash, job(hash))
end

local function good_answers()
  local s, problem = session(), { job = problem_pairs }
  assert(s:greeting().device == "fake")
  local status, answer = time(s, problem, "aa")
  assert(status == "ok" and tonumber(answer.us) > 0)
  assert(tonumber(answer.ratio_lo) < tonumber(answer.ratio))
  local _, again = time(s, problem, "aa")
  for name, value in pairs(answer) do assert(again[name] == value, name) end
  local _, other = time(s, problem, "bb")
  assert(other.us ~= answer.us and s.restarts == 1)
  s:stop()
end

local function crash()
  local s, problem = session "crash=c0", { job = problem_pairs }
  local status, answer = time(s, problem, "c0")
  assert(status == "crash" and answer.why == "the worker exited with 3", answer.why)
  assert(s.restarts == 2, "it is tried once more in a fresh worker")
  status = time(s, problem, "aa")
  assert(status == "ok" and s.restarts == 3, "the next kernel gets a fresh worker, problem and all")
  status, answer = time(s, problem, "c0")
  assert(status == "quarantined" and answer.why:find("exited with 3", 1, true) and s.restarts == 3)
  s:stop()
end

local function hang()
  local s, problem = session "hang=aa", { job = problem_pairs }
  local started = host.now()
  local status, answer = time(s, problem, "aa")
  assert(status == "hang" and answer.why == "no answer in 1 s", answer.why)
  assert(host.now() - started < 15 and s.restarts == 2)
  assert(time(s, problem, "aa") == "quarantined" and time(s, problem, "bb") == "ok")
  s:stop()
end

local function crash_once()
  host.remove(dir .. "/once")
  local s, problem = session("crash=c0,once=" .. dir .. "/once"), { job = problem_pairs }
  assert(time(s, problem, "c0") == "ok" and s.restarts == 2)
  assert(time(s, problem, "c0") == "ok", "one failure is no quarantine")
  s:stop()
end

local function verdicts()
  local s, problem = session "wrong=11,refused=22,error=33", { job = problem_pairs }
  local status, answer = time(s, problem, "11")
  assert(status == "wrong" and answer.row == "3" and answer.want == "2.5")
  status, answer = time(s, problem, "22")
  assert(status == "refused" and answer.why:find("multiple of 8", 1, true) and s.restarts == 1)
  status, answer = time(s, problem, "33")
  assert(status == "error" and answer.why:find("illegal memory access", 1, true))
  assert(s.restarts == 2, "a CUDA error may be sticky: the worker is replaced")
  s:stop()
end

local function no_start(more, pattern)
  local s = session(nil, more)
  local ok, err = pcall(s.greeting, s)
  assert(not ok and fail.text(err):find(pattern, 1, true), tostring(err))
end

local function protocol_lines()
  local line = worker.encode("time", { { "cubin", "a b.cubin" }, { "blocks", 8 } })
  assert(line == "time\tcubin=a b.cubin\tblocks=8")
  local verb, fields = worker.decode("ok\tus=1.5\twhy=a=b\tempty=")
  assert(verb == "ok" and fields.us == "1.5" and fields.why == "a=b" and fields.empty == "")
  local garbage = { "", "Segmentation fault (core dumped)", "ok us=1", "ok\tus", "ok\t\tus=1" }
  for _, line_ in ipairs(garbage) do assert(not worker.decode(line_), line_) end
end

-- ------------------------------------------------------------------------------- the bench loop

local problem = { M = 512, N = 512, K = 512, layout = "tn", dtype = "f16", acc = "f32" }

-- bench.run with the fake backend: exit code, stdout, the rows of the store.
local function bench_run(faults, more)
  remove_store()
  local opt = { backend = "fake", device = device.get "h200", problems = { problem }, n = 6,
                out = dir, timeout = 1,
                env = { "LOOM_FAKE=" .. (faults or "") } }
  for k, v in pairs(more or {}) do opt[k] = v end
  local out, err, parts = host.out, host.err, {}
  host.out, host.err = function(text) parts[#parts + 1] = text end, function() end
  local ok, code = pcall(bench.run, opt)
  host.out, host.err = out, err
  if not ok then error(code, 0) end
  local st = store.open(dir .. "/store.db")
  local rows = st:latest(opt.problems[1])
  st:close()
  return code, table.concat(parts), rows
end

local function by_pass(rows, pass)
  local list = {}
  for _, row in ipairs(rows) do
    if row.pass == pass then list[#list + 1] = row end
  end
  return list
end

-- Six start: one heat leaves four, another three, and these are measured in three processes.
local function heats_and_finals()
  local code, text, rows = bench_run()
  local count = {}
  for pass = 1, 4 do count[pass] = #by_pass(rows, pass) end
  assert(code == 0 and table.concat(count, " ") == "6 4 9 3", table.concat(count, " "))
  for pass, blocks in ipairs { 8, 32, 32, 96 } do
    for _, row in ipairs(by_pass(rows, pass)) do
      assert(row.blocks == blocks and row.status == "ok" and (row.ratio_nv ~= nil) == (pass > 2), "pass " .. pass)
      assert((row.samples ~= nil) == (pass == 3) and (row.process ~= nil) == (pass == 3))
      assert(pass == 4 or row.ms and row.ms >= 0 and row.families == 10)
    end
  end
  assert(text:find("^device fake") and text:find("512x512x512 tn f16 acc f32", 1, true), text)
  assert(text:find("geomean_ratio: [%d.]+ x\n") and text:find("geomean_vs_best_nv: [%d.]+ x\n"), text)
end

local function repeatable()
  local _, first, rows = bench_run()
  local _, second, again = bench_run()
  assert(first == second and #rows == #again)
  for i, row in ipairs(rows) do
    for name, value in pairs(row) do
      assert(name == "time" or name == "ms" or again[i][name] == value, name)
    end
  end
end

-- Plants each fault into one of the kernels of an undisturbed run.
local function faults_become_rows()
  local _, _, rows = bench_run()
  local one = by_pass(rows, 1)
  local planted = string.format("crash=%s,hang=%s,wrong=%s,refused=%s", one[1].hash, one[2].hash,
                                one[3].hash, one[4].hash)
  local code, text, after = bench_run(planted)
  assert(code == 1 and #by_pass(after, 1) == 6 and #by_pass(after, 2) == 0, "two are left: no second heat")
  assert(#by_pass(after, 3) == 6 and #by_pass(after, 4) == 2)
  for i, status in ipairs { "crash", "hang", "wrong", "refused", "ok", "ok" } do
    local row = by_pass(after, 1)[i]
    assert(row.status == status and row.key == one[i].key, row.status)
    assert(status == "ok" or not row.us and row.why, "a failed kernel has a reason and no time")
    assert(status == "ok" or text:find(status .. "%s+" .. row.key:gsub("%p", "%%%0")), text)
  end
end

local function all_wrong()
  local every = {}
  for i = 0, 15 do every[i + 1] = string.format("wrong=%x", i) end
  local code, text, rows = bench_run(table.concat(every, ","))
  assert(code == 1 and #rows == 6 and #by_pass(rows, 1) == 6)
  assert(text:find("problems_with_a_kernel: 0 count", 1, true), text)
end

local function refusal(more)
  local ok, err = pcall(bench_run, nil, more)
  assert(not ok, "it is not refused")
  return fail.text(err) or error("an internal fault: " .. tostring(err))
end

local function without_gpu()
  if host.stat("/dev/nvidia0") or host.stat("/dev/nvidiactl") then return end
  local said = refusal { backend = "cuda" }
  for _, word in ipairs { "no GPU", "make gen", "make build", "BACKEND=fake" } do
    assert(said:find(word, 1, true), said)
  end
end

local function one_key()
  local _, _, rows = bench_run()
  local key = rows[1].key
  local code, _, only = bench_run(nil, { key = key })
  assert(code == 0 and #only == 4 and only[1].key == key and only[1].pass == 3 and only[4].pass == 4, #only)
end

-- ------------------------------------------------------------------------------- BACKEND=cuda

local function stand_in_worker()
  local path = dir .. "/worker.sh"
  host.write(path, "#!/bin/sh\nexec '" .. host.exe:gsub("'", "'\\''") .. "' fake-worker\n")
  assert(sh.run({ "chmod", "+x", path }).code == 0)
  return path
end

-- bench.run with BACKEND=cuda, tests/fake-nvcc told `words` and the fake worker in a script.
local function cuda_run(words, more)
  local present = measure.gpu_present
  measure.gpu_present = function() return true end
  local nvcc = host.root .. "/tests/fake-nvcc"
  local opt = { backend = "cuda", worker = stand_in_worker(), nvcc = nvcc,
                env = { "LOOM_FAKE_NVCC=" .. words } }
  for k, v in pairs(more or {}) do opt[k] = v end
  local ok, code, text, rows = pcall(bench_run, nil, opt)
  measure.gpu_present = present
  if not ok then error(code, 0) end
  return code, text, rows
end

local function cuda_rows()
  local code, text, rows = cuda_run "c7510 fail=^//.mma:"
  assert(code == 1, "a kernel that does not build is a failure")
  local failed = 0
  for _, row in ipairs(rows) do
    assert(row.backend == "cuda" and row.nvcc == "13.0.0")
    if row.status == "build" then
      failed = failed + 1
      local kernels = outdir.shown(dir) .. "/kernels/mma-"
      assert(row.why:find(kernels, 1, true) == 1, row.why)
      assert(row.why:find("%x%.cu%(7%): error: planted %(templates/mma%.cu:%d+%)$"), row.why)
    else
      assert(row.status == "ok" and row.regs == 96 and row.warnings == "C7510" and #row.cubin == 64)
    end
  end
  assert(failed > 0 and text:find("C7510", 1, true) and text:find("build%s+mma:"), text)
end

-- The compiler crashes at one space's kernels and hangs at another's: the third's are timed, ranked, and every
-- failure has its reason.
local function compiler_faults()
  sh.remove(dir .. "/cache") -- what has compiled would not again
  local code, text, rows = cuda_run("crash=^//.mma: hang=^//.simt:", { n = 9, space = { "hopper", "mma", "simt" } })
  assert(code == 1, "a kernel that does not build is a failure")
  local why, count, good = { mma = "killed by signal 9", simt = "no end after 1 s" }, {}, {}
  for _, row in ipairs(rows) do
    local space = row.key:match("^[^:]+")
    count[space] = (count[space] or 0) + 1
    if space == "hopper" then
      assert(row.status == "ok" and row.us > 0 and row.regs == 96 and row.ratio_lo < row.ratio, row.status)
      good[row.pass] = (good[row.pass] or 0) + 1
    else
      assert(row.status == "build" and row.why == why[space] and not row.us, tostring(row.why))
    end
  end
  assert(count.mma > 0 and count.simt > 0 and good[4] > 0 and good[3] == 3 * good[4])
  assert(text:find("build%s+mma:[^\n]*killed by signal 9\n") and text:find("build%s+simt:[^\n]*no end after 1 s\n"), text)
  assert(text:find("\n *1  %u+ [^\n]*hopper:") and text:find("problems_with_a_kernel: 1 count", 1, true), text)
end

local function equal_cubins()
  local size = { M = 100, N = 77, K = 33, layout = "tn", dtype = "f16", acc = "f32" }
  local code, _, rows = cuda_run("same", { problems = { size }, n = 60, space = { "simt" } })
  local same = 0
  for _, row in ipairs(rows) do
    if row.status == "same" then
      same = same + 1
      assert(row.why:find("^equals simt:") and not row.us)
    end
  end
  assert(code == 0 and same > 0)
end

return {
  { name = "job and result lines survive their trip, garbage is none", run = protocol_lines },
  { name = "the fake worker's figures repeat and differ by key", run = good_answers },
  { name = "a crash is tried once more, then quarantined, and the rest goes on", run = crash },
  { name = "a hang is killed, tried once more, then quarantined", run = hang },
  { name = "a kernel that crashes once only is measured", run = crash_once },
  { name = "wrong and refused are answers, an error replaces the worker", run = verdicts },
  { name = "a worker without a device ends the run with its reason", run = function()
    no_start({ env = { "LOOM_FAKE=start=no CUDA device" } }, "does not start: no CUDA device")
  end },
  { name = "a worker that is not there ends the run", run = function()
    no_start({ argv = { "out/nowhere" } }, "the bench worker 'out/nowhere' does not start")
  end },
  { name = "a program that is no worker ends the run", run = function()
    no_start({ argv = { "/bin/echo", "Hello" } }, "the worker greets with 'Hello'")
  end },
  { name = "a fault without a hash plants nothing", run = function()
    assert(fake.fault("crash=,wrong=", "out/toy-00.json") == nil)
    assert(fake.fault("crash=0a,wrong=0", "out/toy-00.json") == "wrong")
  end },
  { name = "heats thin the field out, the finals are fresh processes, their result is a row", run = heats_and_finals },
  { name = "two runs with the fake backend are equal", run = repeatable },
  { name = "crash, hang, wrong and refused are rows, the others are ranked",
    run = faults_become_rows },
  { name = "a problem without a right kernel fails the run", run = all_wrong },
  { name = "bench without a GPU says what works", run = without_gpu },
  { name = "KEY= benches exactly that candidate", run = one_key },
  { name = "BACKEND=cuda stores registers, flags and failed compiles", run = cuda_rows },
  { name = "nvcc that crashes and hangs between good kernels: the good ones' results are complete",
    run = compiler_faults },
  { name = "equal cubins with equal launches are timed once", run = equal_cubins },
  { name = "BUDGET ends the heats, not the finals", run = function()
    local code, _, rows = bench_run(nil, { budget = 0 })
    assert(code == 0 and #by_pass(rows, 1) == 1 and #by_pass(rows, 3) == 3 and #by_pass(rows, 4) == 1 and #rows == 5)
  end },
}
