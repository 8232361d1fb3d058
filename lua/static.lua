-- static: what is wrong with a kernel that need not be run to see it: limits of the device against the
-- launch descriptor and the emitted text. The CPU device cannot see these: it has registers, shared
-- memory and SMs without end.
--
-- static.check returns the figures as one line and a list of refusals; each names the number, its limit
-- and what to change.

local rules = require "rules"

local static = {}

local fmt = string.format

local function grouped(n)
  local text = tostring(n):reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (text:gsub("^,", ""))
end

-- The parameters among `names` that the kernel's key has, as a hint.
local function change(kernel, ...)
  local has = {}
  for _, name in ipairs { ... } do
    if kernel.key and kernel.key:find("[:,]" .. name .. "=") then has[#has + 1] = name end
  end
  return #has > 0 and "; change " .. table.concat(has, ", ") or ""
end

-- ------------------------------------------------------------------------------- registers

-- A constexpr int or a literal of the text, nil for anything that is neither.
local function constant(text, word)
  local literal = math.tointeger(tonumber(word))
  if literal or not word then return literal end
  local value = text:match("[^%w_]" .. word .. "%s*=%s*(%d+)%s*[,;]")
  return math.tointeger(tonumber(value))
end

-- What setmaxnreg asks for: the registers of warpgroups that give some up, of those that take more.
local function asked(text)
  local dec = math.tointeger(tonumber((text:match("setmaxnreg_dec<(%d+)>"))))
  local inc = math.tointeger(tonumber((text:match("setmaxnreg_inc<(%d+)>"))))
  return dec, inc
end

-- Registers a thread may have from the start: the file's share of one CTA, in steps of 8.
local function share(dev, threads, ctas)
  return math.min(dev.regs_per_sm // (threads * ctas), dev.regs_per_thread) // 8 * 8
end

local function setmaxnreg_rules(kernel, dev, limit, out)
  local dec, inc = asked(kernel.text)
  if not dec and not inc then return limit, "" end
  local groups, given = kernel.launch.block // 128, limit * kernel.launch.block
  for _, r in ipairs { dec or inc, inc or dec } do
    if r < 24 or r > 256 or r % 8 ~= 0 then
      out[#out + 1] = fmt("setmaxnreg %d: registers are multiples of 8 from 24 to 256", r)
    end
  end
  if kernel.launch.block % 128 ~= 0 then
    out[#out + 1] = fmt("setmaxnreg is for whole warpgroups, %d threads are none%s", kernel.launch.block,
                        change(kernel, "consumers"))
  end
  local first = dec or limit
  local total = 128 * (first + (inc or limit) * (groups - 1))
  if total > given then
    out[#out + 1] = fmt("setmaxnreg: %d + %d x %d registers in %d warpgroups of 128 are %s, the CTA has %s: the last "
                        .. "warpgroup would wait for ever; lower them%s", first, groups - 1, inc or limit, groups,
                        grouped(total), grouped(given), change(kernel, "consumers"))
  end
  return inc or limit, fmt(", setmaxnreg %d and %d: %s of %s", first, inc or limit, grouped(total),
                           grouped(dev.regs_per_sm))
end

-- Accumulators of one thread: the tile over the threads that multiply.
local function accumulators(kernel, dec)
  local ok, own = pcall(function() return kernel.full and kernel.full.acc_regs end)
  if ok and math.type(own) == "integer" then return own end
  local launch = kernel.launch
  return launch.tile[1] * launch.tile[2] // math.max(32, launch.block - (dec and 128 or 0))
end

local function register_rules(kernel, dev, out)
  local launch, text = kernel.launch, kernel.text
  local threads, ctas = text:match("__launch_bounds__%(%s*([%w_]+)%s*,?%s*([%w_]*)%s*%)")
  local bound = constant(text, threads)
  if bound and bound < launch.block then
    out[#out + 1] = fmt("__launch_bounds__(%d) is less than the block's %d threads", bound, launch.block)
  end
  local limit = share(dev, launch.block, math.max(1, constant(text, ctas ~= "" and ctas or nil) or 1))
  if limit < 24 then
    out[#out + 1] = fmt("%d threads share %s registers: %d each are too few%s", launch.block, grouped(dev.regs_per_sm),
                        limit, change(kernel, "warps_m", "warps_n", "consumers", "thread_m", "thread_n"))
  end
  local most, note = setmaxnreg_rules(kernel, dev, limit, out)
  local acc = accumulators(kernel, (asked(text)))
  if acc > most then
    out[#out + 1] = fmt("%d accumulators a thread, %d registers: they spill%s", acc, most,
                        change(kernel, "tile_m", "tile_n", "consumers", "warps_m", "warps_n"))
  end
  return fmt("registers %d a thread at most, %d of them accumulators%s", most, acc, note)
end

-- ------------------------------------------------------------------------------- the rest

local function memory_rules(kernel, dev, out)
  local smem = kernel.launch.smem
  if smem > dev.smem_per_block then
    out[#out + 1] = fmt("shared memory: %s B, a block of the %s has %s: %s B too many%s", grouped(smem), dev.name,
                        grouped(dev.smem_per_block), grouped(smem - dev.smem_per_block),
                        change(kernel, "stages", "tile_m", "tile_n", "tile_k", "chunk_buffers"))
  end
  return fmt("shared memory %s of %s B", grouped(smem), grouped(dev.smem_per_block))
end

local function block_rules(kernel, dev, out)
  local launch = kernel.launch
  if launch.block > dev.threads_per_block then
    out[#out + 1] = fmt("%d threads, a block has %d at most%s", launch.block, dev.threads_per_block,
                        change(kernel, "warps_m", "warps_n", "consumers", "thread_m", "thread_n"))
  end
  if launch.cluster > 8 then
    out[#out + 1] = fmt("a cluster of %d CTAs; 8 are the most that every GPU takes%s", launch.cluster,
                        change(kernel, "cluster", "cluster_m", "cluster_n"))
  end
  local cc = dev.cc
  if cc < 90 and (launch.cluster > 1 or #launch.tensors > 0 or kernel.text:find("setmaxnreg", 1, true)) then
    out[#out + 1] = fmt("clusters, TMA and wgmma want sm_90, %s is %s", dev.name, dev.arch)
  end
end

local function tensor_rules(kernel, out)
  local launch = kernel.launch
  for _, t in ipairs(launch.tensors) do
    local bytes = 2 * t.box[1] * t.box[2]
    if bytes > launch.smem then
      out[#out + 1] = fmt("tensor '%s': a box of %d x %d elements, %s B, is larger than the shared memory, %s B",
                          t.name, t.box[1], t.box[2], grouped(bytes), grouped(launch.smem))
    end
    if launch.legal.ld % 8 ~= 0 then
      out[#out + 1] = fmt("tensor '%s': strides must be multiples of 16 B, legal.ld = %d allows %d B", t.name,
                          launch.legal.ld, 2 * launch.legal.ld)
    end
    if launch.legal.align % 16 ~= 0 then
      out[#out + 1] = fmt("tensor '%s': its base must be aligned to 16 B, legal.align is %d", t.name,
                          launch.legal.align)
    end
  end
end

-- CTAs that the device holds at once.
local function capacity(launch, dev)
  local each = math.min(dev.blocks_per_sm, dev.threads_per_sm // launch.block, dev.smem_per_sm // (launch.smem + 1024))
  return dev.sms * each
end

local function ceildiv(a, b)
  return -(-a // b)
end

local function grid_of(launch, dev, problem)
  local tiles = ceildiv(problem.M, launch.tile[1]) * ceildiv(problem.N, launch.tile[2]) * launch.split_k
  if launch.grid ~= "persistent" then return tiles end
  return math.min(tiles, dev.sms * launch.ctas_per_sm)
end

-- Clusters are whole; CTAs that wait for others of the grid must all be on the chip.
local function grid_rules(kernel, dev, problem, out)
  local launch = kernel.launch
  local room = capacity(launch, dev)
  if room == 0 then return end -- one CTA is too large: the rules above have said so
  if launch.grid == "persistent" and launch.ctas_per_sm * dev.sms > room then
    out[#out + 1] = fmt("%d CTAs on an SM, their threads and shared memory leave room for %d%s", launch.ctas_per_sm,
                        room // dev.sms, change(kernel, "ctas_per_sm", "stages"))
  end
  if not problem then return end
  local grid = grid_of(launch, dev, problem)
  if launch.grid == "tiles" and grid % launch.cluster ~= 0 then
    out[#out + 1] = fmt("a grid of %d CTAs at %dx%dx%d is no multiple of the cluster of %d%s", grid, problem.M,
                        problem.N, problem.K, launch.cluster,
                        change(kernel, "cluster", "cluster_m", "cluster_n", "tile_m", "tile_n"))
  end
  if (launch.cooperative or launch.legal.resident) and grid > room then
    out[#out + 1] = fmt("%d CTAs that wait for each other at %dx%dx%d, the %s holds %d at once%s", grid, problem.M,
                        problem.N, problem.K, dev.name, room, change(kernel, "split_k", "tile_m", "tile_n"))
  end
end

-- kernel {text, launch, key, full}; `problem` may be nil. Returns the figures as a line, the refusals.
function static.check(kernel, dev, problem)
  local out = rules.source(kernel.text)
  local memory = memory_rules(kernel, dev, out)
  block_rules(kernel, dev, out)
  local registers = register_rules(kernel, dev, out)
  tensor_rules(kernel, out)
  grid_rules(kernel, dev, problem, out)
  return memory .. "; " .. registers, out
end

return static
