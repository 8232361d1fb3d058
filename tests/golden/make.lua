-- Writes the golden files anew: which kernels (keys.tsv), and what the CPU device counts for them
-- (counters.tsv). Look at the difference before it is committed: a counter that grew is a conflict.

local kit = require "golden_kit"
local sh = require "tests_sh"

local function write(path, text)
  assert(host.write(host.root .. "/" .. path, text) ~= nil)
end

local function keys()
  local list = kit.choose()
  write(kit.keys, "# Golden kernels, one key a line: every value of every parameter, every layout and type.\n"
    .. table.concat(list, "\n") .. "\n")
  host.out(string.format("%d keys in %s\n", #list, kit.keys))
end

local function counters()
  local dir = sh.tmpdir "golden make"
  local kernels = kit.kernels(kit.read_keys(), nil, dir)
  local tally, line = kit.run(dir, kernels)
  host.out(line .. "\n")
  kit.refuse(tally)
  local parts = { kit.head }
  for _, kernel in ipairs(kernels) do parts[#parts + 1] = tally.counters[kernel.stem] end
  write(kit.counters, table.concat(parts))
end

return {
  { name = "the list of golden kernels is written", run = keys },
  { name = "the counters of golden kernels are written", run = counters },
}
