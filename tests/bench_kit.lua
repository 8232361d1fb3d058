-- bench_kit.lua -- what tests of benches by the fake worker share: small problems, knobs, a look into the store.

local cpu_kit = require "cpu_kit"
local store = require "store"

local kit = {}

-- Problems of these M.
function kit.problems(...)
  local list = {}
  for i, size in ipairs { ... } do
    list[i] = { M = size, N = 256, K = 128, layout = "tn", dtype = "f16", acc = "f32" }
  end
  return list
end

-- go(opt) with the knobs of `more` in opt's place, the fake worker told `faults`: exit code, stdout, stderr.
function kit.run(go, opt, more, faults)
  opt.env = { "LOOM_FAKE=" .. (faults or "") }
  for name, value in pairs(more or {}) do opt[name] = value end
  return cpu_kit.caught(go, opt)
end

-- Rows of the store in `dir`.
function kit.sql(dir, text)
  local st = store.reader(dir .. "/store.db")
  local rows = st.db:rows(text, {})
  st:close()
  return rows
end

-- Statements without rows to give back.
function kit.change(dir, text)
  local st = store.open(dir .. "/store.db")
  st.db:exec(text)
  st:close()
end

return kit
