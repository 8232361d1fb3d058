-- faults.lua -- on a GPU: between good kernels, kernels that hang at once or while they are timed, access what is not
-- there, trap, cannot be launched; a worker that is killed, an nvcc that crashes and one that hangs. The good kernels'
-- results must be complete, and no fault may cost more than 10 s.
--
--   loom --script tests/gpu/faults.lua
--
-- The bench runs twice, as `loom bench` does: without faults, then with them. A fault's cost is its own time in the
-- bench and what the kernel after it takes longer than before: the restart of the worker falls there.
-- NVCC and WORKER in the environment: another compiler, another worker.

require "strict"

local bench = require "bench"
local build = require "build"
local device = require "device"
local emit = require "emit"
local fail = require "fail"
local measure = require "measure"
local rules = require "rules"
local store = require "store"
local worker = require "worker"

local MOST = 10 -- seconds
local GOOD = 6 -- kernels without a fault
local TIMEOUT = host.getenv("WORKER") and 2 or 8 -- seconds of nvcc and of a job's silence
local PROBLEM = { M = 512, N = 512, K = 512, layout = "tn", dtype = "f16", acc = "f32" }
local work = host.root .. "/out/build/faults"

local function check(ok, ...)
  if not ok then fail("faults: " .. string.format(...)) end
  return ok
end

local function put(path, text)
  check(host.write(path, text) ~= nil, "cannot write '%s'", path)
end

-- ------------------------------------------------------------------------------- faults

local function replaced(text, find, replace)
  local from, to = text:find(find, 1, true)
  return from and text:sub(1, from - 1) .. replace .. text:sub(to + 1)
end

-- Code at the start of a kernel, which has a parameter of this text.
local function at_start(code, parameter)
  return function(text, desc)
    local _, brace = text:find("loom_kernel%b()%s*{")
    return brace and text:find(parameter, 1, true) and text:sub(1, brace) .. code .. text:sub(brace + 1), desc
  end
end

local function comment(word)
  return function(text, desc) return text .. "// " .. word .. "\n", desc end
end

-- One launch in some hundred does not end, and only on the problem itself.
local SELDOM = ' if (M == 512 && K == 512) { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); '
  .. 'while (((t >> 10) & 511) == 7) asm volatile("" ::: "memory"); } '

-- Name, the kernel's text and descriptor with the fault (nil where it does not fit), the row it must become: status,
-- and a part of why.
local FAULTS = {
  { "hang", function(text, desc)
      return replaced(text, "mbar_expect_tx(bar, r_bytes", "mbar_expect_tx(bar, 16 + r_bytes"), desc
    end, "error", "waits for mbarrier smem+" },
  { "hang while timed", at_start(SELDOM, "int K"), "error", "does not end" },
  { "illegal address", at_start(" if (K > 0) stg(C, (i64)1 << 45, from_float<f16>(0.f)); ", "gptr<f16> C,"), "error", "illegal" },
  { "trap", at_start(" if (K > 0) __trap(); ", "int K"), "error", "" },
  { "launch failure", function(text, desc)
      return text, (desc:gsub('"smem":%d+', '"smem":300000'))
    end, "refused", "shared memory" },
  { "nvcc crashes", comment "nvcc crashes", "build", "killed by signal" },
  { "nvcc hangs", comment "nvcc hangs", "build", "no end after" },
}

-- nvcc, which crashes or never ends where the source says so.
local function faulty_nvcc(real)
  local path = work .. "/nvcc"
  put(path, string.format([[#!/bin/sh
for a in "$@"; do
  case $a in *.cu)
    if grep -q '^// nvcc crashes' "$a"; then kill -9 $$; fi
    if grep -q '^// nvcc hangs' "$a"; then sleep 600; fi ;;
  esac
done
exec '%s' "$@"
]], (real:gsub("'", "'\\''"))))
  local pool = host.pool(1)
  pool:submit { argv = { "chmod", "+x", path } }
  check(pool:wait().code == 0, "cannot make '%s' a program", path)
  return path
end

