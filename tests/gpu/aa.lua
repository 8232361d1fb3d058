-- aa.lua -- what a verdict is worth: kernels against themselves, then against copies that are 1 % slower.
--
--   loom --script tests/gpu/aa.lua     N=200 comparisons in one process a problem, PROCESSES=10 more in fresh ones;
--                                      BACKEND=cuda|fake, WORKER=path in the environment
--
-- A kernel timed beside a second load of the same cubin is neither faster nor slower: at most 1 % of such comparisons
-- may say so. A copy that waits at its start until 1 % of its time has gone is slower: nine in ten must say so. How
-- many cycles that is is found by measuring. Such a copy reads a clock, which no kernel of ours may.

require "strict"

local build = require "build"
local device = require "device"
local emit = require "emit"
local fail = require "fail"
local measure = require "measure"
local pair = require "pair"
local select_ = require "select"
local worker = require "worker"

local fmt = string.format

local function problem(m, n, k, layout)
  return { M = m, N = n, K = k, layout = layout, dtype = "f16", acc = "f32" }
end

-- From some microseconds to a millisecond.
local PROBLEMS = {
  problem(256, 256, 256, "tn"), problem(512, 512, 512, "nn"), problem(512, 4096, 1024, "tn"),
  problem(1024, 1024, 1024, "nn"), problem(2048, 2048, 2048, "tn"), problem(4096, 4096, 512, "nn"),
  problem(3072, 4096, 3072, "tn"), problem(4096, 2048, 4096, "nn"), problem(4096, 4096, 4096, "tn"),
  problem(8192, 4096, 4096, "nn"),
}
-- At least 100 us each.
local LONG = {
  problem(3072, 4096, 3072, "nn"), problem(3072, 4096, 3072, "tn"), problem(4096, 4096, 4096, "nn"),
  problem(4096, 4096, 4096, "tn"), problem(2048, 8192, 4096, "nn"), problem(8192, 2048, 4096, "tn"),
  problem(6144, 6144, 2048, "nn"), problem(4096, 8192, 2048, "tn"), problem(8192, 4096, 4096, "nn"),
  problem(4096, 8192, 4096, "tn"),
}

local SLOWER = 0.01        -- of a copy, as a part of its time
local NEAR = 0.001         -- so far its slowdown may be from that
local STEP_NS = 0.57       -- a step of waiting, one cycle, before it was measured
local TRIAL, MANY = 32, 64 -- blocks
local ROUNDS = 4           -- of finding the number of steps
local FOUND = 0.9          -- of the copies must be found slower

-- ------------------------------------------------------------------------------- set-up

local function number_of(name, usual, most)
  local text = host.getenv(name)
  if not text or text == "" then return usual end
  local n = text:find("^%d+$") and math.tointeger(tonumber(text))
  if not n or n > most then fail(fmt("aa: %s '%s' is not a number from 0 to %d", name, text, most)) end
  return n
end

local function setting(name)
  local text = host.getenv(name)
  return text ~= "" and text or nil
end

-- What runs the kernels: {opt, backend, dir}; the space of its kernels, which SPACE may name, a file.
local function open()
  local opt = { device = device.present() or device.get("h200"), worker = setting("WORKER"), out = host.root .. "/out",
                nvcc = setting("NVCC") }
  opt.backend = setting("BACKEND") or measure.backend_name({})
  if opt.backend ~= "cuda" and opt.backend ~= "fake" then
    fail(fmt("aa: BACKEND=%s times nothing: cuda does, where a GPU is; fake shows the flow", opt.backend))
  end
  return { opt = opt, backend = measure.backend(opt), dir = host.root .. "/out/build/aa", hopper = setting("SPACE") or "hopper" }
end

local function session_of(run)
  return worker.session { argv = run.backend.argv, log = run.dir .. "/worker.log", timeouts = { time = 120 } }
end

-- The most promising kernel of each space in `spaces`, for a problem.
local function kernels_of(run, p, spaces)
  local out = {}
  for i, name in ipairs(spaces) do
    local item = select_.pick(p, run.opt.device, { space = { name }, n = 1 })[1]
    out[i] = emit.render(item)
    out[i].ns = item.ns
    emit.write(out[i], run.dir)
  end
  return out
end

local function check_built(kernels)
  for _, kernel in ipairs(kernels) do
    if not kernel.built then fail("aa: interrupted") end
    if kernel.built.error then fail(fmt("aa: %s", kernel.built.error)) end
  end
end

local function title(p, kernel)
  return fmt("%dx%dx%d %s %s", p.M, p.N, p.K, p.layout, kernel.key:match("^[^:]*"))
