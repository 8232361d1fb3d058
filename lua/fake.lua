-- fake: a bench worker without a GPU, for tests and for trying the flow out.
--
-- Speaks the worker's protocol; every figure is a function of the kernel's key, the problem, its seed and the
-- number of blocks (fake_time.lua), so two runs give the same table. LOOM_FAKE plants faults by hash prefix, as
-- they stand in a descriptor's path: "crash=0a1b,hang=77,wrong=12,refused=c0"; "once=PATH" lets the
-- first planted crash or hang happen only while PATH does not exist, "seed=2" all of them only in problems of
-- that seed; "start=TEXT" greets with that error. "optimum=tile_m:128,stages:4" makes the figures a landscape
-- that searches can climb, "noise=0.03" makes blocks scatter by 3 %.

local desc = require "desc"
local fake_pair = require "fake_pair"
local fake_time = require "fake_time"
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

local function numbers(fields)
  local p = {}
  for _, name in ipairs { "M", "N", "K" } do p[name] = math.tointeger(tonumber(fields[name])) end
  for _, name in ipairs { "layout", "dtype", "acc", "seed", "baselines", "cache" } do p[name] = fields[name] end
  return p.M and p.N and p.K and p
end

local function read_forever()
  while host.line() do end
end

-- Crash and hang end the process by the caller; with once=PATH only while PATH is absent.
local function planted(faults, path, seed)
  local fault = fault_of(faults, path)
  if seed ~= (setting(faults, "seed") or seed) then return nil end
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

local AUTO = 32 -- blocks that `auto` comes to

-- The answer to a `time` of one kernel by itself, or nil and that of a job that fails.
local function kernel_answer(state, cubin, path, blocks, samples)
  local line, err = host.read(path)
  if not line then return nil, "error\twhy=" .. err end
  if not host.stat(cubin) then return nil, "error\twhy=cannot open '" .. cubin .. "'" end
  local fault = planted(state.faults, path, state.problem.seed)
  if fault == "hang" then read_forever() end
  if fault == "hang" or fault == "crash" then return nil, nil end
  if fault then return nil, canned[fault] end
  return fake_time.answer(state.problem, desc.key(line), blocks, { point = state.point, samples = samples,
                          noise = tonumber((setting(state.faults, "noise"))) })
end

local function time_job(state, fields)
  if not state.problem then return "error\twhy=no problem is prepared" end
  local blocks = fields.blocks == "auto" and AUTO or math.tointeger(tonumber(fields.blocks))
  local answer, why = kernel_answer(state, fields.cubin, fields.desc, blocks, fields.samples == "1")
  local rival
  if answer and fields.rival_cubin then
    rival, why = kernel_answer(state, fields.rival_cubin, fields.rival_desc, blocks)
    if not rival then return why and why:gsub("\twhy=", "\twhy=rival: ") end
  end
  return answer and fake_pair.time(fields, blocks, answer, rival) or why
end

local function clock_job(state, fields)
  if not state.problem then return "error\twhy=no problem is prepared" end
  local answer, why = kernel_answer(state, fields.cubin, fields.desc, AUTO)
  return answer and fake_pair.clock(fields, answer) or why
end

-- The small products of a kernel, without a problem.
local function vet_job(state, fields)
  local problem = state.problem
  state.problem = numbers(fields)
  local answer, why = nil, "error\twhy=malformed vet"
  if state.problem then answer, why = kernel_answer(state, fields.cubin, fields.desc, 1) end
  state.problem = problem
  return answer and "ok\tfamilies=10\tholes=1" or why
end

local jobs = {
  problem = function(state, fields)
    state.problem = numbers(fields)
    if not state.problem then return "error\twhy=malformed problem" end
    return fake_time.problem(state.problem)
  end,
  time = time_job,
  clock = clock_job,
  vet = vet_job,
  probe = function() return "ok\tms=0.1" end,
  baseline = require("fake_baseline").job,
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
