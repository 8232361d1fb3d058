-- Golden kernels: the list covers the spaces as they are, some of its kernels are run on the CPU device
-- (tests/check/golden.lua runs them all; LIMIT=n for another number), and a change of what the device counts
-- is a failure.

local device = require "device"
local emit = require "emit"
local cpu_kit = require "cpu_kit"
local kit = require "golden_kit"
local select_ = require "select"
local sh = require "tests_sh"

local SAMPLE = 6

local function covering()
  local keys = kit.read_keys()
  assert(#keys >= 60, #keys)
  local left = kit.uncovered(keys)
  assert(#left == 0, table.concat(left, "\n") .. "\nare in no golden kernel: " .. kit.again)
end

local function paired()
  local keys, golden = kit.read_keys(), kit.read_golden()
  local lost = kit.unpaired(keys, golden)
  assert(#lost == 0, table.concat(lost, "\n") .. "\n" .. kit.again)
  table.remove(keys, 5)
  assert(#kit.unpaired(keys, golden) == 1)
  golden[next(golden)] = nil
  assert(#kit.unpaired(kit.read_keys(), golden) == 1)
end

local function broken_counters()
  for text, number in pairs {
    ["# a\nlds 1\t1 2\n"] = 2, ["[k 1x2x3]\n\ngarbage\n"] = 3, ["[k 1x2x3]\nlds 1\t1\nlds 1\t2\n"] = 3,
    ["[k 1x2x3]\n[k 1x2x3]\n"] = 2,
  } do
    local ok, err = pcall(kit.read_golden, text)
    assert(not ok and err:find("^tests/golden/counters.tsv:" .. number .. ": neither"), tostring(err))
  end
  local ok, err = pcall(kit.uncovered, { "simt:layout=nn,dtype=f16,acc=f32,tile_m=7" })
  assert(not ok and err:find("make.lua` writes it anew", 1, true), tostring(err))
end

-- In processes of their own: tables are walked in other orders there.
local function deterministic()
  local path = sh.tmpdir "golden keys" .. "/choose.lua"
  host.write(path, 'package.path = package.path .. ";" .. host.root .. "/tests/?.lua"\n'
    .. 'host.out(table.concat(require("golden_kit").choose { "mma" }, "\\n"))\n')
  local said = {}
  for i = 1, 2 do
    local done = sh.run { sh.loom, "--script", path }
    assert(done.code == 0 and done.output:find "^mma:", done.output)
    said[i] = done.output
  end
  assert(said[1] == said[2])
end

local counters = "op\tfile\tline\tvisits\twavefronts\twavefronts_ideal\tsectors\tsectors_ideal\tbytes\twaits\n"
  .. "lds\tk.cu\t7\t4\t16\t16\t0\t0\t0\t0\nlds\tk.cu\t9\t4\t16\t16\t0\t0\t0\t0\nsts\tk.cu\t9\t1\t2\t2\t0\t0\t0\t0\n"

-- What kit.compare says of `text` against `counters`.
local function difference(text)
  local sites = kit.read_counters(counters)
  local golden = { k = { shape = "1x2x3", sites = {}, by_site = {} } }
  for i, s in ipairs(sites) do golden.k.sites[i], golden.k.by_site[s.site] = s.site, s.figures end
  return kit.compare({ stem = "k", cu = "k.cu" }, "1x2x3", kit.read_counters(text), golden) or ""
end

local function counters_compare()
  assert(difference(counters) == "")
  assert(difference((counters:gsub("cu\t7", "cu\t3"))) == "", "a line that moved is no difference")
  local said = difference((counters:gsub("cu\t9\t4\t16", "cu\t9\t4\t64")))
  assert(said == "lds 2 at k.cu:9: wavefronts 64, golden 16", said)
  assert(difference(counters .. "sts\tk.cu\t11\t1\t2\t2\t0\t0\t0\t0\n"):find "^sts 2 at k.cu:11 is not in ")
  assert(difference((counters:gsub("sts[^\n]*\n", ""))):find "^sts 1 is gone")
end

-- A kernel whose swizzle is taken out of its text, with the golden counters of the one that has it.
local function conflict()
  if not cpu_kit.real() then skip "no loom-cpu" end
  local dir, h200, key = sh.tmpdir "golden conflict", device.get "h200", nil
  for _, k in ipairs(kit.read_keys()) do key = key or k:find "^mma:layout=tn" and k end
  local opt = { key = key, device = h200, problems = {} }
  local function counted(change)
    local kernel = emit.render(select_.pick(select_.problems(opt)[1], h200, opt)[1])
    kernel.text = change(kernel.text)
    kernel.number = 0
    emit.write(kernel, dir .. "/kernels")
    return kit.run(dir, { kernel }, kit.read_golden())
  end
  local tally = counted(function(text) return text end)
  assert(#tally.failures == 0, tally.failures[1])
  tally = counted(function(text)
    local plain, n = text:gsub("chunk %^ turn", "chunk")
    assert(n == 1, "no swizzle in the text")
    return plain
  end)
  assert(#tally.failures == 1 and tally.failures[1]:find "wavefronts %d+, golden %d+", table.concat(tally.failures, "\n"))
end

local function sample()
  if not cpu_kit.real() then skip "no loom-cpu" end
  kit.check(sh.tmpdir "golden", SAMPLE)
end

return {
  { name = "golden kernels cover every value, layout and type of every space", run = covering },
  { name = "every golden kernel has its counters, every counter its kernel", run = paired },
  { name = "a broken golden file is named with its line", run = broken_counters },
  { name = "the golden list is chosen the same way every time", run = deterministic },
  { name = "counters are compared by instruction and turn", run = counters_compare },
  { name = "a swizzle that starts to conflict is found", run = conflict },
  { name = "a sample of golden kernels is right in every shape and schedule", run = sample },
}
