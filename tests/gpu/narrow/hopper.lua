-- hopper.lua -- the space hopper with next to no choice: one tile, two depths. A search widens it; all else is
-- spaces/hopper.lua's, and its keys are too. Made of that by tests/narrow_kit.lua.

space "hopper" { format = 1, base = "common", template = "wgmma.cu", arch = "sm_90a",
  doc = "TMA + wgmma, warp-specialised" }

-- Who computes what: the tile, and how the consumers have it.
param "warps"   { {"cooperative", 1},
                  as = {"schedule", "consumers"}, doc = "do the consumer warpgroups share a tile or take turns" }
param "swap"    { "no", default = "no", doc = "yes: B gives wgmma its 64-row blocks, so that tile_m goes by 8" }
param "split"   { "rows", default = "rows", when = "schedule == 'cooperative' and consumers > 1",
                  doc = "what consumers that share a tile divide, as wgmma sees it" }
param "tile_m"  { 128,
                  doc = "rows of C per CTA tile" }
param "tile_n"  { 64,
                  doc = "columns of C per CTA tile" }

-- Who walks where, with how many registers.
param "group_m" { 1, default = 1, when = "tiles_m > 1 and tiles_n > 1",
                  doc = "tiles walked together, so that what they share is met again in L2" }
param "raster"  { "m", default = "m", doc = "which way such a group lies" }
param "split_k" { 1, default = 1, when = "tiles < device.sms and acc == 'f32'",
                  doc = "CTAs of a cluster that share a tile's K" }
param "cluster" { "none", default = "none", when = "split_k == 1",
                  doc = "two CTAs beside each other along it share loads" }
param "grid"    { "persistent", default = "persistent", when = "split_k == 1",
                  doc = "CTAs that go from tile to tile, or one for each" }
param "tail"    { 1, default = 1, when = "grid == 'persistent' and tiles > device.sms",
                  doc = "parts that a tile of an unfilled last wave is cut into" }
param "regs"    { {0, 0}, as = {"regs_producer", "regs_consumer"}, default = {0, 0},
                  when = "consumers == 2", doc = "setmaxnreg of a producer, a consumer; 0: as it takes" }

-- How C leaves.
param "epilogue" { "tma", default = "tma", doc = "through shared memory, or from registers" }

-- Shared memory.
param "tile_k"  { 64, default = 64, doc = "depth of a slot of the ring" }
param "chunk_buffers" { 1, default = 1, when = "epilogue == 'tma'",
                  doc = "64 x 64 chunks of C in flight per consumer" }
param "stages"  { range = {2, 3}, doc = "slots of the ring" }

param "c_hint"  { "none", default = "none",
                  doc = "what L2 is told of C: evict_first leaves more of it to A and B" }
param "launch_next" { "early", default = "early",
                  doc = "pdl: when the next kernel's CTAs may come, at the start or behind the last load" }
param "scale"   { "one", default = "one", pin = "one", doc = "alpha_beta: C = alpha A B + beta C" }

let "k_tiles"   "ceildiv(K, tile_k)"
let "threads"   "128 * (1 + consumers)"
let "grid_rule" "split_k > 1 and 'tiles' or grid"
-- wgmma multiplies rows of its first operand, r, by rows of its second, s.
let "rows"      "swap == 'yes' and tile_n or tile_m"
let "cols"      "swap == 'yes' and tile_m or tile_n"
let "r_k_major" "swap == 'yes' and b_k_major or swap == 'no' and a_k_major"
let "s_k_major" "swap == 'yes' and a_k_major or swap == 'no' and b_k_major"
let "row_parts" "schedule == 'cooperative' and split == 'rows' and consumers or 1"
let "col_parts" "schedule == 'cooperative' and split == 'cols' and consumers or 1"
let "wg_rows"   "rows // row_parts"
let "wg_cols"   "cols // col_parts"
let "acc_regs"  "wg_rows * wg_cols // (acc == 'f16' and 256 or 128)"
-- Accumulators that leave no spills, ptxas 13.0; setmaxnreg pairs that share the register file.
let "acc_two"   "tail > 1 and 128 or (regs_producer == 40 or cluster ~= 'none') and 200 or 208"
let "acc_max"   "consumers == 1 and 224 or consumers == 2 and acc_two or consumers == 3 and 96 or 64"
let "two_take"  "acc_regs > 192 and 240 or 232"
let "takes"     "consumers == 1 and 0 or consumers == 4 and 112 or consumers == 3 and 160 or two_take"
let "leaves"    "consumers == 1 and 0 or consumers > 2 and 32 or acc_regs > 192 and 24 or 40"
let "producer_regs" "regs_producer > 0 and regs_producer or leaves"
let "consumer_regs" "regs_consumer > 0 and regs_consumer or takes"
let "r_bytes"   "2 * tile_k * rows"
let "s_bytes"   "2 * tile_k * (s_k_major and cols or 64 * ceildiv(cols, 64))"
let "chunks"    "epilogue == 'tma' and consumers * chunk_buffers or 0"
let "barriers"  "2 * stages + (split_k > 1 and consumers + 1 or 0) + (scale == 'alpha_beta' and chunks or 0)"
let "smem"      "stages * (r_bytes + s_bytes) + 8192 * chunks + 8 * barriers"

