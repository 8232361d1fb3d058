-- model.lua -- predicted time of a candidate, in nanoseconds: orders candidates before any is measured.
--
-- A CTA's slice of K costs what its slowest resource costs: tensor cores, the path from L2, or the
-- latency that the ring does not cover. Slices make tiles, tiles make waves. Beside that stands the
-- DRAM traffic: what one wave of CTAs touches, again for every wave as far as L2 does not keep it.
-- Unit costs were measured on an H200 (empty launch 0.6 us, 1.4 us from the start of a CTA to its first
-- product by TMA, 0.75 us for a load that misses L2); other devices scale by clock and bandwidth.

local fail = require "fail"

local model = {}

local L2_BYTES_PER_CLOCK = 60  -- one SM's share, all SMs pulling
local LOAD_NS = 750            -- from request to shared memory, L2 missed
local LAUNCH_NS = 600
local STORE_BYTES_PER_CLOCK = 24
local EPILOGUE_NS = 300

-- Per template: clocks of the multiplications of one slice; ns from the start of a CTA to its first
-- product; the share of a tile's epilogue that other work hides; CTAs on one SM.
local shape = {}

shape["wgmma.cu"] = function(c)
  -- A wgmma m64nN reads its B again for every 64 rows: below n = 64 shared memory is the limit.
  local read = math.max(1, 0.5 + 32 / c.tile_n)
  local busy = c.consumers == 2 and 0.84 or (c.consumers == 1 and 0.80 or 0.76)
  return { clocks = c.tile_m * c.tile_n * c.tile_k / 2048 * read / busy, start_ns = 1400,
           hidden = c.schedule == "pingpong" and 0.9 or 0.3, persistent = true, resident = 1 }
end

shape["mma.cu"] = function(c)
  -- mma.sync reaches 60 % of wgmma's rate, and only with some 12 warps to cover its latencies.
  local warps = c.warps_m * c.warps_n
  local resident = math.max(1, math.min(8, 220000 // c.smem, 65536 // (c.threads * (c.acc_regs + 100))))
  local read = math.max(1, 32 * (c.warp_m + c.warp_n) / (c.warp_m * c.warp_n))
  return { clocks = c.tile_m * c.tile_n * c.tile_k / 2048 / 0.6 * read * math.max(1, 12 / (warps * resident)),
           start_ns = 700, hidden = 0, persistent = false, resident = resident }
end

shape["simt.cu"] = function(c)
  local read = (c.thread_m + c.thread_n) / (c.thread_m * c.thread_n)
  return { clocks = c.tile_m * c.tile_n * c.tile_k / 128 * (1.4 + 3 * read), start_ns = 500, hidden = 0,
           persistent = false, resident = math.max(1, math.min(8, 2048 // c.threads)) }
end

-- A template that nobody has measured: tensor cores at half their rate, one CTA on an SM. Whatever the
-- space does not say is taken to be small.
local function unknown(c)
  return { clocks = c.tile_m * c.tile_n * c.tile_k / 2048 / 0.5, start_ns = 1000, hidden = 0,
           persistent = false, resident = 1 }
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

-- A space that lacks a name which its template's model reads is refused once, at the space.
local checked = setmetatable({}, { __mode = "k" })

local function check_names(sp, c)
  local strict = setmetatable({ tile_k = c.tile_k or 32 }, { __index = function(_, name)
    if c[name] ~= nil then return c[name] end
    fail(string.format("%s:%d: space '%s': template '%s' wants '%s', which the space does not declare", sp.file,
                       sp.line, sp.name, sp.template, name))
  end })
  for _, name in ipairs { "tile_m", "tile_n", "tiles_m", "tiles_n", "tiles" } do
    if strict[name] and math.type(c[name]) ~= "integer" then
      fail(string.format("%s:%d: space '%s': '%s' is no number", sp.file, sp.line, sp.name, name))
    end
  end
  (shape[sp.template] or unknown)(strict)
  checked[sp] = true
end

-- Time of one launch of the candidate `c` (all names bound) of a bound space, in ns.
function model.predict(bound, c)
  local device = bound.device
  if not checked[bound.space] then check_names(bound.space, c) end
  c = setmetatable({ tile_k = c.tile_k or 32 }, { __index = c })
  local s = (shape[bound.space.template] or unknown)(c)
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
  local tile = slices * math.max(compute, from_l2, latency) * (1 + 0.04 / (c.stages or 1)) +
    (1 - s.hidden) * store
  local at_once = device.sms * per_sm
  local waves = -(-c.tiles // at_once)
  local body
  if s.persistent then  -- the next tile's loads start during this one's epilogue
    body = s.start_ns + waves * tile + s.hidden * store
  else
    body = waves * (s.start_ns + tile)
  end
  local dram = dram_bytes(c, device, at_once, waves) / (device.dram_gbs * 0.9) + s.start_ns
  return math.floor(LAUNCH_NS + math.max(body, dram) + 0.5)
end

-- `ns` of a candidate with its broken soft rules at 5 % each.
function model.score(bound, cand, ns)
  return ns + ns * (bound:soft(cand)) // 20
end

return model
