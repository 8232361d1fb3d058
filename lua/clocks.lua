-- clocks: the best kernel of a problem by other clocks than the bench's: what a caller sees of it.
--
-- The bench times launches back to back on cold operands. CLOCKS asks for more: hot (operands in L2) and chain
-- (GEMMs that depend on each other, with a small kernel between) in device time; call (one call up to its
-- completion), server (requests that arrive at random) and server-graph (the same by replayed graphs) in host
-- time. Each has a base of its own, cuBLAS in the same place, and is a row of the store with its name in `clock`.

local measure = require "measure"
local tab = require "tab"

local clocks = {}

local fmt = string.format

local BLOCKS = 32
local SECONDS = 2 -- that a host clock runs

-- ------------------------------------------------------------------------------- answers

-- Figures of a chain stand in the places of those of single launches, which say nothing of it.
local CHAIN = { us = "chain_us", us_pdl = "chain_us_pdl", cublas_us = "chain_cublas_us", verdict = "verdict_chain",
                verdict_pdl = "verdict_chain_pdl" }
for _, tail in ipairs { "", "_lo", "_hi", "_pdl", "_pdl_lo", "_pdl_hi" } do
  CHAIN["ratio" .. tail] = "ratio_chain" .. tail
end

local KEPT = { "err", "rms", "blocks", "starved", "reps", "checked", "clock_mhz", "power_w", "temp_c", "throttle",
               "throttled", "drift", "drifted", "unsteady", "families", "holes", "ms_families", "ms_changed" }

local function of_chain(answer)
  local out = {}
  for name, from in pairs(CHAIN) do out[name] = answer[from] end -- order does not matter: a table again
  for _, name in ipairs(KEPT) do out[name] = answer[name] end
  return out
end

-- The faster layout of cuBLAS is the base.
local function of_time(answer)
  local nn, tn = tonumber(answer.cublas_nn_us), tonumber(answer.cublas_tn_us)
  answer.cublas_us = nn and tn and fmt("%.6g", math.min(nn, tn))
  return answer
end

local function as_it_is(answer)
  return answer
end

-- ------------------------------------------------------------------------------- which clocks

-- Every clock by the word that asks for it, in the order of tables: whose time, the worker's verb and fields
-- beside the kernel, what makes a row of its answer; loads, a row each, in per cent of what cuBLAS can serve.
local CLOCKS = {
  { name = "hot", time = "device", fields = { { "blocks", BLOCKS } }, cache = "hot", read = of_time },
  { name = "chain", time = "device", fields = { { "blocks", BLOCKS }, { "chain", 1 } }, read = of_chain },
  { name = "call", time = "host" },
  { name = "server", time = "host", loads = { 10, 50 } },
  { name = "server-graph", time = "host", loads = { 10, 50 } },
}

clocks.names = {}
for i, clock in ipairs(CLOCKS) do
  clocks.names[i] = clock.name
  clock.verb = clock.time == "host" and "clock" or "time"
  if clock.time == "host" then
    clock.read = as_it_is
    clock.fields = { { "kind", clock.name }, { "seconds", SECONDS } }
  end
end

local function of_name(name)
  for _, clock in ipairs(CLOCKS) do
    if clock.name == name then return clock end
  end
end