must "f32-accumulate" { "acc == 'f32' or acc == 'f16'", why = "this template accumulates in f32 or f16" }
must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0",
  why = "TMA needs rows in multiples of 16 bytes: M, N, K in multiples of 8; space hopper_any takes any" }
-- What the template takes for granted; the values above keep to it, edited ones must too.
must "ring" { "stages >= 2", why = "a ring of {stages} slots cannot be filled and read at once" }
must "depth" { "tile_k == 64 or tile_k == 128", why = "a slot of {tile_k} k is no whole number of swizzled rows" }
must "roles" { "consumers >= 1 and consumers <= 4 and (schedule == 'cooperative' or consumers == 2)",
  why = "{consumers} consumers: one to four share a tile, two take turns" }
must "at-least-one" { "chunk_buffers >= 1 and group_m >= 1 and tail >= 1 and split_k >= 1", why = "a count of none" }
must "wgmma-rows" { "wg_rows % 64 == 0 and wg_rows * row_parts == rows",
  why = "{consumers} consumers cannot share {rows} rows in wgmma's steps of 64" }
must "wgmma-cols" { "wg_cols % (8 * tail * ceildiv(wg_cols, 256)) == 0 and wg_cols * col_parts == cols",
  why = "{wg_cols} columns of a consumer are no whole wgmmas" }
let "s_whole"   "split == 'rows' and wg_cols <= 256 and tail == 1" -- no consumer begins within a block of s
must "blocks" { "s_k_major or s_whole or wg_cols % (64 * tail * ceildiv(wg_cols, 256)) == 0",
  why = "an operand along m or n lies in blocks of 64: {wg_cols} columns cannot be parted so" }
must "box-rows" { "rows <= 256 or rows % 128 == 0 or rows == 320",
  why = "a TMA box has at most 256 rows: {rows} cannot be parted" }
must "box-cols" { "cols // tail <= 256 or cols // tail % 16 == 0",
  why = "a TMA box has at most 256 rows: {cols} cannot be parted" }
let "half_of_s" "(s_k_major and 16 or 128) * tail"
let "half_of_r" "r_k_major and 16 or 128"
let "shares_s"  "(cluster == 'n') == (swap == 'yes')" -- else r
must "halves" { "cluster == 'none' or shares_s and cols % half_of_s == 0 or not shares_s and rows % half_of_r == 0",
  why = "two CTAs cannot share {rows} x {cols} in halves" }
must "acc-regs" { "acc_regs <= acc_max",
  why = "{acc_regs} accumulators a thread; ptxas spills past {acc_max} with {consumers} consumers" }
must "wide" { "consumers < 3 or wg_cols <= (consumers == 3 and 192 or 128)",
  why = "ptxas refuses a wgmma of {wg_cols} columns with {consumers} consumers" }
must "registers" { "regs_producer == 0 or consumers == 2 and regs_producer + 2 * regs_consumer <= 512",
  why = "{regs_producer} and {regs_consumer} registers for {consumers} consumers: 512 a thread of each are to share" }
must "smem-fits" { "smem <= device.smem_per_block",
  why = "needs {smem} B of shared memory, {device.name} has {device.smem_per_block}" }
must "two-tiles" { "schedule == 'cooperative' or tiles > device.sms and grid == 'persistent'",
  why = "pingpong overlaps one tile's stores with the next tile; {tiles} tiles give each SM one" }
must "ring-fills" { "stages <= 4 or stages <= 2 * k_tiles or grid == 'persistent' and tiles > device.sms",
  why = "{k_tiles} slices do not fill {stages} slots" }
must "group-fits" { "group_m < 2 * (raster == 'm' and tiles_m or tiles_n)",
  why = "a group of {group_m} exceeds the tiles" }
must "shares" { "split_k == 1 or schedule == 'cooperative' and wg_cols <= 256 and wg_cols % (8 * split_k) == 0",
  why = "{split_k} CTAs cannot add up {wg_cols} columns" }
must "exchange" { "split_k == 1 or rows * cols <= 32768 and stages >= 3",
  why = "the ring has no room for the sums of {split_k} CTAs" }
must "k-shares" { "split_k == 1 or k_tiles >= 2 * split_k",
  why = "{k_tiles} slices of K are too few for {split_k} CTAs" }
must "split-fits" { "split_k == 1 or tiles * split_k <= device.sms",
  why = "{tiles} tiles by {split_k} CTAs exceed a wave" }
must "direct" { "epilogue == 'tma' or swap == 'no'", why = "registers are stored as they lie: C would be transposed" }
must "tail-parts" { "tail == 1 or wg_cols // tail % 64 == 0",
  why = "{tail} parts of {wg_cols} columns are no whole chunks" }
prefer "deep-ring" { "stages * tile_k >= 256 or stages + 1 > k_tiles",
  why = "{stages} stages do not cover the latency of a load" }
prefer "no-tail" { "waves_idle <= 25 or tail > 1", why = "the last wave leaves {waves_idle}% of the SMs idle" }
