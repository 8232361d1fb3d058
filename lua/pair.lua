-- pair: two kernels timed in turns, in one palindrome of one worker, and how much faster one is.
--
-- The worker times them, and cuBLAS beside them, window by window there and back (bench/README.md); the ratio
-- of a block holds what the clock does meanwhile off, and the interval is that of the blocks' ratios. It asks
-- for more blocks until the verdict is clear.

local fail = require "fail"
local measure = require "measure"
local rank = require "rank"
local tab = require "tab"

local pair = {}

local fmt = string.format

-- ------------------------------------------------------------------------------- figures

-- "1.012 [1.008,1.016]".
function pair.text(d)
  return fmt("%.3f [%.3f,%.3f]", d.factor, d.lo, d.hi)
end

-- Of rows of a and of b that one process measured apart: {factor, lo, hi}, b's speed by a's, from both ratios to
-- cuBLAS. `name`: ratio or ratio_pdl; nil where a row lacks it.
function pair.quotient(a, b, name)
  if not (a[name] and b[name]) then return nil end
  local half = 0.0
  for _, row in ipairs { a, b } do half = half + (math.log(row[name .. "_hi"] / row[name .. "_lo"]) / 2) ^ 2 end
  local middle, width = math.log(b[name] / a[name]), math.sqrt(half)
  return { factor = math.exp(middle), lo = math.exp(middle - width), hi = math.exp(middle + width) }
end

-- What an answer says of the rival: {factor, lo, hi, verdict}, the candidate's speed by the rival's. `tail`: ""
-- or "_pdl"; nil where the answer lacks it.
function pair.of_answer(answer, tail)
  local name = "ratio_rival" .. tail
  local d = { factor = tonumber(answer[name]), lo = tonumber(answer[name .. "_lo"]),
              hi = tonumber(answer[name .. "_hi"]), verdict = answer["verdict_rival" .. tail] }
  return d.factor and d.lo and d.hi and d.verdict and d or nil
end

-- ------------------------------------------------------------------------------- measuring

-- The job that times `kernel`, beside `rival` where there is one.
function pair.job(kernel, rival, blocks)
  local job = { { "cubin", kernel.built.cubin }, { "desc", kernel.json }, { "blocks", blocks or "auto" } }
  if rival then
    job[4], job[5] = { "rival_cubin", rival.built.cubin }, { "rival_desc", rival.json }
    job[6] = { "samples", 1 }
  end
  return job
end

-- Which of two kernels made a job fail, and what its status and answer are by itself. The worker names a rival
-- that is wrong or refused; where it was lost, each is tried alone. 2 and what was said where neither fails so.
local function blame(ctx, problem, kernels, status, answer)
  local why = answer.why or ""
  if why:find("^rival: ") then
    answer.why = why:gsub("^rival: ", "")
    return 1, status, answer
  end
  if status == "wrong" or status == "refused" then return 2, status, answer end
  for i, kernel in ipairs(kernels) do
    local own, told = ctx.session:time(problem, kernel.built.cubin_sha .. kernel.json, pair.job(kernel, nil, 1))
    if own ~= "ok" then return i, own, told end
  end
  return 2, status, answer
end

-- Times two built kernels in turns, the first as the second's rival: {answer, row of the second}; nil, the place
-- of the kernel and its row where one fails; nil, nil, why where nothing can be timed.
function pair.time(ctx, problem, kernels)
  problem.job = measure.problem_job(problem)
  local a, b = kernels[1], kernels[2]
  local id = fmt("%s %s and %s %s", b.built.cubin_sha, b.json, a.built.cubin_sha, a.json)
  local status, answer = ctx.session:time(problem, id, pair.job(b, a))
  local at = 2
  if status ~= "ok" and status ~= "interrupted" and status ~= "unprepared" then
    at, status, answer = blame(ctx, problem, kernels, status, answer)
  end
  if status == "interrupted" or status == "unprepared" then return nil, nil, answer.why end
  local row = measure.row(ctx, problem, kernels[at], 1, status, answer)
  if row.status ~= "ok" then return nil, at, row end
  if not (answer.rival_us and pair.of_answer(answer, "")) then
    fail("the worker does not time two kernels at once: it is older than this loom, `make worker` builds it")
  end
  return { answer = answer, row = row }
end

-- ------------------------------------------------------------------------------- the table

local function number(v, form)
  return v and fmt(form, v) or "-"
end

local function interval(v, lo, hi)
  return v and fmt("%.3f [%.3f,%.3f]", v, lo, hi) or "-"
end

local function cells(problem, name, kernel, us, us_pdl)
  local built = kernel.built
  return { kernel = name, us = number(us, "%.2f"), ["us pdl"] = number(us_pdl, "%.2f"), regs = built.regs or "-",
           spills = built.spills or "-", ["TFLOP/s"] = fmt("%.1f", 2.0 * problem.M * problem.N * problem.K / us / 1e6) }
end

local columns = { "kernel", "ratio", "ratio pdl", "us", "us pdl", "TFLOP/s", "regs", "spills" }

-- The table of both, and what lies between them; `names` are the kernels' as the reader knows them. The ratio to
-- cuBLAS has an interval where the blocks gave one; the rival's is that of its median time.
function pair.print(problem, kernels, result, names)
  local row, answer = result.row, result.answer
  local us, us_pdl = tonumber(answer.rival_us), tonumber(answer.rival_us_pdl)
  local a = cells(problem, names[1], kernels[1], us, us_pdl)
  local b = cells(problem, names[2], kernels[2], row.us, row.us_pdl)
  local base = math.min(row.cublas_nn_us, row.cublas_tn_us)
  a.ratio, a["ratio pdl"] = fmt("%.3f", base / us), number(us_pdl and base / us_pdl, "%.3f")
  b.ratio = interval(row.ratio, row.ratio_lo, row.ratio_hi)
  b["ratio pdl"] = interval(row.ratio_pdl, row.ratio_pdl_lo, row.ratio_pdl_hi)
  host.out(fmt("\n%s\ncuBLAS nn %.2f us, tn %.2f us; ratio = the faster of these / ours\n", rank.title(problem),
               row.cublas_nn_us, row.cublas_tn_us))
  host.out(tab.format({ a, b }, columns))
  local plain, pdl = pair.of_answer(answer, ""), pair.of_answer(answer, "_pdl")
  host.out(fmt("in turns, %s blocks: %s is %s times as fast as %s: %s%s\n", answer.blocks or "?", names[2],
               pair.text(plain), names[1], plain.verdict,
               pdl and fmt("; with pdl %s: %s", pair.text(pdl), pdl.verdict) or ""))
end

return pair
