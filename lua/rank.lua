-- rank: rows of one problem -> a table on stdout.
--
-- A result is what the finals say of a kernel (race.lua): only results are ranked, without pdl first, with pdl
-- beside it. Whoever only raced is listed below without a rank, because a figure that won a race is too good; and
-- below that what has no time, with its reason. Rows of an older loom have no finals: their last pass is the
-- result. A campaign's overview and the figures over several problems are made here too.

local tab = require "tab"

local rank = {}

local fmt = string.format

local FINALS_SCHEMA = 4 -- rows from this schema on have finals, pass 3, and results, pass 4
local RESULT_PASS = 4

-- ------------------------------------------------------------------------------- which rows count

-- Is a row that was right to be shown as a result?
function rank.is_result(row)
  if row.pass >= RESULT_PASS or row.backend == "cpu" then return true end
  return (row.schema or 0) < FINALS_SCHEMA
end

-- Of the rows of one key the one that counts: the last pass of the text that was measured last; but who was not
-- right in one process of the finals is out.
local function decisive(rows)
  local last, best = rows[#rows], nil
  for _, row in ipairs(rows) do
    if row.source == last.source and row.cubin == last.cubin then
      if row.process and row.status ~= "ok" then return row end
      if not best or row.pass >= best.pass then best = row end
    end
  end
  return best
end

local function faster(x, y)
  if x.pass ~= y.pass then return x.pass > y.pass end
  if x.ratio ~= y.ratio then return x.ratio > y.ratio end
  if x.predicted_us ~= y.predicted_us then return x.predicted_us < y.predicted_us end
  return x.key < y.key
end

-- Rows, oldest first -> {ranked = results, raced, failed}: of each key the row that counts.
function rank.sort(rows)
  local by_key, order = {}, {}
  for _, row in ipairs(rows) do
    if not by_key[row.key] then by_key[row.key], order[#order + 1] = {}, row.key end
    table.insert(by_key[row.key], row)
  end
  local out = { ranked = {}, raced = {}, failed = {} }
  for _, key in ipairs(order) do
    local row = decisive(by_key[key])
    local list = row.status ~= "ok" and out.failed or rank.is_result(row) and out.ranked or out.raced
    list[#list + 1] = row
  end
  table.sort(out.ranked, faster)
  table.sort(out.raced, faster)
  table.sort(out.failed, function(x, y) return x.key < y.key end)
  return out
end

-- ------------------------------------------------------------------------------- cells

-- A kernel without pdl has no figures with it.
local function interval(row, name)
  return row[name] and fmt("%.3f [%.3f,%.3f]", row[name], row[name .. "_lo"], row[name .. "_hi"]) or "-"
end

local function microseconds(v)
  return v and fmt("%.2f", v) or "-"
end

local UNSTEADY, DRIFT = 0.2, 0.01 -- a part of the blocks; of the clock, from the first blocks to the last

-- What happened to the GPU meanwhile, where it is worth a word.
local function health(row, out)
  if row.throttled == 1 then out[#out + 1] = "throttled: " .. (row.throttle or "?") end
  if (row.unsteady or 0) > UNSTEADY * (row.blocks or 0) then
    out[#out + 1] = fmt("unsteady %d of %d", row.unsteady, row.blocks or 0)
  end
  if math.abs(row.drift or 0) > DRIFT then out[#out + 1] = fmt("drift %+.1f %%", 100 * row.drift) end
end

local function notes(row)
  local out = {}
  if (row.spills or 0) > 0 then out[#out + 1] = fmt("spills %d B", row.spills) end
  if row.warnings and row.warnings ~= "" then out[#out + 1] = row.warnings end
  if (row.starved or 0) > 0 then out[#out + 1] = fmt("starved %d", row.starved) end
  health(row, out)
  if row.sanitizer then out[#out + 1] = "sanitizer clean: " .. row.sanitizer end
  return table.concat(out, " ")
end

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

-- Cells of a row with times or predictions, for this table and a campaign's; all '-' of an empty one.
function rank.cells(row)
  return {
    verdict = row.verdict or "-", ["verdict pdl"] = row.verdict_pdl or "-",
    ratio = interval(row, "ratio"), ["ratio pdl"] = interval(row, "ratio_pdl"),
    ["vs best_nv"] = interval(row, "ratio_nv"), ["vs best_nv pdl"] = interval(row, "ratio_nv_pdl"),
    us = microseconds(row.us), ["us pdl"] = microseconds(row.us_pdl), ["cuBLAS nn"] = microseconds(row.cublas_nn_us),
    tn = microseconds(row.cublas_tn_us), best_nv = microseconds(row.best_nv_us),
    ["TFLOP/s"] = row.us and fmt("%.1f", 2.0 * row.m * row.n * row.k / row.us / 1e6) or "-",
    regs = row.regs or "-", pass = row.pass or "-", key = row.key or "-", notes = notes(row),
    ["predicted us"] = microseconds(row.predicted_us), ["verified at"] = row.verified or "-",
  }
end

-- A column, and the field without which no row has anything to say in it.
local TIMED = { { "rank" }, { "verdict", "verdict" }, { "verdict pdl", "verdict_pdl" }, { "ratio" }, { "ratio pdl" },
                { "vs best_nv", "ratio_nv" }, { "vs best_nv pdl", "ratio_nv_pdl" }, { "us" }, { "us pdl" },
                { "TFLOP/s" }, { "regs" }, { "pass", "old_pass" }, { "key" } }
local PREDICTED = { { "rank" }, { "predicted us" }, { "verified at" }, { "key" } }

-- The names of the columns in which one of the rows has something to say.
function rank.columns(columns, rows)
  local out = {}
  for _, column in ipairs(columns) do
    local says = not column[2]
    for _, row in ipairs(says and {} or rows) do
      says = says or row[column[2]] ~= nil or column[2] == "old_pass" and row.pass < RESULT_PASS
    end
    if says then out[#out + 1] = column[1] end
  end
  return out
end

-- ------------------------------------------------------------------------------- one problem

-- "4096x4096x4096 nn f16 acc f32".
function rank.title(problem)
  return fmt("%dx%dx%d %s %s acc %s", problem.M, problem.N, problem.K, problem.layout, problem.dtype, problem.acc)
end

-- The device and versions that `row` was measured with.
function rank.device_line(row)
  if row.backend == "fake" then
    return "device fake (invented figures, no GPU): loom " .. row.loom
  end
  if row.backend == "cpu" then
    return fmt("nothing was timed: %sverified on the CPU device, ranked by predicted time on %s, loom %s",
               row.no_gpu and "no GPU here; " or "", row.preset, row.loom)
  end
  local which = row.uuid and " (" .. row.uuid:sub(1, 12) .. ")" or ""
  return fmt("device %s%s: driver %s, CUDA %s, cuBLAS %s, nvcc %s, loom %s", row.device, which, row.driver, row.cuda,
             row.cublas, row.nvcc, row.loom)
end

-- What the ratios of a problem are against.
local function base_line(row)
  local out = fmt("cuBLAS nn %.2f us, tn %.2f us; ratio = the faster of these / ours", row.cublas_nn_us,
                  row.cublas_tn_us)
  if row.best_nv_us then out = out .. fmt("; best_nv = %s, %.2f us", row.best_nv or "?", row.best_nv_us) end
  if row.processes then out = out .. fmt("; %d process%s", row.processes, row.processes == 1 and "" or "es") end
  return out .. "\n"
end

local function print_table(ranked, limit, timed)
  local shown = {}
  for i = 1, math.min(limit, #ranked) do
    shown[i] = rank.cells(ranked[i])
    shown[i].rank = i
    if not timed then shown[i].notes = "" end
  end
  host.out(tab.format(shown, rank.with_notes(shown, rank.columns(timed and TIMED or PREDICTED, ranked))))
end

-- The problem, what NVIDIA's libraries take, the table of results, who raced, and what has no time. `limit`: of
-- results, and of those who raced. Returns the best row.
function rank.print(problem, rows, limit)
  local sorted = rank.sort(rows)
  local best = sorted.ranked[1]
  host.out(fmt("\n%s\n", rank.title(problem)))
  if best then
    local timed = best.backend ~= "cpu"
    if timed then host.out(base_line(best)) end
    print_table(sorted.ranked, limit or #sorted.ranked, timed)
    if best.clocks then host.out(require("clocks").text(best.clocks)) end
  end
  for i = 1, math.min(limit or #sorted.raced, #sorted.raced) do
    local row = sorted.raced[i]
    host.out(fmt("%-11s %.3f, %d blocks: %s\n", "raced", row.ratio, row.blocks or 0, row.key))
  end
  for _, row in ipairs(sorted.failed) do
    host.out(fmt("%-11s %s: %s\n", row.status, row.key, row.why or ""))
  end
  return best
end

-- ------------------------------------------------------------------------------- many problems

local OVERVIEW = { { "problem" }, { "layout" }, { "verdict", "verdict" }, { "verdict pdl", "verdict_pdl" }, { "ratio" },
                   { "ratio pdl" }, { "vs best_nv", "ratio_nv" }, { "vs best_nv pdl", "ratio_nv_pdl" }, { "us" },
                   { "us pdl" }, { "cuBLAS nn" }, { "tn" }, { "best_nv", "best_nv_us" }, { "key" } }
local PREDICTIONS = { { "problem" }, { "layout" }, { "predicted us" }, { "verified at" }, { "key" } }

-- The table with one line for each {problem, row}; a problem without a kernel has an empty row.
function rank.overview(list, timed)
  if #list == 0 then return end
  local lines, rows = {}, {}
  for i, e in ipairs(list) do
    lines[i], rows[i] = rank.cells(e[2]), e[2]
    lines[i].problem, lines[i].layout = fmt("%dx%dx%d", e[1].M, e[1].N, e[1].K), e[1].layout
  end
  host.out("\n" .. tab.format(lines, rank.columns(timed and OVERVIEW or PREDICTIONS, rows)))
end

-- Geometric means of four ratios over rows: against cublasGemmEx and best_nv, without pdl and with; nil where a
-- row does not know it. A kernel without pdl is launched without it.
local function means(rows)
  local out = {}
  for i, names in ipairs { { "ratio" }, { "ratio_pdl", "ratio" }, { "ratio_nv" }, { "ratio_nv_pdl", "ratio_nv" } } do
    local sum = 0.0
    for _, row in ipairs(rows) do
      local v = row[names[1]] or row[names[2]]
      sum = v and sum and sum + math.log(v)
    end
    out[i] = sum and math.exp(sum / #rows) or nil
  end
  return out
end

-- How many rows are slower than the base of `name`; nil where one does not know it.
local function losses(rows, name)
  local n = 0
  for _, row in ipairs(rows) do
    if not row[name] then return nil end
    if row[name] < 1.0 then n = n + 1 end
  end
  return n
end

local CLASSES = { 30, 33, 36, math.huge } -- of the size 2MNK: below two to the power of

local function class_of(row)
  local size = math.log(2.0 * row.m * row.n * row.k, 2)
  for i, bits in ipairs(CLASSES) do
    if size < bits then return i end
  end
end

local function class_title(i)
  return CLASSES[i] < math.huge and fmt("< 2^%d", CLASSES[i]) or fmt(">= 2^%d", CLASSES[i - 1])
end

local function figure(v)
  return v and fmt("%.3f", v) or "-"
end

-- A line for every size class that has problems.
local function print_classes(rows)
  local groups, lines = {}, {}
  for _, row in ipairs(rows) do
    local i = class_of(row)
    groups[i] = groups[i] or {}
    table.insert(groups[i], row)
  end
  for i = 1, #CLASSES do
    local group = groups[i]
    if group then
      local m = means(group)
      lines[#lines + 1] = { ["2MNK"] = class_title(i), problems = #group, ratio = figure(m[1]),
        ["ratio pdl"] = figure(m[2]), ["vs best_nv"] = figure(m[3]), ["vs best_nv pdl"] = figure(m[4]),
        losses = losses(group, "ratio"), ["losses to best_nv"] = losses(group, "ratio_nv") or "-" }
    end
  end
  host.out("\n" .. tab.format(lines, { "2MNK", "problems", "ratio", "ratio pdl", "vs best_nv", "vs best_nv pdl",
                                       "losses", "losses to best_nv" }))
end

-- Sum of the bases' times by the sum of ours.
local function total(rows, name)
  local ours, theirs = 0.0, 0.0
  for _, row in ipairs(rows) do
    if not row[name] then return nil end
    ours, theirs = ours + row.us, theirs + row.us * row[name]
  end
  return theirs / ours
end

local function print_verdicts(rows, field, title)
  local count, any = {}, false
  for _, row in ipairs(rows) do
    if row[field] then count[row[field]], any = (count[row[field]] or 0) + 1, true end
  end
  for _, word in ipairs(any and { "FASTER", "SAME", "SLOWER", "UNDECIDED" } or {}) do
    host.out(fmt("%s_%s: %d count\n", title, word:lower(), count[word] or 0))
  end
end

local function line(name, form, value, unit)
  if value then host.out(fmt("%s: " .. form .. " %s\n", name, value, unit)) end
end

-- Figures over several problems, as `name: value unit` lines. `best` holds the best row of each
-- problem that has a ranked kernel, `count` is how many problems there were.
function rank.summary(best, count)
  local timed = {}
  for _, row in ipairs(best) do
    if row.backend ~= "cpu" then timed[#timed + 1] = row end
  end
  if #timed > 1 then print_classes(timed) end
  host.out(fmt("\nproblems: %d count\nproblems_with_a_kernel: %d count\n", count, #best))
  if #timed == 0 then return end
  local m = means(timed)
  line("geomean_ratio", "%.3f", m[1], "x")
  line("geomean_ratio_pdl", "%.3f", m[2], "x")
  line("geomean_vs_best_nv", "%.3f", m[3], "x")
  line("geomean_vs_best_nv_pdl", "%.3f", m[4], "x")
  line("total_time_ratio", "%.3f", total(timed, "ratio"), "x")
  line("total_time_vs_best_nv", "%.3f", total(timed, "ratio_nv"), "x")
  line("losses", "%d", losses(timed, "ratio"), "count")
  line("losses_to_best_nv", "%d", losses(timed, "ratio_nv"), "count")
  print_verdicts(timed, "verdict", "verdict")
  print_verdicts(timed, "verdict_pdl", "verdict_pdl")
end

return rank
