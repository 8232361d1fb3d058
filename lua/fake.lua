-- fake: a bench worker without a GPU, for tests and for trying the flow out.
--
-- Speaks the worker's protocol; every figure is a function of the kernel's key, the problem and the
-- number of blocks, so two runs give the same table. LOOM_FAKE plants faults by hash prefix, as
-- they stand in a descriptor's path: "crash=0a1b,hang=77,wrong=12,refused=c0"; "once=PATH" lets the
-- first planted crash or hang happen only while PATH does not exist; "start=TEXT" greets with that
-- error. "optimum=tile_m:128,stages:4" makes the figures a landscape that searches can climb.

local desc = require "desc"
local worker = require "worker"

local fake = {}

local function parse_faults(text)
  local faults = {}
  for name, value in (text or ""):gmatch("(%w+)=([^,]*)") do
    faults[#faults + 1] = { name = name, value = value }
  end
  return faults
end

local function setting(faults, name)
  for _, f in ipairs(faults) do
    if f.name == name then return f.value end
  end
end

local kinds = { crash = true, hang = true, wrong = true, refused = true, error = true }

-- The fault planted for the kernel at `path`, or nil.
local function fault_of(faults, path)
  local hash = path:match("%-(%x+)%.json$") or ""
  for _, f in ipairs(faults) do
    if kinds[f.name] and f.value ~= "" and hash:sub(1, #f.value) == f.value then return f.name end
  end
end

-- The point that `optimum=` plants, as a list of {name, value text}; nil without one.
local function parse_optimum(text)
  local words = (text or ""):match("optimum=([%w_:,.-]+)")
  if not words then return nil end
  local point = {}
  for name, value in words:gmatch("([%w_]+):([%w_.-]+)") do point[#point + 1] = { name, value } end
  return point
end

-- The same from LOOM_FAKE's text.
function fake.fault(text, path)
  return fault_of(parse_faults(text), path)
end

-- A number in [0, 1) that depends on nothing but `text`.
local function figure(text)
  return tonumber(host.sha256(text):sub(1, 8), 16) / 2.0 ^ 32
end

local function g(x) return string.format("%.6g", x) end

-- cuBLAS's two times in microseconds: 600 TFLOP/s and 3 us of latency, give or take.
local function baselines(p)
  local text = string.format("%s %s %s %s %s", p.M, p.N, p.K, p.dtype, p.acc)
  local base = 3.0 + 2.0 * p.M * p.N * p.K / 600e6
  return base * (1.0 + 0.1 * figure(text .. " nn")), base * (1.0 + 0.1 * figure(text .. " tn"))
end

local function problem_answer(p)
  local nn, tn = baselines(p)
  return worker.encode("ok", { { "cublas_nn_us", g(nn) }, { "cublas_tn_us", g(tn) }, { "sets", 3 },
                               { "reps", 10 } })
end

-- How far a value is from the planted one: in powers of two, 1 for another word.
local function distance(value, wanted)
  local x, y = tonumber(value), tonumber(wanted)
  if x and y and x > 0 and y > 0 then return math.abs(math.log(x / y, 2)) end
  return value == wanted and 0.0 or 1.0
end

-- The ratio of a kernel in the landscape around `point`: 1.2 on its top, and 0.3 % of noise.
local function landscape(point, key, text)
  local far = 0.0
  for _, p in ipairs(point) do
    far = far + distance(key:match("[:,]" .. p[1] .. "=([%w_.-]+)") or "", p[2])
  end
  return 1.2 / (1.0 + 0.2 * far) * (1.0 - 0.003 * figure(text))
end

-- A kernel is 0.7 to 1.15 times as fast as the better cuBLAS; more blocks shift that by up to 0.2
-- %.
local function time_answer(p, key, blocks, point)
  local nn, tn = baselines(p)
  local text = string.format("%s %s %s %s", key, p.M, p.N, p.K)
  local ratio = 0.7 + 0.45 * figure(text) + 0.002 * figure(text .. " " .. blocks)
  if point then ratio = landscape(point, key, text) end
  local pdl = ratio * (1.0 + 0.03 * figure(text .. " pdl"))
  local best, spread = math.min(nn, tn), 0.05 / math.sqrt(blocks)
  return worker.encode("ok", {
    { "us", g(best / ratio) }, { "us_pdl", g(best / pdl) }, { "cublas_nn_us", g(nn) },
    { "cublas_tn_us", g(tn) }, { "ratio", g(ratio) }, { "ratio_lo", g(ratio * (1.0 - spread)) },
    { "ratio_hi", g(ratio * (1.0 + spread)) }, { "ratio_pdl", g(pdl) },
    { "ratio_pdl_lo", g(pdl * (1.0 - spread)) }, { "ratio_pdl_hi", g(pdl * (1.0 + spread)) },
    { "ratio_nn", g(ratio * nn / best) }, { "ratio_tn", g(ratio * tn / best) }, { "err", "0.001" },
    { "rms", "0.0001" }, { "blocks", blocks }, { "checked", p.M * p.N }, { "clock_mhz", 1755 },
  })
end

local function numbers(fields)
  local p = {}
  for _, name in ipairs { "M", "N", "K" } do p[name] = math.tointeger(tonumber(fields[name])) end
  p.layout, p.dtype, p.acc = fields.layout, fields.dtype, fields.acc
  return p.M and p.N and p.K and p
end

local function read_forever()
  while host.line() do end
end

-- Crash and hang end the process by the caller; with once=PATH only while PATH is absent.
local function planted(faults, path)
  local fault = fault_of(faults, path)
  local once = setting(faults, "once")
  if not once or (fault ~= "crash" and fault ~= "hang") then return fault end
  if host.stat(once) then return nil end
  host.write(once, "planted " .. fault .. "\n")
  return fault
end

local canned = {
  wrong = "wrong\twhy=C differs from the reference\trow=3\tcol=5\tgot=1.5\twant=2.5",
  refused = "refused\twhy=planted: M is not a multiple of 8",
  error = "error\twhy=planted: an illegal memory access was encountered",
}

local function time_job(state, fields)
  if not state.problem then return "error\twhy=no problem is prepared" end
  local line, err = host.read(fields.desc)
  if not line then return "error\twhy=" .. err end
  if not host.stat(fields.cubin) then return "error\twhy=cannot open '" .. fields.cubin .. "'" end
  local fault = planted(state.faults, fields.desc)
  if fault == "hang" then read_forever() return nil end
  if fault == "crash" then return nil end
  if fault then return canned[fault] end
  local blocks = math.tointeger(tonumber(fields.blocks))
  return time_answer(state.problem, desc.key(line), blocks, state.point)
end

local jobs = {
  problem = function(state, fields)
    state.problem = numbers(fields)
    if not state.problem then return "error\twhy=malformed problem" end
    return problem_answer(state.problem)
  end,
  time = time_job,
}

-- Answers jobs until stdin ends; a planted crash leaves without an answer, with code 3.
function fake.main()
  local text = host.getenv("LOOM_FAKE")
  local state = { faults = parse_faults(text), point = parse_optimum(text) }
  local refusal = setting(state.faults, "start")
  if refusal then
    host.out("error\twhy=" .. refusal .. "\n")
    return 1
  end
  host.out(worker.encode("ready", {
    { "worker", 1 }, { "device", "fake" }, { "arch", "sm_90" }, { "sms", 132 }, { "driver", "0" },
    { "cuda", "0" }, { "cublas", "0" }, { "uuid", "fake" }, { "smem", 232448 } }) .. "\n")
  for line in host.line do
    local verb, fields = worker.decode(line)
    local job = verb and jobs[verb]
    local answer = not job and "error\twhy=unknown job" or job and job(state, fields)
    if not answer then return 3 end
    host.out(answer .. "\n")
  end
  return 0
end

return fake
