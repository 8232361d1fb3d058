-- fake_pair: what the fake worker answers of two kernels at once, of a chain and of the other clocks.
--
-- All follows from the invented figures of a kernel by itself. "constexpr int delay_steps = N;" in a kernel's text
-- makes it N nanoseconds slower, with a rival beside it: that much of a kernel's time can be planted.

local worker = require "worker"

local fake_pair = {}

local fmt = string.format

local BAND = 0.005 -- ratios so near 1 are SAME
local STEP = 0.001 -- us of one planted step

local function g(x) return fmt("%.6g", x) end

local function delay(path)
  return STEP * (tonumber((host.read(path) or ""):match("\nconstexpr int delay_steps = (%d+);")) or 0)
end

-- The word for an interval around a ratio, as the real worker has them.
function fake_pair.word(lo, hi)
  if math.log(lo) > math.log(1 + BAND) then return "FASTER" end
  if math.log(hi) < math.log(1 - BAND) then return "SLOWER" end
  return math.log(lo) > math.log(1 - BAND) and math.log(hi) < math.log(1 + BAND) and "SAME" or "UNDECIDED"
end

-- Fields of a ratio `name` with its interval, and of its verdict.
local function judged(name, verdict, ratio, spread)
  local lo, hi = ratio * (1 - spread), ratio * (1 + spread)
  return { { name, g(ratio) }, { name .. "_lo", g(lo) }, { name .. "_hi", g(hi) }, { verdict, fake_pair.word(lo, hi) } }
end

local function append(list, more)
  return table.move(more, 1, #more, #list + 1, list)
end

local function times(line)
  local _, fields = worker.decode(line)
  return { tonumber(fields.us), tonumber(fields.us_pdl) }, math.min(fields.cublas_nn_us, fields.cublas_tn_us)
end

local function rival_fields(fields, blocks, ours, rival)
  local spread, out = 0.01 / math.sqrt(blocks), { { "rival_us", g(rival[1]) }, { "rival_us_pdl", g(rival[2]) } }
  for i, tail in ipairs { "", "_pdl" } do
    local mine, other = ours[i] + delay(fields.cubin), rival[i] + delay(fields.rival_cubin)
    append(out, judged("ratio_rival" .. tail, "verdict_rival" .. tail, other / mine, spread))
  end
  return out
end

local SMALL = 1.9 -- us of a chain's small kernel, of which pdl hides a part

local function chain_fields(blocks, ours, base)
  local spread, whole = 0.02 / math.sqrt(blocks), base + SMALL
  local plain, pdl = ours[1] + SMALL, ours[2] + SMALL / 2
  local out = { { "chain_us", g(plain) }, { "chain_us_pdl", g(pdl) }, { "chain_cublas_us", g(whole) } }
  append(out, judged("ratio_chain", "verdict_chain", whole / plain, spread))
  return append(out, judged("ratio_chain_pdl", "verdict_chain_pdl", (whole - SMALL / 3) / pdl, spread))
end

local function joined(line, fields)
  return line .. worker.encode("", fields)
end

-- The answer to a job `time`: `line`, that of the kernel by itself, with what the fields ask for beside it;
-- `rival` is the same line of the rival.
function fake_pair.time(fields, blocks, line, rival)
  local ours, base = times(line)
  if rival then line = joined(line, rival_fields(fields, blocks, ours, (times(rival)))) end
  if fields.chain == "1" then line = joined(line, chain_fields(blocks, ours, base)) end
  return line
end

local WAYS = { call = 4.3, server = 4.6, ["server-graph"] = 5.1 } -- us that a launch and its end take

-- The answer to a job `clock`: `line` is that of `time` for the same kernel.
function fake_pair.clock(fields, line)
  local way, load = WAYS[fields.kind], tonumber(fields.load or 0)
  if not way then return "error\twhy=unknown kind '" .. tostring(fields.kind) .. "'" end
  if fields.kind == "call" and fields.load then return "error\twhy=calls have no load" end
  local ours, base = times(line)
  local wait = 1 + load / 100 * 0.6
  local plain, pdl, theirs = (ours[1] + way) * wait, (ours[2] + way) * wait, (base + way + 0.4) * wait
  local out = { { "kind", fields.kind }, { "us", g(plain) }, { "us_pdl", g(pdl) }, { "p99_us", g(plain * 1.3) },
                { "p99_us_pdl", g(pdl * 1.3) }, { "cublas_us", g(theirs) }, { "cublas_p99_us", g(theirs * 1.4) },
                { "cublas_layout", "tn" } }
  append(out, judged("ratio", "verdict", theirs / plain, 0.003))
  append(out, judged("ratio_pdl", "verdict_pdl", theirs / pdl, 0.003))
  append(out, { { "segments", 24 }, { "calls", 2400 } })
  if fields.load then append(out, { { "load", fields.load } }) end
  if fields.kind == "call" then
    append(out, { { "enqueue_us", "2.1" }, { "enqueue_us_pdl", "2.3" }, { "cublas_enqueue_us", "2.9" } })
  end
  return worker.encode("ok", out)
end

return fake_pair
