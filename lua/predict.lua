-- predict: the time of a kernel that was run on the CPU device, in microseconds: a stand-in for ordering.
--
-- A roofline of the device's preset, of what the launch descriptor says and of what the CPU device
-- counted: tiles make waves, a wave takes as long as the busiest of tensor cores, shared memory and the
-- path from L2; a prologue and one tile's store stand before and behind. The numbers are the data sheet's,
-- nothing is fitted: of two kernels the one with fewer bank conflicts, fuller waves and less traffic comes
-- first, and no figure is a time.

local predict = {}

local L2_BYTES_PER_CLOCK = 60    -- one SM's share, all SMs pulling
local STORE_BYTES_PER_CLOCK = 24
local PROLOGUE_US = 2.0          -- launch, and the first slice's way to shared memory
local DRAM_SHARE = 0.9           -- of the data sheet's bandwidth

-- Dense products of one SM and clock, by what multiplies: mma.sync reaches some 60 % of wgmma's rate.
local function products_per_clock(kernel, dev)
  local tensor = dev.tensor_tflops * 1e6 / (2.0 * dev.sms * dev.clock_mhz)
  if kernel.text:find("wgmma<", 1, true) then return tensor end
  if kernel.text:find("mma_m16n8k", 1, true) then return dev.cc >= 90 and 0.6 * tensor or tensor end
  return 128
end

local function ceildiv(a, b)
  return -(-a // b)
end

-- CTAs that run beside each other on one SM.
local function beside(launch, dev)
  local room = math.min(dev.blocks_per_sm, dev.threads_per_sm // launch.block, dev.smem_per_sm // (launch.smem + 1024))
  if launch.grid == "persistent" then room = math.min(room, launch.ctas_per_sm) end
  return math.max(1, room)
end

-- Wavefronts of shared memory for one product, counted on `shape`, whose clipped tiles count whole.
local function wavefronts_per_product(kernel, shape, answer)
  local tile, split = kernel.launch.tile, kernel.launch.split_k
  local done = 1.0 * ceildiv(shape.M, tile[1]) * tile[1] * ceildiv(shape.N, tile[2]) * tile[2] * shape.K
  return (tonumber(answer.wavefronts) or 0) / done / split
end

-- Microseconds of `problem`; `shape` is what the kernel was run on, `answer` what was counted there.
function predict.us(kernel, problem, dev, shape, answer)
  local launch = kernel.launch
  local m, n = launch.tile[1], launch.tile[2]
  local units = ceildiv(problem.M, m) * ceildiv(problem.N, n) * launch.split_k
  local depth = ceildiv(problem.K, launch.split_k)
  local per_sm = math.min(beside(launch, dev), ceildiv(units, dev.sms))
  local waves = ceildiv(units, dev.sms * per_sm)
  local products = 1.0 * m * n * depth
  local clocks = per_sm * math.max(
    products / products_per_clock(kernel, dev),
    products * wavefronts_per_product(kernel, shape, answer),
    2.0 * (m + n) * depth / L2_BYTES_PER_CLOCK)
  local store = per_sm * 2.0 * m * n / STORE_BYTES_PER_CLOCK
  local body = (waves * clocks + store) / dev.clock_mhz
  local bytes = 2.0 * (problem.M * problem.K + problem.K * problem.N + problem.M * problem.N)
  return PROLOGUE_US + math.max(body, bytes / (dev.dram_gbs * 1e3 * DRAM_SHARE))
end

return predict
