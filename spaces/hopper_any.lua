-- hopper_any.lua -- wgmma kernels for H100 and H200 where TMA cannot be had: any M, N, K, any leading
-- dimension, pointers at multiples of 2 bytes. Producer warps gather, one or two consumers multiply.

space "hopper_any" { format = 1, base = "common", template = "wgmma_any.cu", arch = "sm_90a",
  doc = "gathered loads + wgmma, for what TMA refuses" }

param "tile_m"    { 64, 128, 192, 256, doc = "rows of C per CTA tile" }
param "tile_n"    { 64, 128, 192, 256, doc = "columns of C per CTA tile" }
param "consumers" { 1, 2, doc = "warpgroups that multiply" }
param "split"     { "rows", "cols", default = "rows", when = "consumers == 2", doc = "what two consumers divide" }
param "producers" { 1, 2, doc = "warpgroups that load" }
param "stages"    { range = {2, 8}, doc = "slots of the ring, 64 k deep each" }
param "group_m"   { 1, 2, 4, 8, 16, default = 1, when = "tiles > device.sms and tiles_m > 1 and tiles_n > 1",
                    doc = "tiles walked together, so that what they share is met again in L2" }
param "grid"      { "persistent", "tiles", default = "persistent",
                    doc = "CTAs that go from tile to tile, or one for each" }
param "scale"     { "one", "alpha_beta", default = "one", pin = "one", doc = "alpha_beta: C = alpha A B + beta C" }

let "tile_k"    "64"
let "schedule"  "'cooperative'"
let "cluster"   "'none'"
let "raster"    "'m'"
let "split_k"   "1"
let "k_tiles"   "ceildiv(K, tile_k)"
let "threads"   "128 * (producers + consumers)"
let "rows"      "tile_m"
let "cols"      "tile_n"
let "r_k_major" "a_k_major"
let "s_k_major" "b_k_major"
let "wg_rows"   "consumers == 2 and split == 'rows' and rows // 2 or rows"
let "wg_cols"   "consumers == 2 and split == 'cols' and cols // 2 or cols"
let "acc_regs"  "wg_rows * wg_cols // (acc == 'f16' and 256 or 128)"
-- what a producer thread has of A and B in registers
let "held_regs" "4 * (rows + cols) // (16 * producers) + 16 // producers"
let "regs_each" "min(248, 65536 // threads // 8 * 8)"
let "r_bytes"   "2 * tile_k * rows"
let "s_bytes"   "2 * tile_k * cols"
let "smem"      "stages * (r_bytes + s_bytes) + consumers * 8192 + 16 * stages"

must "f32-accumulate" { "acc == 'f32' or acc == 'f16'", why = "this template accumulates in f32 or f16" }
-- What the template takes for granted; the values above keep to it, edited ones must too.
must "ring" { "stages >= 2", why = "a ring of {stages} slots cannot be filled and read at once" }
must "roles" { "consumers >= 1 and consumers <= 2 and producers >= 1 and producers <= 2",
  why = "{producers} producers, {consumers} consumers: one or two of each" }
must "at-least-one" { "group_m >= 1", why = "a count of none" }
must "blocks" { "rows % 64 == 0 and cols % 64 == 0 and wg_rows % 64 == 0 and wg_cols % 64 == 0",
  why = "{consumers} consumers cannot share {rows} x {cols} in steps of 64" }
must "one-wgmma" { "wg_cols <= 256 and rows <= 256 and cols <= 256", why = "{rows} x {cols}: no side may exceed 256" }
must "acc-regs" { "acc_regs + (scale == 'alpha_beta' and 56 or wg_rows > 64 and 48 or 40) <= regs_each",
  why = "{acc_regs} accumulators a thread are too many with {threads} threads" }
must "held-regs" { "held_regs + 40 <= regs_each",
  why = "{held_regs} registers of loads in flight are too many with {threads} threads" }
must "smem-fits" { "smem <= device.smem_per_block",
  why = "needs {smem} B of shared memory, {device.name} has {device.smem_per_block}" }
must "ring-fills" { "stages <= 4 or stages <= 2 * k_tiles or grid == 'persistent' and tiles > device.sms",
  why = "{k_tiles} slices do not fill {stages} slots" }
must "group-fits" { "group_m < 2 * tiles_m", why = "a group of {group_m} exceeds {tiles_m} tile rows" }
must "tma-cannot" { "M % 8 ~= 0 or N % 8 ~= 0 or K % 8 ~= 0",
  why = "TMA takes such sizes, where pointers and leading dimensions are aligned too" }
prefer "no-tail" { "waves_idle <= 25", why = "the last wave leaves {waves_idle}% of the SMs idle" }

seed { tile_m = 128, tile_n = 256, consumers = 2, producers = 1, stages = 4, group_m = 8 }
seed { tile_m = 128, tile_n = 128, consumers = 2, producers = 1, stages = 4, group_m = 8 }
seed { tile_m = 128, tile_n = 128, consumers = 2, producers = 2, stages = 4, group_m = 8 }
seed { tile_m = 64, tile_n = 64, consumers = 1, producers = 1, stages = 6 }
