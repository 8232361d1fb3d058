-- fake_time: the figures that the fake worker invents for one kernel.
--
-- Each block has a ratio of its own: the kernel's true one, which its key and the problem decide, with what its
-- process adds (the problem's seed stands for the process) and some noise. So figures differ with the blocks
-- and from process to process, as real ones do, and still two runs give the same.

local fake_baseline = require "fake_baseline"
local worker = require "worker"

local fake_time = {}

local fmt = string.format

local NOISE = 0.003   -- half the range of a block's
local PROCESS = 0.002 -- of a process's

-- A number in [0, 1) that depends on nothing but `text`.
local function figure(text)
  return tonumber(host.sha256(text):sub(1, 8), 16) / 2.0 ^ 32
end

local function g(x) return fmt("%.6g", x) end

-- cuBLAS's two times in microseconds: 600 TFLOP/s and 3 us of latency, give or take.
local function baselines(p)
  local text = fmt("%s %s %s %s %s", p.M, p.N, p.K, p.dtype, p.acc)
  local base = 3.0 + 2.0 * p.M * p.N * p.K / 600e6
  return base * (1.0 + 0.1 * figure(text .. " nn")), base * (1.0 + 0.1 * figure(text .. " tn"))
end

-- The fastest of the libraries' options: its name, its time.
local function best_nv(p)
  local found = {}
  for _, pair in ipairs(fake_baseline.fields(p, "lt,autotune")) do found[pair[1]] = pair[2] end
  return found.best_nv, tonumber(found.best_nv_us)
end

-- ------------------------------------------------------------------------------- one kernel

-- How far a value is from the planted one: in powers of two, 1 for another word.
local function distance(value, wanted)
  local x, y = tonumber(value), tonumber(wanted)
  if x and y and x > 0 and y > 0 then return math.abs(math.log(x / y, 2)) end
  return value == wanted and 0.0 or 1.0
end

-- The ratio of a kernel in the landscape around `point`: 1.2 on its top.
local function landscape(point, key)
  local far = 0.0
  for _, p in ipairs(point) do
    far = far + distance(key:match("[:,]" .. p[1] .. "=([%w_.-]+)") or "", p[2])
  end
  return 1.2 / (1.0 + 0.2 * far)
end

-- The true ratio: 0.7 to 1.15, or the landscape's.
function fake_time.truth(p, key, point)
  return point and landscape(point, key) or 0.7 + 0.45 * figure(fmt("%s %s %s %s", key, p.M, p.N, p.K))
end

-- Logarithms of a ratio, block by block, in ppm; `text` names the process and what is compared.
local function series(log_ratio, blocks, text, noise)
  local out, hash = {}, nil
  local of_process = PROCESS * (2.0 * figure(text) - 1.0)
  for i = 0, blocks - 1 do
    if i % 8 == 0 then hash = host.sha256(fmt("%s %d", text, i)) end
    local draw = tonumber(hash:sub(i % 8 * 8 + 1, i % 8 * 8 + 8), 16) / 2.0 ^ 32
    out[i + 1] = math.floor((log_ratio + of_process + noise * (2.0 * draw - 1.0)) * 1e6 + 0.5)
  end
  return out
end

local function median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return (sorted[(#sorted + 1) // 2] + sorted[#sorted // 2 + 1]) / 2
end

-- The middle of a series and an interval around it, as wide as a median of so many scatters within one process.
local function interval(name, values, noise, out)
  local mid, half = median(values) * 1e-6, 1.96 * 1.25 * noise / math.sqrt(3.0 * #values)
  out[#out + 1] = { name, g(math.exp(mid)) }
  out[#out + 1] = { name .. "_lo", g(math.exp(mid - half)) }
  out[#out + 1] = { name .. "_hi", g(math.exp(mid + half)) }
  return math.exp(mid)
end

local HEALTH = { { "err", "0.001" }, { "rms", "0.0001" }, { "clock_mhz", 1755 }, { "drift", "0.001" }, { "drifted", 0 },
                 { "unsteady", 0 }, { "throttled", 0 }, { "throttle", "none" }, { "families", 10 }, { "holes", 1 },
                 { "ms_families", "1.5" }, { "ms_changed", "0.5" } }

-- The ratios of a kernel: {name, series} of each; against best_nv where the problem was prepared with all options.
local function ratios(p, key, blocks, point, noise)
  local text = fmt("%s %s %s %s %s %s", key, p.M, p.N, p.K, p.seed, blocks)
  local true_log = math.log(fake_time.truth(p, key, point))
  local pdl = true_log + math.log(1.0 + 0.03 * figure(fmt("%s %s %s %s pdl", key, p.M, p.N, p.K)))
  local out = { { "ratio", series(true_log, blocks, text, noise) },
                { "ratio_pdl", series(pdl, blocks, text .. " pdl", noise) } }
  if p.baselines ~= "all" then return out end
  local name, us = best_nv(p)
  local gain = math.log(us / math.min(baselines(p)))
  out[3] = { "ratio_nv", series(true_log + gain, blocks, text .. " nv", noise) }
  out[4] = { "ratio_nv_pdl", series(pdl + gain, blocks, text .. " nv pdl", noise) }
  out.best_nv, out.best_nv_us = name, us
  return out
end

local function samples_text(list)
  local parts = {}
  for i, pair in ipairs(list) do parts[i] = pair[1] .. ":" .. table.concat(pair[2], ",") end
  return table.concat(parts, ";")
end

-- ------------------------------------------------------------------------------- answers

-- The answer to a job `problem`.
function fake_time.problem(p)
  local nn, tn = baselines(p)
  local out = { { "cublas_nn_us", g(nn) }, { "cublas_tn_us", g(tn) }, { "cache", p.cache or "cold" }, { "sets", 3 },
                { "reps", 10 } }
  if p.baselines == "all" then
    local more = fake_baseline.fields(p, "lt,autotune")
    table.move(more, 1, #more, #out + 1, out)
  end
  return worker.encode("ok", out)
end

-- The answer to a job `time` of one kernel; `more` may have point (of a landscape), noise, samples.
function fake_time.answer(p, key, blocks, more)
  local nn, tn = baselines(p)
  local best, noise = math.min(nn, tn), more.noise or NOISE
  local list, fields = ratios(p, key, blocks, more.point, noise), {}
  local by_name = {}
  for _, pair in ipairs(list) do by_name[pair[1]] = interval(pair[1], pair[2], noise, fields) end
  local out = { { "us", g(best / by_name.ratio) }, { "us_pdl", g(best / by_name.ratio_pdl) },
                { "cublas_nn_us", g(nn) }, { "cublas_tn_us", g(tn) } }
  table.move(fields, 1, #fields, #out + 1, out)
  for _, pair in ipairs { { "ratio_nn", g(by_name.ratio * nn / best) }, { "ratio_tn", g(by_name.ratio * tn / best) },
    { "blocks", blocks }, { "checked", p.M * p.N } } do out[#out + 1] = pair end
  table.move(HEALTH, 1, #HEALTH, #out + 1, out)
  if list.best_nv then
    table.move({ { "best_nv", list.best_nv }, { "best_nv_us", g(list.best_nv_us) } }, 1, 2, #out + 1, out)
  end
  if more.samples then out[#out + 1] = { "samples", samples_text(list) } end
  return worker.encode("ok", out)
end

return fake_time
