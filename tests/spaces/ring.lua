-- ring.lua -- the base of large.lua: what a TMA + wgmma space says of a ring of slots. It is nobody's template to change.

space "ring" { format = 1, base = "common", template = "wgmma.cu", arch = "sm_90a",
  doc = "TMA + wgmma, for counting only" }

param "tile_m"  { 64, 128, 192, 256, doc = "rows of C per CTA tile" }
param "tile_n"  { 64, 128, 192, 256, doc = "columns of C per CTA tile" }
param "warps"   { {"cooperative", 1}, {"cooperative", 2}, {"cooperative", 3}, {"pingpong", 2},
                  as = {"schedule", "consumers"},
                  doc = "do the consumer warpgroups share a tile or take turns" }
param "chunk_buffers" { 1, 2, default = 2, doc = "64 x 64 chunks of C in flight per consumer" }
param "stages"  { range = {2, 12},   doc = "slots of the ring, 64 k deep each" }
param "group_m" { 1, 2, 4, 8, 16, default = 1, when = "tiles > device.sms and tiles_m > 1 and tiles_n > 1",
                  doc = "tile rows walked together, so that B is met again in L2" }

let "tile_k"    "64"
let "k_tiles"   "ceildiv(K, tile_k)"
let "threads"   "128 * (1 + consumers)"
let "wg_m"      "schedule == 'pingpong' and tile_m or tile_m // consumers"
let "acc_regs"  "wg_m * tile_n // 128"
-- setmaxnreg pairs that share the register file without spills (ptxas 13.0): the producer's, a consumer's
let "producer_regs" "consumers == 3 and 32 or (acc_regs > 192 and 24 or 40)"
let "consumer_regs" "consumers == 3 and 160 or (acc_regs > 192 and 240 or 232)"
let "acc_max"   "consumers == 1 and 192 or (consumers == 2 and 208 or 96)"
let "smem"      "stages * (tile_m + tile_n) * tile_k * 2 + consumers * chunk_buffers * 8192 + 16 * stages"

must "a-rows-along-k" { "a_k_major", why = "layout {layout} stores A along m; this template takes nn and tn" }
must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0",
  why = "TMA needs rows in multiples of 16 bytes: M, N, K in multiples of 8; space simt takes any" }
-- What the template takes for granted; the values above keep to it, edited ones must too.
must "ring" { "stages >= 2", why = "a ring of {stages} slots cannot be filled and read at once" }
must "boxes" { "tile_m <= 256 and tile_n <= 256 and tile_n % 64 == 0",
  why = "a TMA box has at most 256 rows, C leaves in chunks of 64 columns; the tile is {tile_m} x {tile_n}" }
must "roles" { "consumers >= 1 and consumers <= 3 and (schedule == 'cooperative' or consumers == 2)",
  why = "{consumers} consumers: one to three share a tile, two take turns" }
must "at-least-one" { "chunk_buffers >= 1 and group_m >= 1", why = "a count of none" }
must "wgmma-rows" { "wg_m % 64 == 0 and (schedule == 'pingpong' or tile_m % consumers == 0)",
  why = "{consumers} consumers cannot share {tile_m} rows in wgmma's steps of 64" }
must "acc-regs" { "acc_regs <= acc_max",
  why = "{acc_regs} accumulators a thread; ptxas spills past {acc_max} with {consumers} consumers" }
must "smem-fits" { "smem <= device.smem_per_block",
  why = "needs {smem} B of shared memory, {device.name} has {device.smem_per_block}" }
must "two-tiles" { "schedule == 'cooperative' or tiles > device.sms",
  why = "pingpong overlaps one tile's stores with the next tile; {tiles} tiles give each SM one" }
must "ring-fills" { "stages <= 4 or stages <= 2 * k_tiles", why = "{k_tiles} slices do not fill {stages} slots" }
must "group-fits" { "group_m < 2 * tiles_m", why = "a group of {group_m} exceeds {tiles_m} tile rows" }
prefer "deep-ring" { "stages >= 4 or stages + 1 > k_tiles", why = "{stages} stages do not cover the latency of a load" }
prefer "no-tail" { "waves_idle <= 25", why = "the last wave leaves {waves_idle}% of the SMs idle" }
