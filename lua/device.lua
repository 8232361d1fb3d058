-- device: the GPUs that have a preset. DEVICE=name picks one and implies the architecture; without
-- it, the GPU of this machine, else the H200. Specs read the figures as device.<field>, so all are
-- integers or strings, and every preset has every field.
--
-- Sources: GUIDE for what the compute capability decides (shared memory, registers, threads, blocks);
-- per product NVIDIA's data sheet or architecture white paper, named in `source`. `loom devices` shows
-- both. tensor_tflops: dense f16 input, f32 accumulation; tensor_tflops_f16: f16 accumulation (GeForce
-- runs that twice as fast).

local fail = require "fail"

local device = {}

local GUIDE = "CUDA C++ Programming Guide 13.0, Technical Specifications per Compute Capability"

-- smem_per_block is what a block may ask for (opt-in): 1 KiB of the SM's share is the system's.
local CAPABILITY = {
  [80]  = { smem_per_sm = 167936, smem_per_block = 166912, threads_per_sm = 2048, blocks_per_sm = 32 },
  [86]  = { smem_per_sm = 102400, smem_per_block = 101376, threads_per_sm = 1536, blocks_per_sm = 16 },
  [89]  = { smem_per_sm = 102400, smem_per_block = 101376, threads_per_sm = 1536, blocks_per_sm = 24 },
  [90]  = { smem_per_sm = 233472, smem_per_block = 232448, threads_per_sm = 2048, blocks_per_sm = 32 },
  [120] = { smem_per_sm = 102400, smem_per_block = 101376, threads_per_sm = 1536, blocks_per_sm = 24 },
}
-- The same for every capability above.
local COMMON = { regs_per_sm = 65536, regs_per_thread = 255, threads_per_block = 1024, warp = 32 }

local MIB = 1024 * 1024

-- l2 in bytes, dram_gbs in 10^9 bytes a second, clock_mhz the highest boost clock.
local PRESETS = {
  { name = "a100", title = "NVIDIA A100", arch = "sm_80", cc = 80, sms = 108, l2 = 40 * MIB,
    dram_gbs = 2039, tensor_tflops = 312, tensor_tflops_f16 = 312, clock_mhz = 1410,
    source = "A100 data sheet (SXM4 80 GB), A100 architecture white paper" },
  { name = "rtx3090", title = "NVIDIA GeForce RTX 3090", arch = "sm_86", cc = 86, sms = 82,
    l2 = 6 * MIB, dram_gbs = 936, tensor_tflops = 71, tensor_tflops_f16 = 142, clock_mhz = 1695,
    source = "GA102 architecture white paper, appendix A" },
  { name = "rtx4090", title = "NVIDIA GeForce RTX 4090", arch = "sm_89", cc = 89, sms = 128,
    l2 = 72 * MIB, dram_gbs = 1008, tensor_tflops = 165, tensor_tflops_f16 = 330, clock_mhz = 2520,
    source = "Ada GPU architecture white paper, appendix A" },
  { name = "l40s", title = "NVIDIA L40S", arch = "sm_89", cc = 89, sms = 142, l2 = 96 * MIB,
    dram_gbs = 864, tensor_tflops = 362, tensor_tflops_f16 = 362, clock_mhz = 2520,
    source = "L40S data sheet, Ada GPU architecture white paper" },
  { name = "h100", title = "NVIDIA H100", arch = "sm_90a", cc = 90, sms = 132, l2 = 50 * MIB,
    dram_gbs = 3350, tensor_tflops = 989, tensor_tflops_f16 = 989, clock_mhz = 1980,
    source = "H100 data sheet (SXM5); its tensor figure is at 1830 MHz" },
  { name = "h200", title = "NVIDIA H200", arch = "sm_90a", cc = 90, sms = 132, l2 = 60 * MIB,
    dram_gbs = 4800, tensor_tflops = 989, tensor_tflops_f16 = 989, clock_mhz = 1980,
    source = "H200 data sheet (SXM), l2 as cudaDeviceProp reports it; tensor figure at 1830 MHz" },
  { name = "rtx5090", title = "NVIDIA GeForce RTX 5090", arch = "sm_120", cc = 120, sms = 170,
    l2 = 96 * MIB, dram_gbs = 1792, tensor_tflops = 209, tensor_tflops_f16 = 419, clock_mhz = 2407,
    source = "RTX Blackwell architecture white paper, appendix A" },
}

local by_name, of_capability = {}, {}
for _, preset in ipairs(PRESETS) do
  for _, more in ipairs { CAPABILITY[preset.cc], COMMON } do
    for field, value in pairs(more) do preset[field], of_capability[field] = value, true end
  end
  by_name[preset.name] = preset
end

-- Names of the presets, oldest first.
function device.names()
  local names = {}
  for i, preset in ipairs(PRESETS) do names[i] = preset.name end
  return names
end

-- Names of the fields an expression may read, sorted; `source` is for people.
function device.fields()
  local fields = {}
  for field in pairs(PRESETS[1]) do
    if field ~= "source" then fields[#fields + 1] = field end
  end
  table.sort(fields)
  return fields
end

-- Which of device.sources a field's figures come from.
function device.source_of(field)
  if field == "name" then return "" end
  return of_capability[field] and "capability" or "product"
end

-- {name, text} of every source: one for all that a capability decides, one for each product.
function device.sources()
  local list = { { "capability", GUIDE } }
  for i, preset in ipairs(PRESETS) do list[i + 1] = { preset.name, preset.source } end
  return list
end

-- "integer" or "string" for a field, nil for an unknown one.
function device.type(field)
  if field == "source" then return nil end
  local value = PRESETS[1][field]
  return math.type(value) or (value and type(value))
end

function device.get(name)
  if by_name[name] then return by_name[name] end
  fail.usage(string.format("unknown device '%s'%s; known: %s", name, fail.near(name, device.names()),
    table.concat(device.names(), ", ")))
end

-- The preset of a product name as the driver says it ("NVIDIA H200", "NVIDIA A100-SXM4-80GB").
function device.match(title)
  for _, preset in ipairs(PRESETS) do
    local short = preset.title:gsub("^NVIDIA ", ""):gsub("^GeForce ", "")
    local from, to = title:find(short, 1, true)
    -- a letter beside it (GH200; Ti, D, Super, PCIe, NVL) is another product
    if to and not title:sub(1, from - 1):find("%w$") and not title:find("^%w", to + 1)
      and not title:find("^ [TDSPNL]", to + 1) then
      return preset
    end
  end
end

-- The preset of this machine's first GPU: preset or nil, then the product name or nil.
function device.present()
  local root = "/proc/driver/nvidia/gpus"
  for _, bus in ipairs(host.list(root) or {}) do
    local text = host.read(root .. "/" .. bus .. "/information")
    local title = text and text:match("Model:%s*([^\n]-)%s*\n")
    if title then return device.match(title), title end
  end
end

-- Whether code for `arch` runs on the device: sm_90a on 9.0 alone, sm_80 on 8.0 and later.
function device.runs(dev, arch)
  if not arch then return true end
  local cc, only = arch:match("^sm_(%d+)(a?)$")
  cc = math.tointeger(tonumber(cc))
  if only == "a" then return dev.cc == cc end
  return dev.cc >= cc
end

return device