end

-- One comparison: {plain, pdl} as pair.of_answer says them. A kernel that fails is a fault of the tree, no figure.
local function compare(session, p, kernel, rival, blocks)
  local id = fmt("%s %s", kernel.built.cubin_sha, rival.built.cubin_sha)
  local status, answer = session:time(p, id, pair.job(kernel, rival, blocks))
  if status ~= "ok" then fail(fmt("aa: %s: %s: %s", title(p, kernel), status, answer.why or "")) end
  local plain = pair.of_answer(answer, "")
  if not plain then fail("aa: the worker does not time two kernels at once") end
  return { plain, pair.of_answer(answer, "_pdl") }
end

-- ------------------------------------------------------------------------------- a kernel against itself

local QUIET = { SAME = true, UNDECIDED = true }

local function new_tally(p, kernel)
  return { title = title(p, kernel), count = 0, words = {}, far = { 0.0, 0.0 } }
end

-- Counts one comparison; how many of its verdicts are false, each of which is listed.
local function judge(tally, found, where)
  local bad = 0
  tally.count = tally.count + 1
  for i, d in ipairs(found) do
    local name = i == 1 and d.verdict or "pdl " .. d.verdict
    tally.words[name] = (tally.words[name] or 0) + 1
    tally.far[i] = math.max(tally.far[i], math.abs(math.log(d.factor)))
    if not QUIET[d.verdict] then
      bad = bad + 1
      host.out(fmt("false   %s%s: %s %s%s\n", tally.title, i == 2 and " pdl" or "", pair.text(d), d.verdict, where))
    end
  end
  return bad
end

