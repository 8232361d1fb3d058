-- answers: where a search's figures come from: its journal first, the GPU after that.
--
-- Whatever comes from outside goes through answers.learn: figures, the device, a language model's
-- edits. Time is the sum of what the journal says each answer took (compilers are counted with the
-- answer after them), so a search that is started again takes the same decisions. The worker is
-- started when the journal lacks an answer, and never before.
--
-- Of `s`, the search, this reads opt, problem, device, journal, budget_ms and fixed_ms (fake
-- backend), and keeps up ms, mark, timed, timed_ms, prepare_ms, first (what kernel an identity was
-- met in) and live (the worker and the store, once they are needed). What is launched is what screen.lua
-- lets through.

local emit = require "emit"
local fail = require "fail"
local measure = require "measure"
local outdir = require "outdir"
local pooled = require "pooled"
local race = require "race"
local rank = require "rank"
local screen = require "screen"
local store = require "store"

local answers = { blocks = 8, finalists = 3 }

local FINAL_COST = 3 -- a measurement of the finals, in those before

-- What the journal keeps of a row: of any, of a finalist's in one process, of a result; and which of it is text.
local kept = { "status", "why", "identity", "us", "us_pdl", "cublas_nn_us", "cublas_tn_us", "ratio",
               "ratio_lo", "ratio_hi", "ratio_pdl", "ratio_pdl_lo", "ratio_pdl_hi", "regs",
               "spills", "warnings", "starved" }
local of_result = { "ratio_nv", "ratio_nv_lo", "ratio_nv_hi", "ratio_nv_pdl", "ratio_nv_pdl_lo", "ratio_nv_pdl_hi",
                    "best_nv", "best_nv_us", "verdict", "verdict_pdl", "processes", "blocks", "throttled", "throttle",
                    "drift", "unsteady", "clock_mhz" }
local words = { status = true, why = true, identity = true, warnings = true, samples = true, throttle = true,
                best_nv = true, best_nv_algo = true, cublas_math = true, verdict = true, verdict_pdl = true }

