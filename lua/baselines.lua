-- baselines: what the store knows of NVIDIA's libraries: which of their options is the fastest on a problem,
-- and how they compare over many.
--
-- A job of the worker times all options of a problem side by side, in both layouts; its rows are one run's. Two
-- jobs have their own clocks and data, so a time is never compared with another job's: every job times
-- cublasGemmEx too, and an option's figure is how many times faster than that one it was in its own job. The
-- newest job that has an option says it. An option's layout is the faster one.

local tab = require "tab"

local baselines = {}

local fmt = string.format

-- The options as rows name them, the plainest first: of equals that one is the best.
baselines.options = { "gemmex", "autotune", "lt_first", "lt_best", "lt_exhaustive" }

-- What a word of OPTIONS has the worker measure, in the order that it is told.
baselines.words = {
  { "gemmex", "gemmex" }, { "autotune", "autotune" }, { "lt", "lt_first", "lt_best" },
  { "exhaustive", "lt_exhaustive" },
}

-- One GPU and one set of versions: rows that differ in these do not compare.
baselines.same = { "device", "uuid", "driver", "cuda", "cublas" }

function baselines.name(row)
  return fmt("%dx%dx%d", row.m or row.M, row.n or row.N, row.k or row.K)
end

-- ------------------------------------------------------------------------------- one problem

-- The better of two rows of one option in one job: the faster, or the one that has a time.
local function better(x, y)
  if not x or not y then return x or y end
  if x.status ~= "ok" or y.status ~= "ok" then return y.status == "ok" and y or x end
  return y.us < x.us and y or x
end

