-- What the parent does after a worker was lost: a kernel known to be good first; the second attempt of a
-- kernel that does not end is a build whose waits give up. tests/fake-bench is the worker.

local fail = require "fail"
local sh = require "tests_sh"
local worker = require "worker"

local dir = sh.tmpdir "worker"
local log = dir .. "/verbs"

local problem = { job = { { "M", 64 }, { "N", 64 }, { "K", 64 }, { "layout", "tn" }, { "dtype", "f16" },
                          { "acc", "f32" }, { "seed", 1 }, { "cache", "cold" } } }

-- A session with the worker told `words`; builds whose waits give up are there unless `bounded` is false.
local function session(words, bounded)
  for _, name in ipairs { log, log .. ".once" } do host.remove(name) end
  return worker.session {
    argv = { host.root .. "/tests/fake-bench" }, log = dir .. "/worker.log",
    env = { "LOOM_FAKE_BENCH=" .. words, "LOOM_FAKE_BENCH_LOG=" .. log },
    timeouts = { ready = 20, problem = 5, time = 5, probe = 0.5, vet = 5 },
    bounded = bounded ~= false and function(cubin) return bounded or cubin .. ".bounded" end or nil,
  }
end

local function time(s, name)
  return s:time(problem, name, { { "cubin", name .. ".cubin" }, { "desc", name .. ".json" }, { "blocks", 8 } })
end

local function verbs()
  return (host.read(log) or ""):gsub("\n", " "):gsub(" $", "")
end

local function told_where_it_waits()
  local s = session "endless=bad"
  assert(time(s, "good") == "ok")
  local status, answer = time(s, "bad")
  assert(status == "error" and answer.why == "ternary: the kernel does not end (2 s): CTA 3 warp 0 waits for mbarrier "
         .. "smem+213088, phase of parity 0", answer.why)
  assert(verbs() == "start problem time time start probe vet", verbs())
  assert(time(s, "bad") == "quarantined" and time(s, "other") == "ok")
  assert(verbs() == "start problem time time start probe vet start probe problem time", verbs())
  s:stop()
end

local function not_told()
  local s = session "endless=bad vet=silent"
  local status, answer = time(s, "bad")
  assert(status == "error" and answer.why == "ternary: the kernel does not end (2 s)", answer.why)
  assert(verbs() == "start problem time start probe vet", verbs())
  assert(time(s, "bad") == "quarantined" and time(s, "good") == "ok")
  s:stop()
end

-- Where the other build ends, or there is none, the kernel itself is tried again.
local function tried_again()
  local s = session "endless=bad vet=ok"
  local status, answer = time(s, "bad")
  assert(status == "error" and answer.why == "ternary: the kernel does not end (2 s)", answer.why)
  assert(verbs() == "start problem time start probe vet problem time", verbs())
  s:stop()
  s = session("endless=bad", false)
  assert(time(s, "bad") == "error" and verbs() == "start problem time start probe problem time", verbs())
  s:stop()
end

local function probed_after_a_crash()
  local s = session "crash=bad"
  local status, answer = time(s, "bad")
  assert(status == "crash" and answer.why == "the worker killed by SIGKILL", answer.why)
  assert(time(s, "good") == "ok")
  assert(verbs() == "start problem time start probe problem time start probe problem time", verbs())
  assert(time(s, "better") == "ok" and not verbs():find("time time time"), "asked once for each worker that was lost")
  s:stop()
end

-- The run ends with one line, and not at the next kernel: nobody else is blamed.
local function no_answer(words, why)
  local s = session("crash=bad " .. words)
  local ok, err = pcall(time, s, "bad")
  local text = not ok and fail.text(err) or ""
  assert(text:find("the GPU does not answer a kernel known to be good: " .. why, 1, true) and not text:find("\n"), tostring(err))
  assert(verbs() == "start problem time start probe start probe", verbs())
end

return {
  { name = "a kernel that does not end is told with the wait it is stuck in", run = told_where_it_waits },
  { name = "a hang that no wait tells of is a hang twice", run = not_told },
  { name = "without a build whose waits give up, a kernel that does not end is tried again", run = tried_again },
  { name = "after a worker was lost, the next one answers for a kernel known to be good first", run = probed_after_a_crash },
  { name = "a GPU that gives wrong results to a kernel known to be good ends the run", run = function()
    no_answer("probe=wrong", "its result is wrong: ternary: 3 elements are not exact")
  end },
  { name = "a GPU that does not answer a kernel known to be good ends the run", run = function()
    no_answer("probe=hang", "no answer in 0.5 s")
  end },
  { name = "one bad answer is none: another fresh worker is asked", run = function()
    local s = session "crash=bad probe=once"
    assert(time(s, "bad") == "crash" and time(s, "good") == "ok")
    assert(verbs():find("^start problem time start probe start probe problem time start probe problem time$"), verbs())
    s:stop()
  end },
  { name = "a worker that does not know the question goes on", run = function()
    local s = session "crash=bad probe=unknown"
    assert(time(s, "bad") == "crash" and time(s, "good") == "ok")
    s:stop()
  end },
}
