-- model.lua -- predicted time of a candidate, in nanoseconds: orders candidates before any is measured.
--
-- A CTA's slice of K costs what its slowest resource costs: tensor cores, the path from L2, or the
-- latency that the ring does not cover. Slices make tiles, tiles make waves. Beside that stands the
-- DRAM traffic: what one wave of CTAs touches, again for every wave as far as L2 does not keep it.
-- wgmma.cu has a model of its own, in clocks. Unit costs of the others were measured on an H200 (empty launch 0.6 us,
-- 0.75 us for a load that misses L2); other devices scale by clock and bandwidth.

local fail = require "fail"

local model = {}

local L2_BYTES_PER_CLOCK = 60  -- one SM's share, all SMs pulling
local LOAD_NS = 750            -- from request to shared memory, L2 missed
local LAUNCH_NS = 600
local STORE_BYTES_PER_CLOCK = 24
local EPILOGUE_NS = 300

-- Per template: clocks of the multiplications of one slice; ns from the start of a CTA to its first
-- product; CTAs on one SM.
local shape = {}

shape["mma.cu"] = function(c)
  -- mma.sync reaches 60 % of wgmma's rate, and only with some 12 warps to cover its latencies.
  local warps = c.warps_m * c.warps_n
  local resident = math.max(1, math.min(8, 220000 // c.smem, 65536 // (c.threads * (c.acc_regs + 100))))
  local read = math.max(1, 32 * (c.warp_m + c.warp_n) / (c.warp_m * c.warp_n))
  return { clocks = c.tile_m * c.tile_n * c.tile_k / 2048 / 0.6 * read * math.max(1, 12 / (warps * resident)),
           start_ns = 700, resident = resident }
end

shape["simt.cu"] = function(c)
  local read = (c.thread_m + c.thread_n) / (c.thread_m * c.thread_n)
  return { clocks = c.tile_m * c.tile_n * c.tile_k / 128 * (1.4 + 3 * read), start_ns = 500,
           resident = math.max(1, math.min(8, 2048 // c.threads)) }
end

-- A template that nobody has measured: tensor cores at half their rate, one CTA on an SM. Whatever the
-- space does not say is taken to be small.
local function unknown(c)
  return { clocks = c.tile_m * c.tile_n * c.tile_k / 2048 / 0.5, start_ns = 1000, resident = 1 }
end

-- Bytes that come from DRAM: A and B once at least; what a wave of CTAs spans again for every wave,
-- as far as A and B together exceed what L2 keeps. Group_m tile rows make the span of a wave squarer.
local function dram_bytes(c, device, at_once, waves)
  local rows = math.min(c.tiles_m, c.group_m or 1)
  local columns = math.min(c.tiles_n, math.max(1, at_once / rows))
  local span = 2 * c.K * (rows * c.tile_m + columns * c.tile_n)
  local operands = 2.0 * (c.M * c.K + c.K * c.N)
  local missing = math.max(0, 1 - 0.7 * device.l2 / operands)
  return operands + math.max(0, waves * span - operands) * missing + 2.0 * c.M * c.N
end

-- ------------------------------------------------------------------------------- wgmma.cu

-- Clocks of an H200's SM, bytes per clock and SM, factors: fitted to 3,893 timings of 73 problems, f16, layout tn, for
-- their order within each problem (the time itself comes out 0.8 to 1.3 times what was measured). Of the eight best
-- predicted of a problem's 8 to 62 candidates the fastest was on average 0.1 % behind the fastest of all; by constants
-- fitted to the other half of the timings, 0.1 to 0.4 %. What stands for something hardly measured says so.
local W = {
  start = 3500,        -- launch, barriers, the first slot's way
  l2 = 42,             -- bytes of a slice that come from L2 where all SMs pull, and at most where few do
  l2_most = 68,
  near = 4.8,          -- so many neighbours in the walk get what they share from L2 once
  latency = 1500,      -- from a request to its slot, to be covered by the ring
  turn = 300,          -- pingpong: to pass the turn
  chunk = 350,         -- 64 x 64 results into shared memory and on their way,
  chunk_wait = 440,    -- shared by the buffers that they go through
  direct = 830,        -- the same from registers
  group = 1.043,       -- stores are slower by this for each doubling of group_m,
  across = 1.15,       -- or where the walk goes down the rows
  hint = 0.9,          -- and faster with evict_first
  exchange = 4000,     -- split_k (few timings, of an early kernel): to add up, and for each result of a tile
  exchange_each = 0.3,
  piece = 3,           -- a wgmma takes as much longer as if it had so many columns more
}

-- Clocks of a slice by the schedule, or by how many consumers share a tile, where the tensor cores' peak is 1. Four
-- were never measured.
local BUSY = { pingpong = 1.02, 1.1, 1.035, 1.065, 1.15 }

-- The part of the tensor cores' time that a problem can use at best: below some three quarters the chip does not
-- reach its power limit, and the clock stays up (1.75 GHz at K = 64, 1.25 at 8192 x 8192 x 8192).
local function gigahertz(c, device, ideal)
  local dram = 2.0 * (c.M * c.K + c.K * c.N + c.M * c.N) / (0.875 * device.dram_gbs) * 1.6
  local filled = math.min(1, c.M * c.N / (device.sms * 64 * 128))
  local busy = ideal / (math.max(ideal, dram) + 8000) * filled
  return math.min(1.75, 1.25 + 1.1 * math.max(0, 0.75 - busy)) * device.clock_mhz / 1980
end

-- Tiles (for split_k: parts of them) that the grid works through. A cluster whose second CTA has no tile counts twice.
local function work_items(c)
  if c.cluster == "m" then return (c.tiles_m + c.tiles_m % 2) * c.tiles_n end
  if c.cluster == "n" then return c.tiles_m * (c.tiles_n + c.tiles_n % 2) end
  return c.tiles * (c.split_k or 1)
end

-- Neighbours in the walk that lie beside each other, whether below each other, and whether that is how C lies.
local function walk(c)
  local group, down = c.group_m or 1, (c.raster == "n") ~= ((c.group_m or 1) > 1)
  local most = down and c.tiles_m or c.tiles_n
  return group > 1 and math.min(group, most) or most, down
end

-- Bytes of a slice that reach an SM from L2: what `near` neighbours touch, shared among them. The CTAs of a cluster
-- that split K or multicast share nothing more.
local function l2_bytes(c)
  local near = W.near
  if (c.split_k or 1) > 1 then near = near / c.split_k ^ 1.77 end
  if (c.cluster or "none") ~= "none" then near = near / 2 end
  near = math.max(1, near)
  local run, down = walk(c)
  local along = math.min(near, run)
  local across = near / along
  local rows, columns = along, across
  if not down then rows, columns = across, along end
  return 2 * c.tile_k * (c.tile_m * rows + c.tile_n * columns) / near
end

-- What one consumer has of a tile, as wgmma sees it: rows, columns.
local function share_of(c)
  local rows, columns = c.tile_m, c.tile_n
  if c.swap == "yes" then rows, columns = columns, rows end
  if c.schedule == "pingpong" then return rows, columns end
  if c.split == "cols" then return rows, columns // c.consumers end
  return rows // c.consumers, columns
end

-- Clocks of one slice. A wgmma m64nN reads its B again for every 64 rows: below n = 72 shared memory is the limit.
local function slice_clocks(c, columns, items, device)
  local piece = columns / math.ceil(columns / 256)
  local busy = BUSY[c.schedule] or BUSY[c.consumers] or BUSY[4]
  local tensor = c.tile_m * c.tile_n * c.tile_k / 2048 * busy * math.max(1 + W.piece / piece, 0.5 + 36 / piece)
  local pulling = math.min(1, items / device.sms)
  local l2 = l2_bytes(c) / math.min(W.l2_most, W.l2 / pulling)
  local latency = W.latency / (c.stages - 0.75)
  local slowest = math.max(tensor, l2, latency) + 0.1 * math.min(tensor, l2)
  -- of equals, the deeper ring comes first; slots of 128 and clusters were slower on average
  slowest = slowest * (1 + 15 / (c.stages * c.tile_k))
  return slowest * (c.tile_k > 64 and 1.06 or 1) * ((c.cluster or "none") ~= "none" and 1.02 or 1)
end

-- Clocks from a consumer's last product to its last chunk of C.
local function epilogue_clocks(c, rows, columns)
  local chunks = rows / 64 * math.ceil(columns / 64)
  if c.epilogue == "direct" then return chunks * W.direct end
  return chunks * (W.chunk + W.chunk_wait / math.min(3, c.chunk_buffers or 1))
end

-- How many tiles the busiest SM works through, one after another; cut ones (`tail`; not measured) count in part.
local function rounds(c, items, device)
  local waves = -(-items // device.sms)
  local left, tail = items - (waves - 1) * device.sms, c.tail or 1
  if tail == 1 or left == device.sms then return waves end
  return waves - 1 + math.min(1, 1.03 * -(-left * tail // device.sms) / tail)
end

-- Clocks that DRAM alone takes. What a wave spans is read again as far as L2 does not keep it. C is written fastest
-- where neighbours in the walk continue each other's rows.
local function dram_clocks(c, device, waves, ghz)
  local run, down = walk(c)
  local other = math.max(1, device.sms / run)
  local rows, columns = math.min(c.tiles_m, down and run or other), math.min(c.tiles_n, down and other or run)
  local span = 2.0 * c.K * (rows * c.tile_m + columns * c.tile_n)
  local operands = 2.0 * (c.M * c.K + c.K * c.N)
  local missing = math.max(0, 1 - 0.7 * device.l2 / operands)
  local group = c.group_m or 1
  local slower = W.group ^ math.log(group, 2)
  if group == 1 and c.raster == "n" then slower = W.across end
  if c.c_hint == "evict_first" then slower = slower * W.hint end
  local bytes = operands + math.max(0, waves * span - operands) * missing + 2.0 * c.M * c.N * slower
  return bytes / (0.875 * device.dram_gbs) * ghz
end

-- What made less than a percent or was never measured: of equals the plainer one, and four consumers last.
local function doubts(c)
  local group = c.group_m or 1
  return 1 + 0.002 * math.abs(math.log(group, 2) - 3) + (c.raster == "n" and 0.0005 or 0)
    + (c.swap == "yes" and 0.0005 or 0) + (c.c_hint == "evict_first" and 0.001 or 0)
    + (c.grid == "tiles" and 0.0005 or 0) + (c.consumers > 3 and 0.05 or 0)
end

local function wgmma_ns(c, device)
  local items, split_k = work_items(c), c.split_k or 1
  local rows, columns = share_of(c)
  local loop = -(-(-(-c.K // c.tile_k)) // split_k) * slice_clocks(c, columns, items, device)
  local epilogue = epilogue_clocks(c, rows, columns)
  local tile, behind = loop + epilogue, 0
  -- two consumers take turns: a tile's stores hide behind the next one's products, as far as these last
  if c.schedule == "pingpong" then tile, behind = math.max(loop + W.turn, (loop + epilogue) / 2), epilogue end
  if (c.tail or 1) > 1 then tile = tile * 1.03 end -- two bodies for each loop
  if c.grid == "tiles" then tile = tile + W.start * math.max(0, 1 - device.sms / items) end
  local count = rounds(c, items, device)
  local clocks = count * tile + behind
  if split_k > 1 then clocks = clocks + W.exchange + W.exchange_each * c.tile_m * c.tile_n end
  local ghz = gigahertz(c, device, c.M * c.N * c.K / 2048.0 / device.sms)
  local dram = dram_clocks(c, device, math.ceil(count), ghz)
  return (W.start + (clocks ^ 5 + dram ^ 5) ^ 0.2) / ghz * doubts(c)
end

-- ------------------------------------------------------------------------------- predictions

-- By template: a model of its own, c, device -> ns.
local whole = { ["wgmma.cu"] = wgmma_ns }

-- Names that a space may leave out.
local OPTIONAL = { split_k = true, swap = true, split = true, tail = true, cluster = true, grid = true, group_m = true,
  raster = true, epilogue = true, chunk_buffers = true, c_hint = true }

local function from_shape(c, device, s)
  local flop_ns = 2.0 * c.M * c.N * c.K / (device.tensor_tflops * 1000)
  -- Long products run into the power limit: the clock falls.
  local clock = device.clock_mhz / 1000 * (flop_ns > 50000 and 0.78 or 0.92)
  local slices = -(-c.K // c.tile_k)
  local per_sm = math.min(s.resident, -(-c.tiles // device.sms))  -- CTAs that share an SM share its rates
  local compute = s.clocks / clock * per_sm
  local from_l2 = (c.tile_m + c.tile_n) * c.tile_k * 2 / L2_BYTES_PER_CLOCK / clock * per_sm
  local latency = LOAD_NS / math.max(1, (c.stages or 1) - 1)
  local store = c.tile_m * c.tile_n * 2 / STORE_BYTES_PER_CLOCK / clock * per_sm + EPILOGUE_NS
  -- The last factor stands for jitter: of equals, the deeper ring comes first.
  local tile = slices * math.max(compute, from_l2, latency) * (1 + 0.04 / (c.stages or 1)) + store
  local at_once = device.sms * per_sm
  local waves = -(-c.tiles // at_once)
  local body = waves * (s.start_ns + tile)
  local dram = dram_bytes(c, device, at_once, waves) / (device.dram_gbs * 0.9) + s.start_ns
  return LAUNCH_NS + math.max(body, dram)
end

-- A space that lacks a name which its template's model reads is refused once, at the space.
local checked = setmetatable({}, { __mode = "k" })

local function check_names(sp, c, device)
  local tile_k = c.tile_k or not whole[sp.template] and 32 or nil
  local strict = setmetatable({ tile_k = tile_k }, { __index = function(_, name)
    if c[name] ~= nil or OPTIONAL[name] then return c[name] end
    fail(string.format("%s:%d: space '%s': template '%s' wants '%s', which the space does not declare", sp.file,
                       sp.line, sp.name, sp.template, name))
  end })
  for _, name in ipairs { "tile_m", "tile_n", "tiles_m", "tiles_n", "tiles" } do
    if strict[name] and math.type(c[name]) ~= "integer" then
      fail(string.format("%s:%d: space '%s': '%s' is no number", sp.file, sp.line, sp.name, name))
    end
  end
  local read = whole[sp.template] or shape[sp.template] or unknown
  read(strict, device)
  checked[sp] = true
end

-- Time of one launch of the candidate `c` (all names bound) of a bound space, in ns.
function model.predict(bound, c)
  local device, template = bound.device, bound.space.template
  if not checked[bound.space] then check_names(bound.space, c, device) end
  if whole[template] then return math.floor(whole[template](c, device) + 0.5) end
  c = setmetatable({ tile_k = c.tile_k or 32 }, { __index = c })
  return math.floor(from_shape(c, device, (shape[template] or unknown)(c)) + 0.5)
end

-- `ns` of a candidate with its broken soft rules at 2 % each: they speak of what a prediction knows better.
function model.score(bound, cand, ns)
  return ns + ns * (bound:soft(cand)) // 50
end

return model
