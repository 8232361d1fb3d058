-- fake_baseline: the fake worker's answer to the job `baseline`: what options of the libraries might take.
--
-- Every figure is a function of the problem and the option. LOOM_FAKE plants faults: "baseline=crash:64x64x64"
-- (or hang, error) on that problem, with "once=PATH" only while PATH does not exist. Now and then an option is
-- refused, as cuBLAS's tuning may be.

local worker = require "worker"

local fake_baseline = {}

local fmt = string.format

-- A number in [0, 1) that depends on nothing but `text`.
local function figure(text)
  return tonumber(host.sha256(text):sub(1, 8), 16) / 2.0 ^ 32
end

local function g(x) return fmt("%.6g", x) end

local REFUSED = 0.1 -- of the problems, of each option that may be

-- Microseconds of each option in one layout {gemmex, gemmex_autotune, lt_first, lt_best, lt_exhaustive}; nil where
-- it is refused. 600 TFLOP/s and 3 us of latency, give or take, are cublasGemmEx's.
function fake_baseline.times(p, layout)
  local text = fmt("%s %s %s %s %s", p.M, p.N, p.K, p.dtype, p.acc)
  local function of(option) return figure(fmt("%s %s %s", text, layout, option)) end
  local base = (3.0 + 2.0 * p.M * p.N * p.K / 600e6) * (1.0 + 0.1 * figure(text .. " " .. layout))
  local out = { gemmex = base, lt_first = base * (0.96 + 0.1 * of "first") }
  out.lt_best = math.min(out.lt_first, base * (0.92 + 0.1 * of "best"))
  out.lt_exhaustive = out.lt_best * (0.97 + 0.04 * of "exhaustive")
  if of "refusal" >= REFUSED then out.gemmex_autotune = base * (0.95 + 0.06 * of "autotune") end
  return out
end

-- The option names of a job's words, in the answer's order.
local NAMES = { { "gemmex", "gemmex" }, { "autotune", "gemmex_autotune" }, { "lt", "lt_first" }, { "lt", "lt_best" },
                { "exhaustive", "lt_exhaustive" } }

local function has_word(words, word)
  return word == "gemmex" or ("," .. words .. ","):find("," .. word .. ",", 1, true) ~= nil
end

local function option_fields(name, layout, us, out)
  local full = name .. "_" .. layout
  if not us then
    out[#out + 1] = { full .. "_why", "tunes again in every call (0.5 s)" }
    return
  end
  out[#out + 1] = { full .. "_us", g(us) }
  if name == "lt_best" or name == "lt_exhaustive" then
    out[#out + 1] = { full .. "_algo", fmt("id=66 tile=%d stages=%d split=1", 15 + #layout, 8) }
    out[#out + 1] = { full .. "_place", 3 }
  end
end

local function counts(words, layout, out)
  local function add(name, value) out[#out + 1] = { fmt("lt_%s_%s", layout, name), value } end
  if has_word(words, "lt") then
    add("answers", 8)
    add("looked", 8)
    add("failed", 0)
  end
  if has_word(words, "exhaustive") then
    add("checked", 5000)
    add("accepted", 900)
    add("raced", 900)
    add("whole", 1)
  end
end

-- The fields {name, value} that tell of the options: those of `words`, a list with commas.
function fake_baseline.fields(p, words)
  local out, best, best_us = {}, nil, math.huge
  local times = { nn = fake_baseline.times(p, "nn"), tn = fake_baseline.times(p, "tn") }
  for _, name in ipairs(NAMES) do
    for _, layout in ipairs { "nn", "tn" } do
      if has_word(words, name[1]) then
        local us = times[layout][name[2]]
        option_fields(name[2], layout, us, out)
        if us and us < best_us then best, best_us = name[2] .. "_" .. layout, us end
      end
    end
  end
  for _, layout in ipairs { "nn", "tn" } do counts(words, layout, out) end
  out[#out + 1] = { "best_nv", best }
  out[#out + 1] = { "best_nv_us", g(best_us) }
  return out
end

-- What is planted for this problem: crash, hang, error or nil.
local function planted(faults, p)
  local kind, once
  for _, f in ipairs(faults or {}) do
    local name, at = f.value:match("^(%a+):(.*)$")
    if f.name == "baseline" and at == fmt("%dx%dx%d", p.M, p.N, p.K) then kind = name end
    if f.name == "once" then once = f.value end
  end
  if not kind or not once then return kind end
  if host.stat(once) then return nil end
  host.write(once, "planted\n")
  return kind
end

local function problem_of(fields)
  local p = { dtype = fields.dtype, acc = fields.acc }
  for _, name in ipairs { "M", "N", "K" } do p[name] = math.tointeger(tonumber(fields[name])) end
  return p.M and p.N and p.K and p.dtype and p.acc and fields.options and p
end

-- The job, as the fake worker has jobs: an answer, or nil where the worker ends.
function fake_baseline.job(state, fields)
  state.problem = nil
  local p = problem_of(fields)
  if not p then return "error\twhy=malformed baseline" end
  local fault = planted(state.faults, p)
  if fault == "error" then return "error\twhy=planted: an illegal memory access was encountered" end
  if fault == "hang" then
    while host.line() do end
  end
  if fault then return nil end
  local out = fake_baseline.fields(p, fields.options)
  for _, pair in ipairs { { "clock_mhz", 1755 }, { "drift", "0.001" }, { "blocks", fields.blocks }, { "starved", 0 },
    { "drifted", 0 }, { "unsteady", 0 }, { "throttled", 0 }, { "throttle", "none" }, { "reps", 10 },
    { "cublas_math", "default" } } do
    out[#out + 1] = pair
  end
  return worker.encode("ok", out)
end

return fake_baseline
