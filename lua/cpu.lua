-- cpu: the CPU device, the program loom-cpu that runs a kernel's threads as fibers and reports what no
-- schedule may show: deadlocks, races, accesses out of bounds, wrong results. It has no clock.
--
-- A run is {shape, schedule, family, pdl, shift, alpha, beta}; cpu.run does one or several of a kernel that
-- cpu_build compiled, and says what was found with the lines of the kernel and of its template.

local cpu_build = require "cpu_build"
local outdir = require "outdir"
local shapes = require "shapes"
local worker = require "worker"

local cpu = {
  families = { "ternary", "cancel", "onehot", "slice", "special" }, -- of inputs, every one with an exact answer
  schedules = 4,                                                   -- 0.. ; higher numbers are random ones
}

-- The program lies beside loom; a loom from elsewhere uses the project's.
function cpu.program(opt)
  local named = opt.cpu_worker or opt.backend == "cpu" and opt.worker
  if named then return named end
  local beside = host.exe:match("^(.*/)[^/]*$") .. "loom-cpu"
  return host.stat(beside) and beside or host.root .. "/out/build/loom-cpu"
end

-- Why kernels cannot be run here, nil where they can.
function cpu.missing(opt)
  local path = cpu.program(opt)
  if not host.stat(path) then
    return string.format("no CPU device at '%s': `make loom-cpu` builds it", outdir.shown(path))
  end
  local compiler, why = cpu_build.compiler(opt)
  return not compiler and why or nil
end

function cpu.session(opt)
  local limit = opt.timeout
  return worker.session {
    argv = { cpu.program(opt) }, env = opt.env, log = outdir.path(opt, "cpu.log"),
    timeouts = limit and { ready = limit, check = limit },
  }
end

-- ------------------------------------------------------------------------------- one job

local function list(values)
  for i, v in ipairs(values) do values[i] = tostring(v) end
  return table.concat(values, ",")
end

-- run {shape, schedules, families, seed, padded, shift, pdl, alpha, beta, counters}; the lists are cycled.
local function job_of(kernel, run, report)
  local job = {
    { "so", kernel.cpu.so }, { "desc", kernel.json }, { "M", run.shape.M }, { "N", run.shape.N },
    { "K", run.shape.K }, { "seed", run.seed or 1 }, { "schedules", list { table.unpack(run.schedules) } },
    { "families", list { table.unpack(run.families) } }, { "report", report },
  }
  for _, name in ipairs { "counters", "alpha", "beta", "pdl", "shift" } do
    if run[name] then job[#job + 1] = { name, run[name] } end
  end
  local lds = run.padded and shapes.padded(kernel, run.shape) or {}
  for _, name in ipairs { "lda", "ldb", "ldc" } do job[#job + 1] = lds[name] and { name, lds[name] } end
  return job
end

-- Runs a compiled kernel: status, answer; statuses as worker's. answer.report is the text of all that was
-- found. What a worker that is stopped wrote before it counts too.
function cpu.run(opt, session, kernel, run)
  local report = outdir.path(opt, string.format("cache/tmp/report.%d", math.floor(host.now() * 1e6)))
  local status, answer = session:check(kernel.cpu.so_sha, job_of(kernel, run, report))
  answer.report = host.read(report) or ""
  host.remove(report)
  return status, answer
end

-- ------------------------------------------------------------------------------- places

-- "kernel.cu:12" -> the kernel's file and line, and the template's line behind it.
local function placed(kernel, line)
  local place = kernel.place and kernel.place(math.tointeger(tonumber(line)))
  return string.format("%s:%s%s", outdir.shown(kernel.cu), line, place and " (" .. place .. ")" or "")
end

-- A report as the user reads it: kernel.cu:N becomes the kernel's own place.
function cpu.with_places(kernel, text)
  return (text:gsub("kernel%.cu:(%d+)", function(line) return placed(kernel, line) end))
end

-- One line for an answer that is not ok.
function cpu.why(kernel, status, answer)
  local text = answer.why or "no reason given"
  if status == "hang" then text = text .. ": does one of its loops not end?" end
  if status == "wrong" then
    local at, other = answer.at or "", answer.other or ""
    text = (answer.kind or "wrong") .. ": " .. text
    if at ~= "" and not text:find(at, 1, true) then text = text .. " at " .. at end
    local new = other ~= "" and other ~= at and not text:find(other, 1, true)
    if new then text = text .. ", the other side at " .. other end
  end
  return cpu.with_places(kernel, text)
end

return cpu
