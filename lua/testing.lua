-- testing: runs test files. A file returns a list {{name = "sentence", run = function}, ...}; a test
-- fails when it raises an error, and is counted apart when it calls skip("why"). The last line is
-- "N passed, M failed"; the exit code is 1 when M > 0 or nothing ran.
--
-- With LOOM_TEST_JOBS=n in the environment groups of files run in processes of their own, n at a time, each group's
-- output in one piece; `--with PROGRAM` among the files: those behind it are run by that loom. Without, all files run
-- here, one after another.

local fail = require "fail"

local testing = {}

local SKIP = {}

local function skip(why)
  error({ mark = SKIP, why = why or "" }, 0)
end

local function caught(err)
  if type(err) == "table" and err.mark == SKIP then return err end
  if fail.text(err) then return fail.text(err) end
  local trace = debug.traceback(tostring(err), 2)
  return (trace:gsub("\n%s*%[C%]: in function '[%w.]*xpcall'.*", "")) -- what is below is ours
end

local function list_of(path)
  local text, err = host.read(path)
  if not text then fail(err) end
  local env = setmetatable({ skip = skip }, { __index = _G, __newindex = _G })
  local chunk
  chunk, err = load(text, "@" .. path, "t", env)
  if not chunk then fail(err) end
  local list = chunk()
  if type(list) ~= "table" or #list == 0 then fail(string.format("%s:1: returns no list of tests", path)) end
  return list
end

local function run_one(test, tally)
  local ok, err = xpcall(test.run, caught)
  if ok then
    tally.passed = tally.passed + 1
    host.out("ok " .. test.name .. "\n")
  elseif type(err) == "table" then
    tally.skipped = tally.skipped + 1
    host.out(string.format("skip %s: %s\n", test.name, err.why))
  else
    tally.failed = tally.failed + 1
    host.out(string.format("FAIL %s: %s\n", test.name, err))
  end
end

local function verdict(tally)
  host.out(string.format("%d passed, %d failed%s\n", tally.passed, tally.failed,
    tally.skipped > 0 and string.format(", %d skipped", tally.skipped) or ""))
  return (tally.failed > 0 or tally.passed + tally.skipped == 0) and 1 or 0
end

-- The files by the first word of their names, {name=, argv=}: such files share folders, and run one after another.
local SHARE = { proc = "host" } -- host_kit's folder

local function groups_of(words)
  local groups, known, program, i = {}, {}, host.exe, 1
  while i <= #words do
    if words[i] == "--with" then
      program, i = words[i + 1], i + 1
      if not program then fail.usage("--with wants a program") end
    else
      local word = words[i]:match "([^/_]*)[^/]*$"
      word = SHARE[word] or word
      local g = known[word .. "\0" .. program]
      if not g then
        g = { name = word, argv = { program, "test" } }
        groups[#groups + 1], known[word .. "\0" .. program] = g, g
      end
      g.argv[#g.argv + 1] = words[i]
    end
    i = i + 1
  end
  return groups
end

-- The figures of the line that ends a group's output, as verdict() writes it; nil where there is none, or where the
-- exit code says otherwise.
local function figures_of(result)
  local line = ("\n" .. result.output):match "\n([^\n]*)\n$" or ""
  local passed, failed, tail = line:match "^(%d+) passed, (%d+) failed(.*)$"
  local skipped = tail and (tail == "" and 0 or tail:match "^, (%d+) skipped$")
  if not skipped then return nil end
  passed, failed, skipped = tonumber(passed), tonumber(failed), tonumber(skipped)
  if result.code ~= ((failed > 0 or passed + skipped == 0) and 1 or 0) then return nil end
  return passed, failed, skipped
end

-- What a group's process printed is shown whole, then counted by its last line; one that has none is a failure.
local function count(result, tally)
  host.out(result.output .. (result.output:find "[^\n]$" and "\n" or ""))
  local passed, failed, skipped = figures_of(result)
  if passed then
    tally.passed, tally.failed = tally.passed + passed, tally.failed + failed
    tally.skipped = tally.skipped + skipped
  else
    tally.failed = tally.failed + 1
    host.out(string.format("FAIL the tests of '%s': %s\n", result.tag, result.timeout and "they do not end"
      or result.signal and "signal " .. result.signal or "exit code " .. tostring(result.code)))
  end
  host.out(string.format("-- %s: %.1f s\n", result.tag, result.seconds))
end

local function run_groups(words, jobs)
  local tally = { passed = 0, failed = 0, skipped = 0 }
  local pool = host.pool(jobs)
  for i, g in ipairs(groups_of(words)) do
    local env = { "LOOM_TEST_JOBS=", "LOOM_TEST_GROUP=" .. i } -- temporary folders are named by it (tests_sh.lua)
    pool:submit { argv = g.argv, tag = g.name, timeout = 900, env = env }
  end
  for result in function() return pool:wait() end do count(result, tally) end
  if host.interrupted() then fail "interrupted" end -- those that did not run did not pass
  return verdict(tally)
end

-- Runs the files in order; returns the exit code.
function testing.run(files)
  if #files == 0 then fail.usage("verb 'test' wants files") end
  local jobs = host.getenv "LOOM_TEST_JOBS" or ""
  if jobs ~= "" then
    jobs = math.tointeger(tonumber(jobs))
    if not jobs or jobs < 1 or jobs > 64 then fail.usage("LOOM_TEST_JOBS is no number from 1 to 64") end
    return run_groups(files, jobs)
  end
  package.path = package.path .. ";" .. host.root .. "/tests/?.lua" -- what test files share
  local tally = { passed = 0, failed = 0, skipped = 0 }
  for _, path in ipairs(files) do
    local ok, list = xpcall(list_of, caught, path)
    if not ok then
      tally.failed = tally.failed + 1
      host.out(string.format("FAIL %s: %s\n", path, list))
    end
    for _, test in ipairs(ok and list or {}) do run_one(test, tally) end
  end
  return verdict(tally)
end

return testing
