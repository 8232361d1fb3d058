-- pair: two kernels timed in turns by one worker, and how much faster one is.
--
-- Each measurement is itself paired with cuBLAS (bench/README.md), so the quotient of two ratios of one
-- process holds what the clock does meanwhile off. a, b, b, a, and again: what drifts evenly falls out.

local measure = require "measure"
local rank = require "rank"
local tab = require "tab"

local pair = { blocks = 32, order = { 1, 2, 2, 1, 1, 2, 2, 1 } }

local fmt = string.format

-- Student's t for a 95 % interval, by the number of pairs less one.
local T95 = { 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36 }

-- ------------------------------------------------------------------------------- figures

local function mean(list)
  local sum = 0.0
  for _, v in ipairs(list) do sum = sum + v end
  return sum / #list
end

-- Half the width, in logarithms, of the interval that a row's ratio has.
local function half_width(row, name)
  return math.log(row[name .. "_hi"] / row[name .. "_lo"]) / 2
end

-- Of rows of a and of b: {factor, lo, hi}, b's speed by a's. The interval is the wider of what the single
-- intervals say and what the pairs scatter. `name`: ratio or ratio_pdl; nil where a row lacks it.
function pair.difference(a, b, name)
  local logs, widths, n = {}, {}, math.min(#a, #b)
  for i = 1, n do
    if not (a[i][name] and b[i][name]) then return nil end
    logs[i] = math.log(b[i][name] / a[i][name])
    widths[i] = half_width(a[i], name) ^ 2 + half_width(b[i], name) ^ 2
  end
  if n == 0 then return nil end
  local middle, square = mean(logs), {}
  for i, v in ipairs(logs) do square[i] = (v - middle) ^ 2 end
  local half = math.sqrt(mean(widths) / n)
  if n > 1 then
    half = math.max(half, (T95[n - 1] or 2.0) * math.sqrt(mean(square) * n / (n - 1) / n))
  end
  return { factor = math.exp(middle), lo = math.exp(middle - half), hi = math.exp(middle + half) }
end

-- "1.012 [1.008,1.016]".
function pair.text(d)
  return fmt("%.3f [%.3f,%.3f]", d.factor, d.lo, d.hi)
end

local JOINED = { "us", "us_pdl", "ratio", "ratio_lo", "ratio_hi", "ratio_pdl", "ratio_pdl_lo", "ratio_pdl_hi" }

-- One row for all of a kernel: geometric means of its figures.
local function joined(rows)
  local row = setmetatable({}, { __index = rows[1] })
  for _, name in ipairs(JOINED) do
    local logs = {}
    for i, r in ipairs(rows) do logs[i] = r[name] and math.log(r[name]) end
    row[name] = #logs == #rows and math.exp(mean(logs)) or nil
  end
  return row
end

-- ------------------------------------------------------------------------------- measuring

-- Times two built kernels in turns: {rows of a, rows of b}; nil, the place of the kernel and its row where
-- one fails; nil, nil, why where nothing can be timed.
function pair.time(ctx, problem, kernels)
  problem.job = measure.problem_job(problem)
  local rows = { {}, {} }
  for _, i in ipairs(pair.order) do
    local kernel = kernels[i]
    local job = { { "cubin", kernel.built.cubin }, { "desc", kernel.json }, { "blocks", pair.blocks } }
    local status, answer = ctx.session:time(problem, kernel.built.cubin_sha, job)
    if status == "interrupted" or status == "unprepared" then return nil, nil, answer.why end
    local row = measure.row(ctx, problem, kernel, 1, status, answer)
    if row.status ~= "ok" then return nil, i, row end
    table.insert(rows[i], row)
  end
  return rows
end

local function cell(v, lo, hi)
  return v and fmt("%.3f [%.3f,%.3f]", v, lo, hi) or "-"
end

local columns = { "kernel", "ratio", "ratio pdl", "us", "us pdl", "TFLOP/s", "regs", "spills" }

-- The table of both, and what lies between them; `names` are the kernels' as the reader knows them.
function pair.print(problem, rows, names)
  local list, any = {}, rows[1][1]
  for i, name in ipairs(names) do
    local row = joined(rows[i])
    list[i] = {
      kernel = name, ratio = cell(row.ratio, row.ratio_lo, row.ratio_hi),
      ["ratio pdl"] = cell(row.ratio_pdl, row.ratio_pdl_lo, row.ratio_pdl_hi), us = fmt("%.2f", row.us),
      ["us pdl"] = row.us_pdl and fmt("%.2f", row.us_pdl) or "-", regs = row.regs or "-", spills = row.spills or "-",
      ["TFLOP/s"] = fmt("%.1f", 2.0 * problem.M * problem.N * problem.K / row.us / 1e6),
    }
  end
  host.out(fmt("\n%s\ncuBLAS nn %.2f us, tn %.2f us; ratio = the faster of these / ours\n", rank.title(problem),
               any.cublas_nn_us, any.cublas_tn_us))
  host.out(tab.format(list, columns))
  local plain, pdl = pair.difference(rows[1], rows[2], "ratio"), pair.difference(rows[1], rows[2], "ratio_pdl")
  host.out(fmt("paired, %d times in turns: %s is %s times as fast as %s%s%s\n", #rows[1], names[2], pair.text(plain),
               names[1], pdl and ", with pdl " .. pair.text(pdl) or "",
               plain.lo <= 1 and plain.hi >= 1 and " (no difference that shows)" or ""))
end

return pair
