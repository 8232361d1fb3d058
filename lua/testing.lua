-- testing: runs test files. A file returns a list {{name = "sentence", run = function}, ...}; a test
-- fails when it raises an error, and is counted apart when it calls skip("why"). The last line is
-- "N passed, M failed"; the exit code is 1 when M > 0 or nothing ran.

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

-- Runs the files in order; returns the exit code.
function testing.run(files)
  if #files == 0 then fail.usage("verb 'test' wants files") end
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
  host.out(string.format("%d passed, %d failed%s\n", tally.passed, tally.failed,
    tally.skipped > 0 and string.format(", %d skipped", tally.skipped) or ""))
  return (tally.failed > 0 or tally.passed + tally.skipped == 0) and 1 or 0
end

return testing
