-- registers.lua -- wgmma with A in registers, B copied by threads in every layout wgmma reads.

space "registers" { format = 1, base = "common", template = "registers.cu", arch = "sm_90a",
  doc = "wgmma from registers, without TMA" }

param "copy"    { "words", "cp_async", doc = "how B comes to shared memory" }
param "swizzle" { 0, 32, 64, 128, default = 128, when = "b_k_major", doc = "bytes of a swizzled row of B" }

let "tile_m"    "64"
let "tile_n"    "64"
let "threads"   "128"
let "tile_k"    "not b_k_major and 32 or (swizzle == 0 and 16 or swizzle // 2)"
let "row_bytes" "swizzle == 0 and 16 or swizzle"
let "turn"      "swizzle == 0 and 0 or swizzle - 16"
let "k_step"    "not b_k_major and 2048 or 32"         -- bytes from one 16 k to the next
let "smem"      "128 * tile_k"

must "f32-accumulate" { "acc == 'f32' or dtype == 'f16'", why = "bf16 accumulates in f32 only" }
must "a-rows-along-k" { "a_k_major", why = "layout {layout} stores A along m; this template takes nn and tn" }
must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0", why = "M, N, K in multiples of 8" }
