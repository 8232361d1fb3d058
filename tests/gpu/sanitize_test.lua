-- sanitize_test.lua -- on a GPU with compute-sanitizer: SANITIZE=1 runs those of its tools that find their planted
-- fault and pass a right kernel, says which do not, and a good kernel stays good.

local sanitize = require "sanitize"
local sh = require "tests_sh"

local TOOLS = { "memcheck", "racecheck", "synccheck", "initcheck" }

local function bench()
  if not sanitize.find {} then skip "no compute-sanitizer here" end
  local out = sh.tmpdir "gpu sanitize"
  local run = sh.run({ sh.loom, "bench", "BACKEND=cuda", "OUT=" .. out, "SPACE=mma", "SHAPE=256x256x256", "LAYOUT=nn", "N=2",
                       "SANITIZE=1" }, { timeout = 900 })
  assert(run.code == 0, run.output)
  local db = host.db(out .. "/store.db")
  local row = db:rows("SELECT status, why, sanitizer FROM rows WHERE sanitizer IS NOT NULL ORDER BY rowid DESC LIMIT 1", {})[1]
  db:close()
  host.err("sanitizer: " .. (row and row.sanitizer or "none") .. "\n")
  for _, tool in ipairs(TOOLS) do
    local counted = row and ("," .. row.sanitizer .. ","):find("," .. tool .. ",", 1, true)
    local said = run.output:find("note: compute-sanitizer's " .. tool, 1, true)
    assert((counted ~= nil and counted ~= false) ~= (said ~= nil), tool .. ": neither counted nor said why not:\n" .. run.output)
  end
  assert(not row or row.status == "ok", row and row.why)
  sh.remove(out)
end

return {
  { name = "SANITIZE=1 counts the tools that work here and says which do not", run = bench },
}