local function print_tally(t)
  local words = {}
  for _, word in ipairs { "SAME", "UNDECIDED", "FASTER", "SLOWER" } do
    for _, name in ipairs { word, "pdl " .. word } do
      if t.words[name] then words[#words + 1] = fmt("%s %d", name, t.words[name]) end
    end
  end
  host.out(fmt("%-32s %3d comparisons: %s; furthest %.2f %%, pdl %.2f %%\n", t.title, t.count, table.concat(words, ", "),
               100 * t.far[1], 100 * t.far[2]))
end

-- Each problem's share of n comparisons, its kernels in turns; how many verdicts were false.
local function in_one_process(run, list, n)
  local bad = 0
  for i, e in ipairs(list) do
    local session, tallies = session_of(run), {}
    for j, kernel in ipairs(e.kernels) do tallies[j] = new_tally(e.problem, kernel) end
    for c = 1, n // #list + (i <= n % #list and 1 or 0) do
      local at = (c - 1) % #e.kernels + 1
      local kernel = e.kernels[at]
      bad = bad + judge(tallies[at], compare(session, e.problem, kernel, kernel), "")
    end
    session:stop()
    for _, tally in ipairs(tallies) do
      if tally.count > 0 then print_tally(tally) end
    end
  end
  return bad
end

local function in_fresh_processes(run, list, n)
  local bad = 0
  for i = 1, n do
    local e = list[(i - 1) % #list + 1]
    local kernel, session = e.kernels[1], session_of(run)
    local tally = new_tally(e.problem, kernel)
    bad = bad + judge(tally, compare(session, e.problem, kernel, kernel), ", in a fresh process")
    session:stop()
  end
  return bad
end

-- Kernels of every problem, built; one key is one kernel.
local function prepared(run, problems, spaces)
  local list, all, by_key = {}, {}, {}
  for i, p in ipairs(problems) do
    p.job = measure.problem_job(p)
    list[i] = { problem = p, kernels = kernels_of(run, p, spaces) }
    for j, kernel in ipairs(list[i].kernels) do
      local known = by_key[kernel.key]
      by_key[kernel.key] = known or kernel
      list[i].kernels[j] = by_key[kernel.key]
      if not known then all[#all + 1] = kernel end
    end
  end
  run.backend.build(all, run.opt)
  check_built(all)
  return list
end

local function same(run, n, processes)
  local list = prepared(run, PROBLEMS, { run.hopper, "mma" })
  local bad = in_one_process(run, list, n) + in_fresh_processes(run, list, processes)
  return n + processes, bad
end

-- ------------------------------------------------------------------------------- a copy that is slower

-- The wait of one thread, which all others of its CTA wait for.
local WAIT = [[#include "loom.cuh"

constexpr int delay_steps = %d;

__device__ __forceinline__ void delay_by_steps() {
  const long long from = clock64();
  while (clock64() - from < delay_steps) {
  }
}
]]

local function replaced(text, find, replace)
  local at, last = text:find(find, 1, true)
  if not at or text:find(find, last + 1, true) then fail(fmt("aa: the kernel does not have '%s' once", find)) end
  return text:sub(1, at - 1) .. replace .. text:sub(last + 1)
end

-- The i-th copy: of `kernel`, one that waits so many steps when its operands are ready.
local function slowed(run, kernel, steps, i)
  local text = replaced(kernel.text, '#include "loom.cuh"\n', fmt(WAIT, steps))
  local copy = setmetatable({ text = replaced(text, "grid_dep_wait();", "grid_dep_wait(), delay_by_steps();"),
                              stem = fmt("%s-slow%d", kernel.stem, i), steps = steps }, { __index = kernel })
  copy.built = false
  emit.write(copy, run.dir)
  return copy
end

-- The rules are not for these copies.
local function build_copies(run, copies)
  if run.opt.backend == "cuda" then
    build.variant(copies, run.opt, "built", {})
  else
    run.backend.build(copies, run.opt)
  end
  check_built(copies)
end

-- Steps that make a copy SLOWER, by what one with other steps was found to be.
local function better_guess(steps, slowdown)
  if slowdown < SLOWER / 20 then return steps * 4 end -- too little to be measured
  return math.max(1, math.floor(steps * SLOWER / slowdown + 0.5))
end

local function slowdown_of(d)
  return 1 / d.factor - 1
end

-- One round for the copies that are not settled yet: a slowdown that is near enough is followed by the comparison
-- that counts. Returns those that need another number of steps.
local function round_of(run, entries, blocks)
  local left, session = {}, session_of(run)
  for _, e in ipairs(entries) do
    local slowdown = slowdown_of(compare(session, e.problem, e.copy, e.kernel, blocks)[1])
    e.slowdown = slowdown
    if math.abs(slowdown - SLOWER) <= NEAR then
      e.found = compare(session, e.problem, e.copy, e.kernel)
    else
      left[#left + 1] = e
    end
  end
  session:stop()
  return left
end

local function print_copy(e)
  if not e.found then
    host.out(fmt("%-32s no copy is %.1f %% slower: %d steps are %.2f %%\n", title(e.problem, e.kernel), 100 * SLOWER,
                 e.copy.steps, 100 * e.slowdown))
    return false
  end
  local plain, pdl = e.found[1], e.found[2]
  host.out(fmt("%-32s %6d steps, %.2f %% slower: %s %s%s\n", title(e.problem, e.kernel), e.copy.steps, 100 * e.slowdown,
               pair.text(plain), plain.verdict, pdl and fmt("; pdl %s %s", pair.text(pdl), pdl.verdict) or ""))
  return plain.verdict == "SLOWER"
end

local function slower(run)
  local entries = {}
  for i, e in ipairs(prepared(run, LONG, { run.hopper })) do
    local kernel = e.kernels[1]
    entries[i] = { place = i, problem = e.problem, kernel = kernel, steps = math.max(1, kernel.ns * SLOWER // STEP_NS) }
  end
  local left = entries
  for round = 1, ROUNDS do
    local copies = {}
    for i, e in ipairs(left) do
      e.copy = slowed(run, e.kernel, math.tointeger(e.steps), e.place)
      copies[i] = e.copy
    end
    if #copies == 0 then break end
    build_copies(run, copies)
    left = round_of(run, left, round == 1 and TRIAL or MANY)
    for _, e in ipairs(left) do e.steps = better_guess(e.copy.steps, e.slowdown) end
  end
  local found = 0
  for _, e in ipairs(entries) do found = found + (print_copy(e) and 1 or 0) end
  return #entries, found
end

-- ------------------------------------------------------------------------------- all

local function main()
  local began, run = host.now(), open()
  local n, processes = number_of("N", 200, 100000), number_of("PROCESSES", 10, 1000)
  assert(host.mkdir(run.dir))
  local count, bad = same(run, n, processes)
  host.out(fmt("aa: %d comparisons, %d verdicts other than SAME or UNDECIDED\n", count, bad))
  local middle = host.now()
  local copies, found = slower(run)
  host.out(fmt("%s, %.0f s and %.0f s\n", run.opt.backend, middle - began, host.now() - middle))
  host.out(fmt("slow: %d of %d found slower\n", found, copies))
  return bad <= count / 100 and found >= FOUND * copies and 0 or 1
end

local ok, code = pcall(main)
if not ok and not fail.text(code) then error(code, 0) end
if not ok then host.err("loom: " .. fail.text(code) .. "\n") end
return ok and code or 2