-- Plants a fault in a kernel: false where it does not fit.
local function plant(kernel, fault)
  local text, desc = fault[2](kernel.text, kernel.desc)
  if not text then return false end
  local base = string.format("%s/fault-%s", work, (fault[1]:gsub(" ", "-")))
  kernel.text, kernel.desc, kernel.fault = text, desc, fault
  kernel.cu, kernel.json, kernel.stem = base .. ".cu", base .. ".json", "fault-" .. fault[1]
  put(kernel.cu, text)
  put(kernel.json, desc .. (desc:find("\n$") and "" or "\n"))
  return true
end

-- Good kernels and faults by turns: each fault goes into the first kernel that it fits. The last good one's worker is
-- killed while it measures.
local function planted(kernels)
  local left, with, good, out = {}, {}, {}, {}
  table.move(kernels, 1, #kernels, 1, left)
  for _, fault in ipairs(FAULTS) do
    for i, kernel in ipairs(left) do
      if plant(kernel, fault) then
        with[#with + 1] = table.remove(left, i)
        break
      end
    end
  end
  check(#with == #FAULTS and #left >= GOOD, "%d kernels are too few for %d faults", #kernels, #FAULTS)
  for i = 1, math.max(GOOD, #with) do
    good[#good + 1] = left[i]
    out[#out + 1] = left[i]
    out[#out + 1] = with[i]
  end
  good[3].fault = { "worker killed", nil, "ok", "" }
  return out, good
end

-- ------------------------------------------------------------------------------- a bench with its times

-- Kills a worker a moment after it got its job.
local function kill_soon(pid)
  host.spawn { argv = { "sh", "-c", "sleep 0.02; kill -9 " .. pid }, stderr = work .. "/kill.log" }
end

-- A session that notes how long each measurement of the first heat took, in turn, by key.
local function timed(session, by_cubin, times)
  local time = session.time
  function session.time(self, problem, id, job)
    local kernel = by_cubin[id]
    local first = kernel and not times[kernel.key]
    if first and kernel.fault and kernel.fault[1] == "worker killed" then
      self:prepare(problem)
      kill_soon(self.w.child:pid())
    end
    local began = host.now()
    local restarts = self.restarts
    local status, answer = time(self, problem, id, job)
    if first then
      times[kernel.key] = host.now() - began
      kernel.restarts = self.restarts - restarts
    end
    return status, answer
  end
  return session
end

-- Runs the bench on kernels that `change` has changed: {kernels, good, times by key, seconds of the build, rows}.
local function run(name, change)
  local run_ = { times = {}, by_cubin = {} }
  local emit_all, build_run, session = emit.all, build.run, worker.session
  local present, refused = measure.gpu_present, rules.refused
  if host.getenv("WORKER") then measure.gpu_present = function() return true end end
  rules.refused = function() return nil end -- __trap and its like are refused before their launch, usually
  emit.all = function(items, dir)
    run_.kernels, run_.good = change(emit_all(items, dir))
    return run_.kernels
  end
  build.run = function(list, opt, on_row)
    local began = host.now()
    local done, version = build_run(list, opt, on_row)
    run_.built = host.now() - began
    for _, kernel in ipairs(list) do run_.by_cubin[kernel.built.cubin_sha or ""] = kernel end
    return done, version
  end
  worker.session = function(opt) return timed(session(opt), run_.by_cubin, run_.times) end
  local opt = { verb = "bench", given = {}, backend = "cuda", device = device.get "h200", problems = { PROBLEM },
                n = GOOD + #FAULTS, space = { "hopper", "mma" }, out = work, store = work .. "/" .. name .. ".db",
                layout = { "tn" }, dtype = "f16", acc = "f32", timeout = TIMEOUT, processes = 1, baselines = "gemmex",
                nvcc = faulty_nvcc(build.need_nvcc {}), worker = host.getenv("WORKER"), jobs = 4 }
  for _, tail in ipairs { "", "-wal", "-shm" } do host.remove(opt.store .. tail) end
  local ok, code = pcall(bench.run, opt)
  emit.all, build.run, worker.session = emit_all, build_run, session
  measure.gpu_present, rules.refused = present, refused
  if not ok then error(code, 0) end
  check(not host.interrupted(), "interrupted")
  local st = store.reader(opt.store)
  run_.rows = st:latest(PROBLEM)
  st:close()
  return run_
end

-- ------------------------------------------------------------------------------- what came out

local COMPLETE = { "us", "us_pdl", "cublas_nn_us", "cublas_tn_us", "ratio", "ratio_lo", "ratio_hi", "ratio_pdl", "err",
                   "rms", "blocks", "checked", "families" }

local function row_of(rows, kernel, pass)
  for _, row in ipairs(rows) do
    if row.key == kernel.key and row.pass == pass then return row end
  end
end

-- Why a good kernel's rows are not complete, nil where they are. Without WORKER all figures must be there.
local function incomplete(rows, kernel)
  local row = row_of(rows, kernel, 1)
  if not row then return "no row" end
  if row.status ~= "ok" then return string.format("%s: %s", row.status, row.why or "") end
  for _, name in ipairs(host.getenv("WORKER") and { "us", "ratio" } or COMPLETE) do
    if not row[name] and (kernel.launch.pdl or not name:find("pdl")) then return "no " .. name end
  end
end

-- What a fault cost: its own time, and what the next kernel took longer than in the run without faults. For a worker
-- that was killed its own time, less what the kernel took then.
local function cost(with, without, i)
  local kernel = with.kernels[i]
  if kernel.fault[3] == "build" then return kernel.fault[1] == "nvcc hangs" and with.built or 0.0 end
  local lost = with.times[kernel.key] or 0.0
  if kernel.fault[1] == "worker killed" then return lost - (without.times[kernel.key] or 0.0) end
  for j = i + 1, #with.kernels do
    local next_ = with.kernels[j]
    if with.times[next_.key] and not next_.fault then
      return lost + math.max(0.0, with.times[next_.key] - (without.times[next_.key] or 0.0))
    end
  end
  return lost
end

-- Why a fault did not become the row it should; nil where it did.
local function unlike(rows, kernel)
  local status, piece = kernel.fault[3], kernel.fault[4]
  local row = row_of(rows, kernel, 1)
  if not row then return "no row" end
  if row.status ~= status then return string.format("%s, not %s: %s", row.status, status, row.why or "") end
  if kernel.fault[1] == "worker killed" and kernel.restarts == 0 then return "the worker was done before" end
  if not (row.why or ""):find(piece, 1, true) then return string.format("'%s' lacks '%s'", row.why or "", piece) end
end

local function report(with, without)
  local survived, count, odd, complete = 0, 0, {}, true
  host.out("\nfault             lost s  row\n")
  for i, kernel in ipairs(with.kernels) do
    if kernel.fault then
      local lost, row = cost(with, without, i), row_of(with.rows, kernel, 1)
      local why = unlike(with.rows, kernel) or lost > MOST and string.format("more than %d s", MOST) or nil
      count = count + 1
      if not why then survived = survived + 1 end
      odd[#odd + 1] = why and kernel.fault[1] .. ": " .. why or nil
      host.out(string.format("%-16s %7.2f  %s: %s\n", kernel.fault[1], lost, row and row.status or "none",
                             row and row.why or ""))
    end
  end
  for _, kernel in ipairs(with.good) do
    local why = incomplete(with.rows, kernel)
    complete = complete and not why
    if why then odd[#odd + 1] = "good kernel " .. kernel.key .. ": " .. why end
  end
  local best
  for _, row in ipairs(with.rows) do best = best or row.pass == 4 and row.status == "ok" end
  if not best then odd[#odd + 1] = "no result of the finals" end
  for _, text in ipairs(odd) do host.out(text .. "\n") end
  host.out(string.format("good kernels: %d, their rows %s\n", #with.good, complete and "complete" or "not complete"))
  host.out(string.format("faults: %d of %d survived\n", survived, count))
  return #odd == 0 and survived == count
end

local function main()
  check(host.mkdir(work), "cannot make '%s'", work)
  local without = run("without", function(kernels) return kernels, kernels end)
  for _, kernel in ipairs(without.kernels) do
    local why = incomplete(without.rows, kernel)
    check(not why, "without faults, %s: %s", kernel.key, why or "")
  end
  return report(run("with", planted), without) and 0 or 1
end

local ok, code = pcall(main)
if not ok and not fail.text(code) then error(code, 0) end
if not ok then host.err(fail.text(code) .. "\n") end
return ok and code or 2