-- Rows of one problem, oldest first -> {gemmex = {row, us, ratio}, ...}: of each option what its newest job says,
-- without a ratio where it was refused; and the rows of jobs that failed as a whole, which name no option.
local function options_of(rows)
  local jobs, out, failed = {}, {}, {}
  for _, row in ipairs(rows) do
    if row.option then
      local job = jobs[row.run] or {}
      jobs[row.run] = job
      job[row.option] = better(job[row.option], row)
      out[row.option] = { job = job } -- the newest: rows are in the order of time
    else
      failed[#failed + 1] = row
    end
  end
  for _, name in ipairs(baselines.options) do
    local o = out[name]
    local row, base = o and o.job[name], o and o.job.gemmex
    if row then o.row, o.us = row, row.status == "ok" and row.us or nil end
    if o and o.us and base and base.status == "ok" then o.ratio = base.us / o.us end
  end
  return out, failed
end

-- The fastest option's name, or nil.
local function fastest(options)
  local best
  for _, name in ipairs(baselines.options) do
    local o = options[name]
    if o and o.ratio and (not best or o.ratio > options[best].ratio) then best = name end
  end
  return best
end

-- {options, best = name, failed = rows} by the names of problems, from rows that are oldest first.
function baselines.collect(rows)
  local by_name, out = {}, {}
  for _, row in ipairs(rows) do
    local name = baselines.name(row)
    by_name[name] = by_name[name] or {}
    table.insert(by_name[name], row)
  end
  for name, list in pairs(by_name) do -- a table comes of it, no list
    local options, failed = options_of(list)
    out[name] = { options = options, best = fastest(options), failed = failed }
  end
  return out
end

-- The rows of those that compare with the newest one.
function baselines.newest(rows)
  local last, out = rows[#rows], {}
  for _, row in ipairs(rows) do
    local equal = true
    for _, name in ipairs(baselines.same) do equal = equal and row[name] == last[name] end
    if equal then out[#out + 1] = row end
  end
  return out
end

-- The row of the fastest option on {M, N, K, dtype, acc}, and how many times faster than cublasGemmEx it was;
-- nil where nothing was measured. `where` names the GPU and versions (uuid, driver, cuda, cublas ...) as
-- Store:latest has it; what it leaves open is as in the newest row.
function baselines.best(st, problem, where)
  local asked = { backend = "nvidia" }
  for _, name in ipairs(baselines.same) do asked[name] = where and where[name] end
  local found = baselines.collect(baselines.newest(st:of_size(problem, asked)))[baselines.name(problem)]
  local best = found and found.options[found.best]
  if best then return best.row, best.ratio end
end

-- ------------------------------------------------------------------------------- many problems

local CLASSES = { { 1 << 30, "under 2^30" }, { 1 << 33, "2^30 to 2^33" }, { 1 << 36, "2^33 to 2^36" },
                  { math.huge, "2^36 and more" } }

local function class_of(p)
  local flops = 2.0 * p.M * p.N * p.K
  for i, class in ipairs(CLASSES) do
    if flops < class[1] then return i end
  end
end

local function new_sum()
  return { problems = 0, refused = 0, best = 0, log = 0.0, behind = 0.0, us = 0.0, gemmex = 0.0 }
end

-- One problem's option into a sum over problems: `best` is the fastest option's ratio. Times are scaled to the
-- newest job of cublasGemmEx, as all that is compared.
local function count(sum, o, best, gemmex_us, is_best)
  if not o.ratio then
    sum.refused = sum.refused + 1
    return
  end
  sum.problems = sum.problems + 1
  sum.log = sum.log + math.log(o.ratio)
  sum.behind = sum.behind + math.log(best / o.ratio)
  sum.gemmex, sum.us = sum.gemmex + gemmex_us, sum.us + gemmex_us / o.ratio
  if is_best then sum.best = sum.best + 1 end
end

-- `refused`, where given, gets the rows without a time.
local function add_problem(sums, found, refused)
  local top = found.options[found.best]
  local base = found.options.gemmex.us
  for _, name in ipairs(baselines.options) do
    local o = found.options[name]
    sums[name] = sums[name] or o and new_sum()
    if o then count(sums[name], o, top.ratio, base, name == found.best) end
    if o and refused and not o.ratio then refused[#refused + 1] = o.row end
  end
  sums.best_nv = sums.best_nv or new_sum()
  count(sums.best_nv, top, top.ratio, base, true)
end

-- Sums over problems: by class and option, then over all; `refused` are the rows of options without a time, `lost`
-- those of jobs that failed.
function baselines.sums(problems, book)
  local out = { classes = {}, all = {}, refused = {}, lost = {}, count = 0 }
  for _, p in ipairs(problems) do
    local found = book[baselines.name(p)]
    if found and found.best then
      local i = class_of(p)
      out.classes[i] = out.classes[i] or {}
      out.count = out.count + 1
      add_problem(out.classes[i], found)
      add_problem(out.all, found, out.refused)
    elseif found and #found.failed > 0 then
      out.lost[#out.lost + 1] = found.failed[#found.failed]
    end
  end
  return out
end

local columns = { { key = "size", title = "2MNK", align = "left" }, "option", "problems", "gemmex / it",
                  "of total times", "it / best_nv", "best at", "refused" }

local function ratio_text(sum, value)
  return sum.problems > 0 and fmt("%.3f", value(sum)) or "-"
end

local function geomean(field)
  return function(sum) return math.exp(sum[field] / sum.problems) end
end

local geomean_ratio, geomean_behind = geomean "log", geomean "behind"

local function of_totals(sum)
  return sum.gemmex / sum.us
end

local function lines_of(title, sums, out)
  local names = table.move(baselines.options, 1, #baselines.options, 1, {})
  names[#names + 1] = "best_nv"
  for _, name in ipairs(names) do
    local sum = sums[name]
    if sum then
      out[#out + 1] = {
        size = title, option = name, problems = sum.problems, ["gemmex / it"] = ratio_text(sum, geomean_ratio),
        ["of total times"] = ratio_text(sum, of_totals), ["it / best_nv"] = ratio_text(sum, geomean_behind),
        ["best at"] = name == "best_nv" and "-" or sum.best, refused = sum.refused,
      }
    end
  end
end

-- The table: of each class of size and each option the geometric means, the ratio of total times, counts.
function baselines.table(sums)
  local out = {}
  for i, class in ipairs(CLASSES) do
    if sums.classes[i] then lines_of(class[2], sums.classes[i], out) end
  end
  lines_of("all", sums.all, out)
  return tab.format(out, columns)
end

-- The same over all sizes, as lines `name: value unit`.
function baselines.figures(sums)
  local out = { fmt("problems: %d count\nproblems_failed: %d count\n", sums.count, #sums.lost) }
  for _, name in ipairs(baselines.options) do
    local sum = sums.all[name]
    if sum and sum.problems > 0 then
      out[#out + 1] = fmt("geomean_%s: %.4f x\nbest_at_%s: %d count\n", name, geomean_ratio(sum), name, sum.best)
    end
  end
  local best = sums.all.best_nv
  if best then
    out[#out + 1] = fmt("geomean_best_nv: %.4f x\ntotal_gemmex: %.3f ms\ntotal_best_nv: %.3f ms\n",
                        geomean_ratio(best), best.gemmex / 1000, best.us / 1000)
  end
  return table.concat(out)
end

return baselines
