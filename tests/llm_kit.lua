-- llm_kit.lua -- what the tests of the language model share: loom-llm, a server of the test's own
-- (tests/c/llm_stub.c) with a script of answers, and an environment without the developer's variables.

local fail = require "fail"
local sh = require "tests_sh"

local LLM = sh.loom:match("^(.*/)[^/]*$") .. "loom-llm"
local STUB = host.root .. "/out/build/ctest/llm_stub"
local KEY = "sk-test/Geheim+42"

for _, path in ipairs { LLM, STUB } do
  if not host.stat(path) then fail("no '" .. path .. "': 'make test' builds it") end
end

local dir = sh.tmpdir "llm"
local made = 0

local function fresh(what)
  made = made + 1
  return string.format("%s/%d-%s", dir, made, what)
end

local function same(got, want)
  if got ~= want then error(("got\n%s\nwant\n%s"):format(tostring(got), tostring(want)), 2) end
end

local function holds(text, part)
  if not text:find(part, 1, true) then error(("no '%s' in\n%s"):format(part, text), 2) end
end

local function lacks(text, part)
  if text:find(part, 1, true) then error(("'%s' stands in\n%s"):format(part, text), 2) end
end

-- A server with this script: {port=, log=path, stop=function}.
local function serve(...)
  local script, log = fresh "script", fresh "requests"
  assert(host.write(script, table.concat({ ... }, "\n") .. "\n"))
  local child = host.spawn { argv = { STUB, script, log } }
  local port = assert(child:recv(20), "the stub does not start")
  return { port = port, log = log, url = "http://127.0.0.1:" .. port .. "/v1",
    stop = function() child:kill() end }
end

-- Every variable is set, so that the developer's own do not leak in.
local function environment(more)
  local env = { "LOOM_LLM_URL=", "LOOM_LLM_CMD=", "LOOM_LLM_MODEL=stub", "LOOM_LLM_KEY=" .. KEY,
    "LOOM_LLM_TIMEOUT=", "NO_PROXY=*", "no_proxy=*" }
  return table.move(more or {}, 1, #(more or {}), #env + 1, env)
end

-- An edit as a model writes it.
local EDIT = '{"name":"deep","hypothesis":"more loads in flight","op":"add-value","param":"stages","values":[6,8]}'

return { LLM = LLM, KEY = KEY, EDIT = EDIT, dir = dir, fresh = fresh, same = same, holds = holds, lacks = lacks,
         serve = serve, environment = environment }
