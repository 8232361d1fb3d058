-- nvcc_test.lua -- a covering sample of every space compiles with the real nvcc, for each architecture
-- that can run it, without spills and without a C75xx warning (ptxas doubting the wgmma pipeline).
-- Needs the CUDA toolkit, no GPU: a part of `make check`.

local sh = require "tests_sh"

-- Devices whose architectures the sample is compiled for, and how many candidates of each problem. Of few tiles K is
-- split; what TMA cannot load is gathered.
local SAMPLES = {
  { device = "h200", layout = "nn,tn", n = 40 },
  { device = "h200", layout = "tn", n = 12, shape = "256x256x8192" },
  { device = "h200", layout = "nt", n = 12, shape = "4095x4094x4093", space = "hopper_any" },
  { device = "a100", layout = "nn,tt", n = 12 },
  { device = "rtx3090", layout = "tn", n = 8 },
  { device = "rtx4090", layout = "nt", n = 8 },
  { device = "rtx5090", layout = "nn", n = 8 },
}

local tests = {}
for _, s in ipairs(SAMPLES) do
  tests[#tests + 1] = {
    name = "kernels for " .. s.device .. (s.shape and ", " .. s.shape or "") .. " build without spills and wgmma warnings",
    run = function()
      local have = sh.run { "sh", "-c", "command -v nvcc || test -x /usr/local/cuda/bin/nvcc" }
      if have.code ~= 0 then skip("no nvcc on this machine") end
      local tmp = sh.tmpdir("nvcc " .. s.device)
      local run = sh.run({ sh.loom, "build", "SHAPE=" .. (s.shape or "4096x4096x4096"), "DEVICE=" .. s.device,
                           "LAYOUT=" .. s.layout, "N=" .. s.n, "OUT=" .. tmp, s.space and "SPACE=" .. s.space },
                         { timeout = 900 })
      assert(run.code == 0, run.output)
      local built = 0
      for _, folder in ipairs(assert(host.list(tmp .. "/cache"))) do
        for _, name in ipairs(host.list(tmp .. "/cache/" .. folder) or {}) do
          if name:find("%.log$") then
            local log = assert(host.read(tmp .. "/cache/" .. folder .. "/" .. name))
            assert(not log:find("C7%d%d%d"), log)
            assert(log:find("0 bytes spill stores, 0 bytes spill loads", 1, true), log)
            built = built + 1
          end
        end
      end
      assert(built >= s.n, "only " .. built .. " kernels were built")
      sh.remove(tmp)
    end,
  }
end
return tests
