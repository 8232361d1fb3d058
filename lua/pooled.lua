-- pooled: the rows that a finalist has, one of each fresh process, become its result.
--
-- A process brings its own pages, clocks and data, and these differ by more than the blocks of one process do.
-- So the interval comes from resampling the processes first and the blocks within them second
-- (host.bootstrap); what one process says of itself is not an interval of the kernel. A verdict needs 99 %, and
-- looks at the fastest verified option of NVIDIA's libraries where every process knew one, at cublasGemmEx
-- otherwise.

local pooled = {
  level = 0.95,         -- of the intervals that are shown
  verdict_level = 0.99, -- of those that decide
}

local RATIOS = { "ratio", "ratio_pdl", "ratio_nv", "ratio_nv_pdl" }

-- Columns of a result by how they come about.
local MEDIANS = { "us", "us_pdl", "cublas_nn_us", "cublas_tn_us", "best_nv_us", "ratio_nn", "ratio_tn", "clock_mhz",
                  "power_w", "temp_c" }
local SUMS = { "blocks", "starved", "drifted", "unsteady" }
local MOST = { "err", "rms", "checked", "throttled", "reps" }
local LEAST = { "families", "holes" }

-- All that a row is read for.
pooled.reads = { "samples", "drift", "throttle", "best_nv", "best_nv_algo", "cublas_math" }
for _, list in ipairs { MEDIANS, SUMS, MOST, LEAST } do
  table.move(list, 1, #list, #pooled.reads + 1, pooled.reads)
end

-- ------------------------------------------------------------------------------- samples

-- "ratio:1234,-56;ratio_pdl:7" -> {ratio = {0.001234, -0.000056}, ...}: logarithms of ratios, block by block.
function pooled.samples(text)
  local out = {}
  for name, list in (text or ""):gmatch("([%w_]+):([%d,-]+)") do
    local values = {}
    for ppm in list:gmatch("-?%d+") do values[#values + 1] = tonumber(ppm) * 1e-6 end
    out[name] = #values > 0 and values or nil
  end
  return out
end

-- The samples of one name from all processes: values, sizes; nil where a process lacks them.
local function joined(samples, name)
  local values, sizes = {}, {}
  for i, s in ipairs(samples) do
    local list = s[name]
    if not list then return nil end
    table.move(list, 1, #list, #values + 1, values)
    sizes[i] = #list
  end
  return values, sizes
end

-- ------------------------------------------------------------------------------- verdicts

local function verdict(samples, against_nv, against_gemmex)
  local values, sizes = joined(samples, against_nv)
  if not values then values, sizes = joined(samples, against_gemmex) end
  if not values then return nil end
  local _, lo, hi = host.bootstrap(values, sizes, pooled.verdict_level)
  return host.verdict(lo, hi)
end

-- ------------------------------------------------------------------------------- figures

local function known(rows, name)
  local out = {}
  for _, row in ipairs(rows) do out[#out + 1] = row[name] end
  return out
end

local function median(values)
  table.sort(values)
  local n = #values
  local mid = values[(n + 1) // 2]
  return n % 2 == 1 and mid or n > 0 and (mid + values[n // 2 + 1]) / 2 or nil
end

-- `pick` of the values that rows have under each of `names`; what a row lacks has no part in it.
local function each(out, rows, names, pick)
  for _, name in ipairs(names) do
    local values = known(rows, name)
    if #values > 0 then out[name] = pick(values) end
  end
end

local function sum(values)
  local n = 0
  for _, v in ipairs(values) do n = n + v end
  return n
end

-- The largest in size, with its sign.
local function farthest(values)
  local out = values[1]
  for _, v in ipairs(values) do
    if math.abs(v) > math.abs(out or 0) then out = v end
  end
  return out
end

-- The option that most processes found the fastest, and its algorithm; nil where one knew none, and so is its time.
local function option(out, rows)
  local count, best = {}, nil
  for _, row in ipairs(rows) do
    local name = row.best_nv
    if not name then
      out.best_nv_us = nil
      return
    end
    count[name] = (count[name] or 0) + 1
    if not best or count[name] > count[best.best_nv] then best = row end
  end
  out.best_nv, out.best_nv_algo = best.best_nv, best.best_nv_algo
end

local function words(out, rows)
  local seen, list = {}, {}
  for _, text in ipairs(known(rows, "throttle")) do
    for word in text:gmatch("[^,]+") do
      if not seen[word] and word ~= "none" then list[#list + 1] = word end
      seen[word] = true
    end
  end
  out.throttle = #list > 0 and table.concat(list, ",") or known(rows, "throttle")[1]
  for _, text in ipairs(known(rows, "cublas_math")) do
    if not out.cublas_math or text == "strict" then out.cublas_math = text end
  end
end

-- The columns of a result, from the rows of its processes; nil, why where their samples do not make one.
function pooled.figures(rows)
  local out, samples = { processes = #rows }, {}
  for i, row in ipairs(rows) do samples[i] = pooled.samples(row.samples) end
  for _, name in ipairs(RATIOS) do
    local values, sizes = joined(samples, name)
    if values then
      local mid, lo, hi = host.bootstrap(values, sizes, pooled.level)
      out[name], out[name .. "_lo"], out[name .. "_hi"] = math.exp(mid), math.exp(lo), math.exp(hi)
    end
  end
  if not out.ratio then return nil, "a process said no samples" end
  each(out, rows, MEDIANS, median)
  each(out, rows, SUMS, sum)
  each(out, rows, MOST, function(v) return math.max(table.unpack(v)) end)
  each(out, rows, LEAST, function(v) return math.min(table.unpack(v)) end)
  out.drift = farthest(known(rows, "drift"))
  option(out, rows)
  words(out, rows)
  out.verdict = verdict(samples, "ratio_nv", "ratio")
  out.verdict_pdl = verdict(samples, "ratio_nv_pdl", "ratio_pdl")
  return out
end

return pooled
