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
local rank = require "rank"
local screen = require "screen"

local answers = { passes = { { blocks = 8 }, { blocks = 32, best = 4 } } }

local FINAL_COST = 3 -- a measurement of the second pass, in those of the first

-- What the journal keeps of a row, and which of it is text.
local kept = { "status", "why", "identity", "us", "us_pdl", "cublas_nn_us", "cublas_tn_us", "ratio",
               "ratio_lo", "ratio_hi", "ratio_pdl", "ratio_pdl_lo", "ratio_pdl_hi", "regs",
               "spills", "warnings", "starved" }
local words = { status = true, why = true, identity = true, warnings = true }

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

-- Milliseconds that the end needs: a fresh worker, and the best kernels once more.
local function reserve(s)
  local each = s.timed > 0 and s.timed_ms // s.timed or 0
  local wanted = s.prepare_ms + answers.passes[2].best * FINAL_COST * each + 1000
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

-- Measures and stores one kernel: its row, nil when interrupted.
local function time_kernel(s, item, pass)
  if item.refused then return { status = "render", why = item.refused } end
  local ctx, kernel = live(s), item.kernel
  local built = kernel.built
  if built.error then
    return measure.row(ctx, s.problem, kernel, pass, "build", { why = built.error })
  end
  local identity = host.sha256(measure.identity(kernel)):sub(1, 16)
  if pass == 1 and s.first[identity] then return same(s, kernel, s.first[identity]) end
  if pass == 1 then -- the second pass launches nothing new
    local verdict, why = screen.refusal(s, item)
    if verdict == "interrupted" then return nil end
    if verdict then return measure.row(ctx, s.problem, kernel, pass, verdict, { why = why }) end
  end
  local job = { { "cubin", built.cubin }, { "desc", kernel.json },
                { "blocks", answers.passes[pass].blocks } }
  local given_up = measure.begin(ctx, s.problem, kernel, pass)
  if given_up then return given_up end
  local status, answer = ctx.session:time(s.problem, built.cubin_sha, job)
  if status == "interrupted" or status == "unprepared" then measure.drop(ctx, s.problem, kernel, pass) end
  if status == "interrupted" then return nil end
  if status == "unprepared" then fail(rank.title(s.problem) .. ": " .. answer.why) end
  local row = measure.row(ctx, s.problem, kernel, pass, status, answer)
  row.identity = identity
  return row
end

-- The row of an answer: numbers are numbers again.
local function row_of(s, item, fields, pass)
  local p = s.problem
  local row = { key = item.key, cand = item.cand, pass = pass, m = p.M, n = p.N, k = p.K }
  for _, name in ipairs(kept) do
    row[name] = words[name] and fields[name] or tonumber(fields[name])
  end
  if row.status ~= "ok" and row.status ~= "same" then row.ratio = nil end
  return row
end

-- The row of a built item by its answer's id; nil when interrupted.
function answers.time(s, item, id, pass)
  local from = s.ms
  local fields = answers.learn(s, id, function()
    local row = time_kernel(s, item, pass)
    if not row then return nil end
    local out = {}
    for i, name in ipairs(kept) do out[i] = { name, row[name] } end
    return out
  end)
  if not fields then return nil end
  if pass == 1 then s.timed, s.timed_ms = s.timed + 1, s.timed_ms + s.ms - from end
  local row = row_of(s, item, fields, pass)
  if row.identity then s.first[row.identity] = s.first[row.identity] or row end
  return row
end

-- The next measurements begin in a fresh worker.
function answers.fresh_worker(s)
  if s.live then s.live.session:stop() end
end

-- Ends the worker: gently, or at once.
function answers.close(s, at_once)
  screen.close(s)
  if not s.live then return end
  if at_once then s.live.session:drop() else s.live.session:stop() end
  s.live.store:close()
end

return answers
