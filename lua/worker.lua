-- worker: the parent's side of a worker: loom-bench, which owns the GPU, or loom-cpu, the CPU device.
--
-- The worker may crash or hang, the parent may not. `worker.start` is one process, `worker.session`
-- keeps one alive over a list of jobs: it prepares the problem where there is one, gives each job a
-- deadline, kills what misses it, starts a fresh worker and tries once more. A kernel that kills
-- its worker twice is in quarantine: it is not started again in this run. After a worker was lost, the
-- next one is asked for a kernel known to be good first: a GPU that does not answer that ends the run,
-- before the following kernels are blamed for it.

local fail = require "fail"
local outdir = require "outdir"

-- Seconds of silence. What the worker itself notices, such as a kernel that does not end, it says sooner.
local worker = { timeouts = { ready = 60, problem = 120, time = 60, check = 30, baseline = 60, clock = 60,
                              probe = 5, vet = 30 } }

local signals = { [4] = "SIGILL", [6] = "SIGABRT", [7] = "SIGBUS", [8] = "SIGFPE", [9] = "SIGKILL",
                  [11] = "SIGSEGV", [15] = "SIGTERM" }

-- verb and {name, value} pairs -> one line. Values hold neither tabs nor newlines.
function worker.encode(verb, pairs_)
  local out = { verb }
  for _, p in ipairs(pairs_) do
    local value = tostring(p[2])
    assert(not value:find("[\t\n]"), "a job's value holds a tab or a newline")
    out[#out + 1] = p[1] .. "=" .. value
  end
  return table.concat(out, "\t")
end

-- One line -> verb, {name = text}; nil where it is no protocol line.
function worker.decode(line)
  local verb, rest = line:match("^([%a_]+)(.*)$")
  if not verb or (rest ~= "" and rest:sub(1, 1) ~= "\t") then return nil end
  local fields = {}
  for part in rest:gmatch("\t([^\t]*)") do
    local name, value = part:match("^([%w_]+)=(.*)$")
    if not name then return nil end
    fields[name] = value
  end
  return verb, fields
end

-- ------------------------------------------------------------------------------- one process

local Worker = {}
Worker.__index = Worker

local function how_it_ended(code, signal)
  if signal then
    return "killed by " .. (signals[signal] or "signal " .. tostring(signal))
  end
  return "exited with " .. tostring(code)
end

-- The next protocol line, or nil, kind ("hang", "crash", "interrupted", "garbled"), why.
function Worker:answer(seconds)
  local line, err = self.child:recv(seconds)
  if line then
    local verb, fields = worker.decode(line)
    if verb then return verb, fields end
    self.child:kill()
    return nil, "crash", "the worker wrote '" .. line:sub(1, 60) .. "'"
  end
  if err == "interrupted" or host.interrupted() then
    self.child:kill()
    return nil, "interrupted", "interrupted"
  elseif err == "timeout" then
    self.child:kill()
    return nil, "hang", string.format("no answer in %g s", seconds)
  end
  -- The pipe is closed: close() waits for the exit and tells its real cause.
  return nil, "crash", "the worker " .. how_it_ended(self.child:close())
end

function Worker:ask(verb, pairs_, seconds)
  local ok = self.child:send(worker.encode(verb, pairs_))
  if not ok then return nil, "crash", "the worker " .. how_it_ended(self.child:close()) end
  return self:answer(seconds)
end

function Worker:stop()
  self.child:close()
end

-- Starts a worker and waits for its greeting: worker with .info, or nil, kind, why.
function worker.start(opt)
  local ok, child = pcall(host.spawn, { argv = opt.argv, env = opt.env, stderr = opt.log })
  if not ok then return nil, "error", tostring(child) end
  local self = setmetatable({ child = child }, Worker)
  local verb, fields, why = self:answer(opt.timeouts.ready)
  if verb == "ready" and fields.worker == "1" then
    self.info = fields
    return self
  end
  if not verb then return nil, fields, why end
  child:kill()
  if verb == "error" then return nil, "error", fields.why or "no reason given" end
  return nil, "error", string.format("the worker greets with '%s', worker=%s; this loom speaks 1",
                                     verb, tostring(fields.worker))
end

-- ------------------------------------------------------------------------------- a session

local Session = {}
Session.__index = Session

-- opt {argv, env, log, timeouts, bounded}: nothing is started before it is needed. opt.bounded(cubin), where
-- it is there, makes a build of that kernel whose waits give up: its path, or nil.
function worker.session(opt)
  local timeouts = {}
  for _, name in ipairs { "ready", "problem", "time", "check", "baseline", "clock", "probe", "vet" } do
    timeouts[name] = (opt.timeouts or {})[name] or worker.timeouts[name]
  end
  local start = { argv = opt.argv, env = opt.env, log = opt.log, timeouts = timeouts, bounded = opt.bounded }
  return setmetatable({ opt = start, restarts = 0, quarantine = {} }, Session)
end

function Session:drop()
  if self.w then
    self.w.child:kill()
    self.suspect = true
  end
  self.w, self.ready_for = nil, nil
end

-- A live worker; one that cannot be started twice in a row ends the run.
local function started(self)
  if self.w then return true end
  local kind, why
  for _ = 1, 2 do
    self.w, kind, why = worker.start(self.opt)
    if self.w then
      self.info = self.w.info
      self.restarts = self.restarts + 1
      return true
    end
    if kind == "interrupted" then return nil, kind, why end
    if kind == "error" then break end
  end
  local log = kind == "crash" and " (log: " .. outdir.shown(self.opt.log) .. ")" or ""
  fail(string.format("the bench worker '%s' does not start: %s%s", outdir.shown(self.opt.argv[1]),
                     why, log))
end

-- Does the GPU answer a kernel known to be good? Asked of a fresh worker after one was lost. A worker that
-- does not know the question has no GPU.
local function answers(self, verb)
  if not self.suspect or verb == "check" then return true end
  local word, fields, text = self.w:ask("probe", {}, self.opt.timeouts.probe)
  local why = word and fields.why or text or ""
  if word == "ok" or (word == "error" and (why:find("^unknown verb") or why:find("^unknown job"))) then
    self.suspect = nil
    return true
  end
  self:drop()
  if not word then return nil, fields, why end
  return nil, word, why
end

-- A live worker that a job of this verb can be given to.
local function alive(self, verb)
  local ok, kind, why
  for _ = 1, 2 do
    ok, kind, why = started(self)
    if ok then ok, kind, why = answers(self, verb) end
    if ok or kind == "interrupted" then return ok, kind, why end
  end
  fail(string.format("the GPU does not answer a kernel known to be good: %s (log: %s)", why,
                     outdir.shown(self.opt.log)))
end

-- Sends the problem once per worker. Anything but ok leaves no worker behind.
local function prepared(self, problem)
  if self.w and self.ready_for == problem then return true end
  local ok, kind, why = alive(self, "problem")
  if not ok then return nil, kind, why end
  local verb, fields, text = self.w:ask("problem", problem.job, self.opt.timeouts.problem)
  if verb == "ok" then
    self.ready_for, problem.answer = problem, fields
    return true
  end
  self:drop()
  if not verb then return nil, fields, text end
  return nil, "error", fields.why or "the worker answers '" .. verb .. "' to a problem"
end

-- Makes the worker ready for `problem` {job = pairs}, trying once more in a fresh worker.
function Session:prepare(problem)
  local ok, kind, why
  for _ = 1, 2 do
    ok, kind, why = prepared(self, problem)
    if ok or kind == "interrupted" then break end
  end
  return ok, kind, why
end

function Session:greeting()
  local ok, kind, why = started(self)
  if not ok then return nil, kind, why end
  return self.info
end

local final = { ok = true, wrong = true, refused = true }
local ended = { ok = true, wrong = true, refused = true, interrupted = true, unprepared = true }

local function value_of(pairs_, name)
  for _, p in ipairs(pairs_) do
    if p[1] == name then return p[2] end
  end
  return nil
end

-- One attempt: status, fields; statuses hang, crash and error may get another.
local function attempt(self, problem, verb, pairs_)
  local ok, kind, why
  if problem then ok, kind, why = self:prepare(problem) else ok, kind, why = alive(self, verb) end
  if not ok then return kind == "interrupted" and kind or "unprepared", { why = why } end
  local seconds = self.opt.timeouts[verb] + (tonumber(value_of(pairs_, "seconds")) or 0)
  local answer, fields, text = self.w:ask(verb, pairs_, seconds)
  if final[answer] then return answer, fields end
  self:drop()
  if not answer then return fields, { why = text } end
  if answer ~= "error" then fields.why = "the worker answers '" .. answer .. "'" end
  return "error", fields
end

local function vet_job(problem, pairs_, cubin)
  local job = {}
  for _, name in ipairs { "M", "N", "K", "layout", "dtype", "acc", "seed" } do
    job[#job + 1] = { name, value_of(problem.job, name) }
  end
  job[#job + 1] = { "cubin", cubin }
  job[#job + 1] = { "desc", value_of(pairs_, "desc") }
  return job
end

-- The second attempt of a kernel that does not end on the small products: a build of it whose waits give up,
-- which says where it waits. Nil where that cannot be made, or ends well: then the kernel itself is tried again.
local function give_up(self, problem, pairs_, status, fields)
  local why = fields.why or ""
  if not self.opt.bounded or not problem or not why:find(": the kernel does not end", 1, true) then return nil end
  local cubin = self.opt.bounded(value_of(pairs_, "cubin"))
  if not cubin then return host.interrupted() and "interrupted" or nil, { why = "interrupted" } end
  local other, told = attempt(self, nil, "vet", vet_job(problem, pairs_, cubin))
  if final[other] then return nil end
  if ended[other] then return other, told end
  local where = (told.why or ""):match("does not end: (.*)$")
  return status, { why = where and why .. ": " .. where or why }
end

local function twice(self, problem, verb, pairs_)
  local status, fields = attempt(self, problem, verb, pairs_)
  if ended[status] then return status, fields end
  if verb == "check" and status == "hang" then return status, fields end -- the same steps would take as long again
  local again, told = give_up(self, problem, pairs_, status, fields)
  if again then return again, told end
  return attempt(self, problem, verb, pairs_)
end

local function ask(self, problem, id, verb, pairs_)
  if self.quarantine[id] then
    return "quarantined", { why = "stopped its worker before: " .. self.quarantine[id] }
  end
  local status, fields = twice(self, problem, verb, pairs_)
  if not ended[status] then self.quarantine[id] = fields.why or status end
  return status, fields
end

-- Times one kernel: status, fields. `id` is what quarantine remembers (the cubin's hash). Statuses:
-- ok, wrong, refused, as the worker says; crash, hang, error after a second failure in a fresh
-- worker; quarantined; unprepared (the problem itself fails); interrupted.
function Session:time(problem, id, pairs_)
  return ask(self, problem, id, "time", pairs_)
end

-- The same in another clock; pairs_ say which, and for how many seconds.
function Session:clock(problem, id, pairs_)
  return ask(self, problem, id, "clock", pairs_)
end

-- The libraries' options on one problem, which is prepared for nothing else afterwards.
function Session:baseline(id, pairs_)
  self.ready_for = nil
  return ask(self, nil, id, "baseline", pairs_)
end

-- The same for a kernel on the CPU device, which wants no problem beforehand. A kernel that does not
-- end, or crashes, is reported by a worker that is about to exit.
function Session:check(id, pairs_)
  local status, fields = ask(self, nil, id, "check", pairs_)
  if fields.kind == "endless" or fields.kind == "crash" then self:drop() end
  return status, fields
end

function Session:stop()
  if self.w then self.w:stop() end
  self.w, self.ready_for = nil, nil
end

return worker