local function with(names, more)
  local out, seen = {}, {}
  for _, list in ipairs { names, more } do
    for _, name in ipairs(list) do
      if not seen[name] then out[#out + 1] = name end
      seen[name] = true
    end
  end
  return out
end

local names_of = { kept, nil, with(kept, pooled.reads), with(kept, of_result) } -- by pass

-- What is known by this id, from the journal or else from live(), which returns pairs, or nil when
-- there is no answer: the user interrupted, the language model was given up. A second value of
-- live() that is true makes the journal hold the answer back.
function answers.learn(s, id, live)
  local fields = s.journal:find(id)
  if not fields then
    local pairs_, held = live()
    if not pairs_ or host.interrupted() then return nil end
    local now = host.now()
    local ms = s.fixed_ms or math.floor((now - s.mark) * 1000 + 0.5)
    s.mark = now
    fields = s.journal:add(id, table.move(pairs_, 1, #pairs_, 2, { { "ms", ms } }), held)
  end
  s.ms = s.ms + math.tointeger(tonumber(fields.ms))
  return fields
end

-- Milliseconds that the end needs: fresh workers, which look at the libraries' options too, and the best
-- kernels in each.
local function reserve(s)
  local each = s.timed > 0 and s.timed_ms // s.timed or 0
  local wanted = race.processes(s.opt) * (s.prepare_ms + answers.finalists * FINAL_COST * each + 500) + 500
  return math.min(wanted, s.budget_ms // 2)
end

-- Does the journal hold more first measurements than the search came to? A larger BUDGET did.
function answers.more(s)
  return s.journal:count("^time ") > s.timed
end

-- Is the time over, but for the end?
function answers.spent(s)
  return s.ms + reserve(s) >= s.budget_ms
end

-- ------------------------------------------------------------------------------- the worker

local device_fields = { "device", "driver", "cuda", "cublas", "nvcc" }

-- A journal goes on where it was begun: figures of another device do not compare.
local function check_device(s, common)
  local seen = s.journal:find("device")
  for _, name in ipairs(seen and device_fields or {}) do
    local here = tostring(common[name])
    if seen[name] ~= here then
      fail(string.format("'%s' was measured with %s '%s', here it is '%s': say RUN=name",
                         s.journal.shown, name, seen[name] or "?", here))
    end
  end
end

-- Seconds for one kernel before its worker is killed: 5, and 4000 products at 40 % of the device's
-- peak. A measurement is some hundred; bench waits longer, but here the others wait too.
local function limit(s)
  local p, d = s.problem, s.device
  return 5 + math.ceil(4000 * 2.0 * p.M * p.N * p.K / (0.4e12 * d.tensor_tflops))
end

-- The worker and the store; nil when the user interrupted.
local function live(s)
  if s.live then return s.live end
  local ctx = measure.start(s.opt, { time = limit(s) })
  if ctx then check_device(s, ctx.common) end
  s.live = ctx
  return ctx
end

-- Starts the worker of a new search and readies the problem; what that takes, the end takes again.
-- Returns what the device is, nil when interrupted.
function answers.device(s)
  local fields = answers.learn(s, "device", function()
    local ctx = live(s)
    if not ctx then return nil end
    local ok, kind, why = ctx.session:prepare(s.problem)
    if not ok and kind ~= "interrupted" then fail(rank.title(s.problem) .. ": " .. why) end
    local out = {}
    for i, name in ipairs(device_fields) do out[i] = { name, ctx.common[name] } end
    return ok and out
  end)
  s.prepare_ms = s.ms
  return fields
end

-- Renders one item; a template that refuses it (an edit may go where no kernel exists) is its verdict.
local function render(s, item)
  local ok, kernel = pcall(emit.render, item)
  if ok then
    emit.write(kernel, outdir.path(s.opt, "kernels"))
    item.kernel = kernel
    return kernel
  end
  item.refused = fail.text(kernel) or error(kernel, 0)
end

-- Renders and compiles those of `items` whose answer, id_of(item), is not known; false when
-- interrupted.
function answers.build(s, items, id_of)
  local kernels, ctx = {}, nil
  for _, item in ipairs(items) do
    if not s.journal:find(id_of(item)) then
      ctx = live(s)
      if not ctx then return false end
      kernels[#kernels + 1] = render(s, item)
    end
  end
  if #kernels == 0 then return true end
  return ctx.backend.build(kernels, s.opt) and not host.interrupted() and screen.build(s, items)
end

-- ------------------------------------------------------------------------------- one kernel

-- A cubin that was met before under another key: its figures hold for this one too.
local function same(s, kernel, twin)
  local row = measure.row(s.live, s.problem, kernel, 1, "same", { why = "equals " .. twin.key })
  row.ratio = twin.ratio
  return row
end

-- Times and stores one kernel: its row, nil when interrupted.
local function launch(s, kernel, pass, job, extra)
  local row, how, why = measure.time(live(s), s.problem, kernel, pass, job, extra)
  if not row and how == "unprepared" then fail(rank.title(s.problem) .. ": " .. why) end
  return row
end

-- Measures and stores one kernel: its row, nil when interrupted.
local function time_kernel(s, item)
  if item.refused then return { status = "render", why = item.refused } end
  local ctx, kernel = live(s), item.kernel
  local built = kernel.built
  if built.error then return measure.row(ctx, s.problem, kernel, 1, "build", { why = built.error }) end
  local identity = host.sha256(measure.identity(kernel)):sub(1, 16)
  if s.first[identity] then return same(s, kernel, s.first[identity]) end
  local verdict, why = screen.refusal(s, item) -- the finals launch nothing new
  if verdict == "interrupted" then return nil end
  if verdict then return measure.row(ctx, s.problem, kernel, 1, verdict, { why = why }) end
  local row = launch(s, kernel, 1, { { "cubin", built.cubin }, { "desc", kernel.json }, { "blocks", answers.blocks } })
  if row and row.status ~= "quarantined" then row.identity = identity end
  return row
end

-- The row of an answer: numbers are numbers again.
local function row_of(s, item, fields, pass)
  local p = s.problem
  local row = { key = item.key, cand = item.cand, pass = pass, schema = store.version, m = p.M, n = p.N, k = p.K }
  for _, name in ipairs(names_of[pass]) do
    row[name] = words[name] and fields[name] or tonumber(fields[name])
  end
  if row.status ~= "ok" and row.status ~= "same" then row.ratio = nil end
  return row
end

-- The pairs that the journal keeps of a row.
local function pairs_of(row, pass)
  local out = {}
  for i, name in ipairs(names_of[pass]) do out[i] = { name, row[name] } end
  return out
end

-- The row of a built item by its answer's id; nil when interrupted.
function answers.time(s, item, id)
  local from = s.ms
  local fields = answers.learn(s, id, function()
    local row = time_kernel(s, item)
    return row and pairs_of(row, 1)
  end)
  if not fields then return nil end
  s.timed, s.timed_ms = s.timed + 1, s.timed_ms + s.ms - from
  local row = row_of(s, item, fields, 1)
  if row.identity then s.first[row.identity] = s.first[row.identity] or row end
  return row
end

-- ------------------------------------------------------------------------------- finals

local function final_of(s, item, id, process)
  local fields = answers.learn(s, string.format("final %s %d %s", id, process, item.key), function()
    local job, extra = race.final_job(item.kernel, process)
    local row = launch(s, item.kernel, race.final_pass, job, extra)
    return row and pairs_of(row, race.final_pass)
  end)
  return fields and row_of(s, item, fields, race.final_pass)
end

-- One process: the rows of all items that are still in go behind theirs; false when interrupted.
local function run_process(s, items, id, process)
  s.problem.job = race.final_problem(s.problem, s.opt, process)
  if s.live then s.live.session:stop() end
  for i = 1, #items do
    local item = race.turn(items, process, i)
    if not item.failed then
      local row = final_of(s, item, id, process)
      if not row then return false end
      item.rows[process] = row
      item.failed = row.status ~= "ok" and row or nil
      s.note("final " .. emit.stem(item.b.space.name, item.key))
    end
  end
  return true
end

-- The result of an item from its rows; nil when interrupted.
local function result_of(s, item, id)
  local fields = answers.learn(s, answers.result_id(s, id, item), function()
    local row = measure.result(live(s), s.problem, item.kernel, race.result_pass, item.rows)
    return pairs_of(row, race.result_pass)
  end)
  return fields and row_of(s, item, fields, race.result_pass)
end

-- The id of an item's result in the finals named `id`: once it is known, so is all that it is made of.
function answers.result_id(s, id, item)
  return string.format("result %s %d %s", id, race.processes(s.opt), item.key)
end

-- The best kernels in fresh workers, as in a bench (race.lua): their results, or the row with which one fell; nil
-- when interrupted. The items are built; `id` names these finals.
function answers.finals(s, items, id)
  local out = {}
  for _, item in ipairs(items) do item.rows = {} end
  for process = 1, race.processes(s.opt) do
    if not run_process(s, items, id, process) then return nil end
  end
  for i, item in ipairs(items) do
    out[i] = item.failed or result_of(s, item, id)
    if not out[i] then return nil end
  end
  return out
end

-- Ends the worker: gently, or at once.
function answers.close(s, at_once)
  screen.close(s)
  if not s.live then return end
  if at_once then s.live.session:drop() else s.live.session:stop() end
  s.live.store:close()
end

return answers
