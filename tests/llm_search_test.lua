-- Searches whose mutator is a language model (a server of the test's own): from a poor spec they reach
-- the planted optimum, what does not apply is counted, and kill -9 changes nothing.

local kit = require "llm_kit"
local narrow_kit = require "narrow_kit"
local sh = require "tests_sh"

local dir = sh.tmpdir "llm search"
local narrow = narrow_kit.write(dir, narrow_kit.searched)
local optimum = "optimum=tile_m:128,tile_n:256,schedule:cooperative,consumers:2,stages:4,group_m:8"

local function edit(name, op, param, values)
  return string.format('{"name":"%s","hypothesis":"because of %s","op":"%s","param":"%s","values":%s}', name,
                       name, op, param, values)
end

local function say(...)
  return 'say {"edits":[' .. table.concat({ ... }, ",") .. "]}"
end

-- A model that gets there step by step, and sometimes talks nonsense.
local STEPS = {
  say(edit("wide tiles", "add-value", "tile_n", "[256]"), edit("no such thing", "add-value", "tile_q", "[3]")),
  "say I would rather not.",
  say(edit("two consumers", "add-value", "warps", '[["cooperative",2]]')),
  say(edit("breaks the file", "set-domain", "stages", '["deep"]'), edit("deeper", "add-value", "stages", "[4]")),
  say(edit("raster", "add-value", "group_m", "[8]")),
  "say nothing more to try",
}

-- A model that says the same whatever it is asked.
local ALL_AT_ONCE = {
  say(edit("wide tiles", "add-value", "tile_n", "[256]"),
      edit("two consumers", "add-value", "warps", '[["cooperative",2]]'),
      edit("deeper", "add-value", "stages", "[4]"), edit("raster", "add-value", "group_m", "[8]")),
}

local function spec(name, port)
  return { argv = { sh.loom, "search", "SHAPE=4096x4096x4096", "SPACE=" .. narrow, "BACKEND=fake", "MUTATOR=llm",
                    "BUDGET=30s", "SEED=1", "RUN=" .. name, "OUT=" .. dir, "NVCC=none" },
           env = { "LOOM_FAKE=" .. optimum, "LOOM_LLM_URL=http://127.0.0.1:" .. port .. "/v1", "LOOM_LLM_CMD=",
                   "LOOM_LLM_MODEL=stub", "LOOM_LLM_KEY=sk-never-shown", "NO_PROXY=*", "no_proxy=*" } }
end

local function run(name, port)
  local s = spec(name, port)
  local done = sh.run(s.argv, { env = s.env })
  assert(done.code == 0, done.output)
  return done.output, assert(host.read(dir .. "/search/" .. name .. "/lineage.tsv"))
end

local function reaches_optimum()
  local server = kit.serve(table.unpack(STEPS))
  local text, lineage = run("steps", server.port)
  server.stop()
  local best = text:match("\n +1  FASTER [^\n]*") or ""
  for _, want in ipairs { "tile_m=128,", "tile_n=256,", "schedule=cooperative,consumers=2,", "stages=4,", "group_m=8," } do
    assert(best:find(want, 1, true), text)
  end
  assert(lineage:find("because of two consumers", 1, true), "hypotheses stand in the lineage: " .. lineage)
  assert(tonumber(text:match("edits refused: (%d+)")) >= 3, text)
  local log = assert(host.read(dir .. "/search/steps/llm.jsonl"))
  assert(log:find("wide tiles", 1, true) and not log:find("never-shown", 1, true), "the transcript")
  local requests = assert(host.read(server.log))
  assert(requests:find("tile_q", 1, true), "what was refused is told to the model")
end

local function killed()
  local server = kit.serve(table.unpack(ALL_AT_ONCE))
  local started = host.now()
  local _, calm = run("calm", server.port)
  local seconds, hits = host.now() - started, 0
  for _, share in ipairs { 0.1, 0.2, 0.4, 0.7 } do
    local child = host.spawn(spec("hit", server.port))
    child:recv(share * seconds)
    local _, signal = child:kill()
    if signal == 9 then hits = hits + 1 end
  end
  local _, lineage = run("hit", server.port)
  server.stop()
  assert(hits > 0, "the search was too fast to be hit")
  assert(lineage == calm, lineage .. "\nis not\n" .. calm)
end

-- The model never answers: the figures are there all the same, then one line says why it ended.
local function given_up()
  local s = spec("mute", 1)
  s.env[#s.env + 1] = "LOOM_LLM_CMD=echo overloaded >&2; exit 1"
  local done = sh.run(s.argv, { env = s.env })
  assert(done.code == 1, done.output)
  assert(done.output:find "\nbest_ratio: %d", done.output)
  assert(done.output:find("\nloom: the language model gave no answer 5 times in a row; the last time: "
                          .. "the command ends with 1: overloaded ", 1, true), done.output)
  local log = assert(host.read(dir .. "/search/mute/llm.jsonl"))
  assert(not log:find("exit 1", 1, true), "the command's text stands in the transcript")
  local server = kit.serve(table.unpack(ALL_AT_ONCE))
  local text, lineage = run("mute", server.port)
  server.stop()
  assert(lineage:find "\n0001\t0000\tadd%-value tile_n 256; ", text .. lineage)
end

return {
  { name = "from a poor spec a language model's edits reach the planted optimum", run = reaches_optimum },
  { name = "a language model that is given up: figures, one line, and the same command asks afresh", run = given_up },
  { name = "kill -9 of a search with a language model: it goes on to the same lineage", run = killed },
}
