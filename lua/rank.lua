-- rank: rows of one problem -> a table on stdout.
--
-- Without pdl comes first, with pdl stands beside it. The second pass's figures replace the
-- first's: they come from a fresh worker and more blocks, so a lucky first pass does not win.
-- Finalists stand above the others; rows without a time are listed below with their reason.

local tab = require "tab"

local rank = {}

-- Rows -> {ranked = {...}, failed = {...}}: per key the figures of its last pass.
function rank.sort(rows)
  local by_key, order = {}, {}
  for _, row in ipairs(rows) do
    local old = by_key[row.key]
    if not old then order[#order + 1] = row.key end
    if not old or row.pass >= old.pass then by_key[row.key] = row end
  end
  local out = { ranked = {}, failed = {} }
  for _, key in ipairs(order) do
    local row = by_key[key]
    table.insert(row.status == "ok" and out.ranked or out.failed, row)
  end
  table.sort(out.ranked, function(x, y)
    if x.pass ~= y.pass then return x.pass > y.pass end
    if x.ratio ~= y.ratio then return x.ratio > y.ratio end
    if x.predicted_us ~= y.predicted_us then return x.predicted_us < y.predicted_us end
    return x.key < y.key
  end)
  table.sort(out.failed, function(x, y) return x.key < y.key end)
  return out
end

-- A kernel without pdl has no figures with it.
local function interval(v, lo, hi)
  return v and string.format("%.3f [%.3f,%.3f]", v, lo, hi) or "-"
end

local function microseconds(v)
  return v and string.format("%.2f", v) or "-"
end

local function notes(row)
  local out = {}
  if (row.spills or 0) > 0 then out[#out + 1] = string.format("spills %d B", row.spills) end
  if row.warnings and row.warnings ~= "" then out[#out + 1] = row.warnings end
  if (row.starved or 0) > 0 then out[#out + 1] = string.format("starved %d", row.starved) end
  return table.concat(out, " ")
end

local rank_columns = {
  "rank", "ratio", "ratio pdl", "us", "us pdl", "TFLOP/s", "regs", "pass", "key",
}

-- `columns`, and a last one for notes where any row has some.
function rank.with_notes(rows, columns)
  for _, row in ipairs(rows) do
    if row.notes ~= "" then
      local out = table.move(columns, 1, #columns, 1, {})
      out[#out + 1] = "notes"
      return out
    end
  end
  return columns
end

local function cells(i, row)
  return {
    rank = i, ratio = interval(row.ratio, row.ratio_lo, row.ratio_hi),
    ["ratio pdl"] = interval(row.ratio_pdl, row.ratio_pdl_lo, row.ratio_pdl_hi),
    us = microseconds(row.us), ["us pdl"] = microseconds(row.us_pdl),
    ["TFLOP/s"] = string.format("%.1f", 2.0 * row.m * row.n * row.k / row.us / 1e6),
    regs = row.regs or "-", pass = row.pass, key = row.key, notes = notes(row),
  }
end

local cpu_columns = { "rank", "predicted us", "verified at", "key" }

local function cpu_cells(i, row)
  return { rank = i, ["predicted us"] = microseconds(row.predicted_us), ["verified at"] = row.verified or "-",
           key = row.key, notes = "" }
end

-- "4096x4096x4096 nn f16 acc f32".
function rank.title(problem)
  return string.format("%dx%dx%d %s %s acc %s", problem.M, problem.N, problem.K, problem.layout,
                       problem.dtype, problem.acc)
end

-- The device and versions that `row` was measured with.
function rank.device_line(row)
  if row.backend == "fake" then
    return "device fake (invented figures, no GPU): loom " .. row.loom
  end
  if row.backend == "cpu" then
    return string.format("nothing was timed: %sverified on the CPU device, ranked by predicted time on %s, loom %s",
                         row.no_gpu and "no GPU here; " or "", row.preset, row.loom)
  end
  return string.format("device %s: driver %s, CUDA %s, cuBLAS %s, nvcc %s, loom %s", row.device,
                       row.driver, row.cuda, row.cublas, row.nvcc, row.loom)
end

-- The problem, cuBLAS's times, the table, and what has no time.
function rank.print(problem, rows, limit)
  local sorted = rank.sort(rows)
  local any = sorted.ranked[1]
  host.out(string.format("\n%s\n", rank.title(problem)))
  local timed = any and any.backend ~= "cpu"
  if timed then
    host.out(string.format("cuBLAS nn %.2f us, tn %.2f us; ratio = the faster of these / ours\n",
                           any.cublas_nn_us, any.cublas_tn_us))
  end
  if any then
    local shown = {}
    for i = 1, math.min(limit or #sorted.ranked, #sorted.ranked) do
      shown[i] = (timed and cells or cpu_cells)(i, sorted.ranked[i])
    end
    host.out(tab.format(shown, rank.with_notes(shown, timed and rank_columns or cpu_columns)))
  end
  for _, row in ipairs(sorted.failed) do
    host.out(string.format("%-11s %s: %s\n", row.status, row.key, row.why or ""))
  end
  return any
end

-- Figures over several problems, as `name: value unit` lines. `best` holds the best row of each
-- problem that has a ranked kernel, `count` is how many problems there were.
function rank.summary(best, count)
  local sum, sum_pdl, ours, theirs, losses, timed = 0.0, 0.0, 0.0, 0.0, 0, {}
  for _, row in ipairs(best) do
    if row.backend ~= "cpu" then timed[#timed + 1] = row end
  end
  for _, row in ipairs(timed) do
    sum, sum_pdl = sum + math.log(row.ratio), sum_pdl + math.log(row.ratio_pdl or row.ratio)
    ours, theirs = ours + row.us, theirs + row.us * row.ratio
    if row.ratio < 1.0 then losses = losses + 1 end
  end
  host.out(string.format("\nproblems: %d count\nproblems_with_a_kernel: %d count\n", count, #best))
  if #timed == 0 then return end
  host.out(string.format("geomean_ratio: %.3f x\n", math.exp(sum / #timed)))
  host.out(string.format("geomean_ratio_pdl: %.3f x\n", math.exp(sum_pdl / #timed)))
  host.out(string.format("total_time_ratio: %.3f x\nlosses: %d count\n", theirs / ours, losses))
end

return rank
