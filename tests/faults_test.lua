-- tests/gpu/faults.lua without a GPU: the bench as it is, fake-nvcc and fake-bench in the programs' places. On a GPU it
-- is the kernels that fail; here the worker says that they did.

local sh = require "tests_sh"

local function run(words)
  local dir = sh.tmpdir "faults"
  return sh.run({ sh.loom, "--script", host.root .. "/tests/gpu/faults.lua" }, { env = {
    "NVCC=" .. host.root .. "/tests/fake-nvcc", "WORKER=" .. host.root .. "/tests/fake-bench",
    "LOOM_FAKE_BENCH=slow=0.05 " .. words, "LOOM_FAKE_BENCH_LOG=" .. dir .. "/verbs" } })
end

local FAULTS = "endless=fault-hang illegal=fault-illegal illegal=fault-trap "

return {
  { name = "between eight faults the good kernels' rows are complete", run = function()
    local done = run(FAULTS .. "refused=fault-launch")
    assert(done.code == 0 and done.output:find("good kernels: 6, their rows complete\nfaults: 8 of 8 survived\n$"), done.output)
    assert(done.output:find("\nhang  [^\n]* CTA 3 warp 0 waits for mbarrier smem%+213088, phase of parity 0\n"), done.output)
  end },
  { name = "a fault that goes unnoticed is one that is not survived", run = function()
    local done = run(FAULTS)
    assert(done.code == 1 and done.output:find("launch failure: ok, not refused", 1, true), done.output)
    assert(done.output:find("faults: 7 of 8 survived\n$"), done.output)
  end },
  { name = "a worker that does not start again ends the run with one line", run = function()
    local done = run(FAULTS .. "probe=wrong")
    assert(done.code ~= 0 and done.output:find("the GPU does not answer a kernel known to be good: its result is wrong", 1, true),
           done.output)
  end },
}
