-- mma.lua -- mma.sync kernels: cp.async ring, ldmatrix, fragments double-buffered in registers.
-- The space for Ampere and Ada, and for small problems on Hopper. All four layouts.

space "mma" { format = 1, base = "common", template = "mma.cu", arch = "sm_80",
  doc = "cp.async + ldmatrix + mma.sync m16n8k16" }

param "tile_m"  { 32, 64, 128, 256, doc = "rows of C per CTA" }
param "tile_n"  { 32, 64, 128, 256, doc = "columns of C per CTA" }
param "tile_k"  { 32, 64,           doc = "depth of a slot of the ring" }
param "stages"  { range = {2, 6},   doc = "slots of the ring; stages - 1 copies are in flight" }
param "warps"   { {1, 1}, {1, 2}, {2, 1}, {2, 2}, {2, 4}, {4, 2}, as = {"warps_m", "warps_n"},
                  doc = "warps along m and along n" }
param "group_m" { 1, 4, 8, default = 1, when = "tiles_m > 1 and tiles_n > 1",
                  doc = "tile rows walked together" }

let "threads"  "32 * warps_m * warps_n"
let "warp_m"   "tile_m // warps_m"
let "warp_n"   "tile_n // warps_n"
let "acc_regs" "warp_m * warp_n // 32"
let "smem"     "stages * (tile_m + tile_n) * tile_k * 2"
let "a_rows"   "a_k_major and tile_m or tile_k"
let "a_cols"   "a_k_major and tile_k or tile_m"
let "b_rows"   "b_k_major and tile_n or tile_k"
let "b_cols"   "b_k_major and tile_k or tile_n"
let "k_tiles"  "ceildiv(K, tile_k)"

must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0",
  why = "16-byte copies need M, N, K in multiples of 8; space simt takes any" }
-- What the template takes for granted; the values above keep to it, edited ones must too.
must "ring" { "stages >= 2", why = "a ring of {stages} slots cannot be filled and read at once" }
must "rows-in-chunks" {
  "tile_k % 32 == 0 and (a_cols == 32 or a_cols % 64 == 0) and (b_cols == 32 or b_cols % 64 == 0)",
  why = "rows of {a_cols} and {b_cols} elements: the swizzle wants 32 or a multiple of 64" }
must "at-least-one" { "warps_m >= 1 and warps_n >= 1 and group_m >= 1", why = "a count of none" }
must "warp-tile" { "warp_m % 16 == 0 and warp_n % 16 == 0",
  why = "a warp's {warp_m} x {warp_n} must be whole 16 x 16 fragments" }
must "copy-even" { "tile_m * tile_k % (8 * threads) == 0 and tile_n * tile_k % (8 * threads) == 0",
  why = "16-byte copies must split evenly over {threads} threads" }
must "acc-regs" { "acc_regs <= 128", why = "{acc_regs} accumulators a thread leave no registers for fragments" }
must "warp-work" { "acc_regs >= 16", why = "{acc_regs} accumulators a thread: more loads than multiplications" }
must "smem-fits" { "smem <= device.smem_per_block",
  why = "needs {smem} B of shared memory, {device.name} has {device.smem_per_block}" }
must "ring-fills" { "stages <= 2 + k_tiles", why = "{k_tiles} slices never fill {stages} slots" }
must "group-fits" { "group_m < 2 * tiles_m", why = "a group of {group_m} exceeds {tiles_m} tile rows" }
prefer "no-tail" { "waves_idle <= 25", why = "the last wave leaves {waves_idle}% of the SMs idle" }

seed { tile_m = 128, tile_n = 128, tile_k = 32, stages = 4, warps = {2, 2}, group_m = 8 }
seed { tile_m = 128, tile_n = 256, tile_k = 32, stages = 4, warps = {2, 4}, group_m = 8 }
seed { tile_m = 64, tile_n = 64, tile_k = 64, stages = 5, warps = {2, 2}, group_m = 4 }
seed { tile_m = 32, tile_n = 32, tile_k = 64, stages = 6, warps = {2, 1} }
