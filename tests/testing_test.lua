-- Tests of the test runner: what fails, crashes, hangs or lies in a group of its own is a failure of the whole.

local sh = require "tests_sh"

local dir = sh.tmpdir "testing"

-- A test file <word>_test.lua of tests by name, each a body.
local function file(word, bodies)
  local parts = {}
  for i, body in ipairs(bodies) do parts[i] = string.format("{ name = '%s %d', run = function() %s end },", word, i, body) end
  local path = string.format("%s/%s_test.lua", dir, word)
  assert(host.write(path, "return {\n" .. table.concat(parts, "\n") .. "\n}\n") ~= nil)
  return path
end

local good = file("good", { "", "skip 'no reason'" })
local fine = file("fine", { "" })

-- `loom test` of the words, so many at a time; nil: all here. Its exit code, output and last line.
local function run(jobs, ...)
  local done = sh.run({ sh.loom, "test", ... }, { env = { "LOOM_TEST_JOBS=" .. (jobs or "") } })
  return done.code, done.output, done.output:match "([^\n]*)\n$"
end

local function one_after_another()
  local code, said, last = run(nil, good, fine)
  assert(code == 0 and last == "2 passed, 0 failed, 1 skipped" and not said:find("\n-- ", 1, true), said)
  code, said, last = run(nil, good, file("bad", { "error 'planted'" }))
  assert(code == 1 and last == "1 passed, 1 failed, 1 skipped", said)
end

local function in_groups()
  local code, said, last = run(3, good, "--with", sh.loom, fine, file("good_more", { "" }))
  assert(code == 0 and last == "3 passed, 0 failed, 1 skipped", said)
  assert(said:find("ok fine 1\n1 passed, 0 failed\n-- fine: ", 1, true), said)
  assert(said:find("skip good 2: no reason\nok good_more 1\n2 passed, 0 failed, 1 skipped\n-- good: ", 1, true), said)
end

-- A loom that prints a text and ends with a code.
local function liar(text, code)
  local path = dir .. "/liar"
  assert(host.write(path, string.format("#!/bin/sh\nprintf '%s'\nexit %d\n", text, code)) ~= nil)
  assert(sh.run({ "chmod", "+x", path }).code == 0)
  return path
end

local KILL = 'local p = host.pool(1) p:submit { argv = { "kill", "-9", host.read("/proc/self/stat"):match "^%d+" } } p:wait()'

local function failures_count()
  for body, want in pairs { ["error 'planted'"] = "FAIL bad 1: [^\n]*planted", [KILL] = "FAIL the tests of 'bad': signal 9\n" } do
    local code, said, last = run(2, good, file("bad", { body }), fine)
    assert(code == 1 and said:find(want) and last == "2 passed, 1 failed, 1 skipped", said)
  end
  for _, lie in ipairs { { "9 passed, 0 failed\n", 1 }, { "9 passed, 1 failed\n", 0 }, { "9 passed, 0 failed, some skipped\n", 0 },
    { "0 passed, 0 failed\n", 0 }, { "9 passed, 0 failed\nand a crash\n", 0 }, { "9 passed, 0 failed", 0 }, { "", 0 }, { "", 2 } } do
    local code, said, last = run(2, good, "--with", liar((lie[1]:gsub("\n", "\\n")), lie[2]), fine)
    assert(code == 1 and last == "1 passed, 1 failed, 1 skipped", said)
    assert(said:find("FAIL the tests of 'fine': exit code " .. lie[2] .. "\n", 1, true), said)
  end
end

local function what_does_not_start()
  local path = dir .. "/torn_test.lua"
  host.write(path, "return {")
  local code, said, last = run(2, good, path, dir .. "/nowhere_test.lua")
  assert(code == 1 and last == "1 passed, 2 failed, 1 skipped" and said:find("FAIL [^\n]*torn_test.lua: "), said)
  code, said, last = run(2, fine, "--with", dir .. "/no-loom", good)
  assert(code == 1 and last == "1 passed, 1 failed" and said:find("FAIL the tests of 'good': exit code 127\n", 1, true), said)
  for _, words in ipairs { { 0, fine }, { 65, fine }, { "x", fine }, { 2, fine, "--with" } } do
    assert(run(table.unpack(words)) == 2, "misuse: " .. tostring(words[1]))
  end
end

return {
  { name = "without LOOM_TEST_JOBS test files run one after another", run = one_after_another },
  { name = "groups of test files run in processes of their own and are counted together", run = in_groups },
  { name = "a group that fails, crashes, ends early or lies about it is a failure", run = failures_count },
  { name = "a group that does not start is a failure, a wrong knob is refused", run = what_does_not_start },
}