-- The rows that `names` ask for, in the table's order: {clock, load}.
local function wanted(names)
  local out, asked = {}, {}
  for _, name in ipairs(names or {}) do asked[name] = true end
  for _, clock in ipairs(CLOCKS) do
    if asked[clock.name] then
      for _, load in ipairs(clock.loads or { false }) do out[#out + 1] = { clock = clock, load = load or nil } end
    end
  end
  return out
end

-- ------------------------------------------------------------------------------- the store

local SAME = { "backend", "preset", "device", "uuid", "driver", "cuda", "cublas", "nvcc" }

-- The newest row of each clock and load that the store has of the kernel of `row`, measured on the machine and by
-- the versions that `common` names: by "clock load".
local function stored(st, problem, row, common)
  local found = {}
  if not (row.hash and row.source) then return found end
  for _, clock in ipairs(CLOCKS) do
    local where = { clock = clock.name }
    for _, name in ipairs(SAME) do where[name] = common[name] end
    for _, r in ipairs(st:of_size(problem, where)) do
      local same = r.layout == problem.layout and r.hash == row.hash and r.source == row.source and r.cubin == row.cubin
      if same then found[fmt("%s %s", clock.name, r.load or "")] = r end
    end
  end
  return found
end

local function at(found, want)
  return found[fmt("%s %s", want.clock.name, want.load or "")]
end

-- The rows of opt.clocks that the store has of a problem's best kernel; nil while one is missing.
function clocks.known(ctx, problem, row)
  local list, found = {}, stored(ctx.store, problem, row, ctx.common)
  for i, want in ipairs(wanted(ctx.opt.clocks)) do
    list[i] = at(found, want)
    if not list[i] then return nil end
  end
  return list
end

-- Puts what the store has of other clocks beside the row of a problem's best kernel.
function clocks.attach(st, problem, row)
  local found, list = stored(st, problem, row, row), {}
  for _, want in ipairs(wanted(clocks.names)) do list[#list + 1] = at(found, want) end
  row.clocks = list
end

-- ------------------------------------------------------------------------------- measuring

local function job_of(kernel, want)
  local job = { { "cubin", kernel.built.cubin }, { "desc", kernel.json } }
  table.move(want.clock.fields, 1, #want.clock.fields, #job + 1, job)
  if want.load then job[#job + 1] = { "load", want.load } end
  return job
end

-- Measures one row and stores it; nil, "interrupted" or "unprepared", why where there is none.
local function measure_one(ctx, problem, kernel, want)
  local extra = { clock = want.clock.name, load = want.load }
  local ready, kind, why = ctx.session:prepare(problem) -- before it counts as in flight
  if not ready then return nil, kind == "interrupted" and kind or "unprepared", why end
  local given_up = measure.begin(ctx, problem, kernel, 1, extra)
  if given_up then return given_up end
  local session = ctx.session
  local status, answer = session[want.clock.verb](session, problem, kernel.built.cubin_sha, job_of(kernel, want))
  if status == "interrupted" or status == "unprepared" then
    measure.drop(ctx, problem, kernel, 1, extra)
    return nil, status, answer.why
  end
  if status == "ok" then answer = want.clock.read(answer) end
  return measure.row(ctx, problem, kernel, 1, status, answer, extra)
end

-- The problem with its operands cold, or in L2: another one each, to the worker.
local function prepared(problem, cache)
  local p = {}
  for name, value in pairs(problem) do p[name] = value end -- order does not matter: a copy
  p.answer, p.job = nil, measure.problem_job(problem, { cache = cache == "hot" and cache or nil })
  return p
end

-- The row of a clock in which the kernel was wrong, or nil.
function clocks.wrong(rows, count)
  for i = 1, count or #rows do
    if rows[i] and rows[i].status == "wrong" then return rows[i] end
  end
end

-- The rows of `list`, those with cold operands first, up to one in which the kernel is wrong; rows[i] is set as they
-- come. true, false when interrupted, nil and why.
local function measure_all(ctx, problem, kernel, list, rows)
  for _, cache in ipairs { "cold", "hot" } do
    local p = prepared(problem, cache)
    for i, want in ipairs(list) do
      if clocks.wrong(rows, #list) then return true end
      if not rows[i] and (want.clock.cache or "cold") == cache then
        local row, kind, why = measure_one(ctx, p, kernel, want)
        if not row and kind ~= "interrupted" then return nil, why end
        rows[i] = row
        if not row or host.interrupted() then return false end
      end
    end
  end
  return true
end

-- A kernel that one clock finds wrong is wrong: its result, where `row` is one, is stored again and says so.
local function condemn(ctx, row)
  local bad = clocks.wrong(row.clocks)
  if not bad or not row.key then return end
  row.status, row.why = "wrong", fmt("clock %s: %s", bad.clock, bad.why or "")
  ctx.store:add(row)
  ctx.rows = ctx.rows + 1
end

-- Measures the kernel by the clocks of opt.clocks; a campaign those that have no row yet. true, false when
-- interrupted, nil and why. The rows stand in row.clocks afterwards; a wrong one makes `row` wrong.
function clocks.run(ctx, problem, kernel, row)
  local list, rows, found = wanted(ctx.opt.clocks), {}, {}
  if ctx.campaign and not ctx.opt.fresh then found = stored(ctx.store, problem, row, ctx.common) end
  for i, want in ipairs(list) do rows[i] = at(found, want) end
  local ok, why = measure_all(ctx, problem, kernel, list, rows)
  row.clocks = {}
  for i in ipairs(list) do row.clocks[#row.clocks + 1] = rows[i] end
  condemn(ctx, row)
  return ok, why
end

-- ------------------------------------------------------------------------------- the table

local function number(v)
  return v and fmt("%.2f", v) or "-"
end

local function interval(v, lo, hi)
  return v and fmt("%.3f [%.3f,%.3f]", v, lo, hi) or "-"
end

local COLUMNS = { "clock", "time", { title = "load %", key = "load" }, "us", "us pdl", "p99", "p99 pdl", "cuBLAS us",
                  "cuBLAS p99", "ratio", "ratio pdl", "verdict", "verdict pdl" }

local function cells(row)
  local clock = of_name(row.clock)
  return {
    clock = row.clock, time = clock and clock.time .. " time" or "-", load = row.load or "-", us = number(row.us),
    ["us pdl"] = number(row.us_pdl), p99 = number(row.p99_us), ["p99 pdl"] = number(row.p99_us_pdl),
    ["cuBLAS us"] = number(row.cublas_us), ["cuBLAS p99"] = number(row.cublas_p99_us),
    ratio = interval(row.ratio, row.ratio_lo, row.ratio_hi), verdict = row.verdict or "-",
    ["ratio pdl"] = interval(row.ratio_pdl, row.ratio_pdl_lo, row.ratio_pdl_hi),
    ["verdict pdl"] = row.verdict_pdl or "-",
  }
end

-- The table of rows of other clocks, "" where there are none. `name` is the kernel's, where the reader has to be told.
function clocks.text(rows, name)
  local list, bad = {}, {}
  for _, row in ipairs(rows or {}) do
    if row.status == "ok" then
      list[#list + 1] = cells(row)
    else
      local load = row.load and fmt(" at %d %%", row.load) or ""
      bad[#bad + 1] = fmt("%-11s clock %s%s: %s\n", row.status, row.clock, load, row.why or "")
    end
  end
  if #list + #bad == 0 then return "" end
  return fmt("other clocks, %s; ratio = cuBLAS in the same place / ours\n", name or "the first kernel")
         .. (#list > 0 and tab.format(list, COLUMNS) or "") .. table.concat(bad)
end

return clocks
