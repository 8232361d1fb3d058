-- dsmem.lua -- two CTAs of a cluster share a tile's k and add up through shared memory.

space "dsmem" { format = 1, base = "common", template = "dsmem.cu", arch = "sm_90a",
  doc = "clusters along k, sums through distributed shared memory" }

param "push" { "st_async", "bulk", "stc", "ldc", doc = "how CTA 1 hands its sums to CTA 0" }

let "tile_m"  "64"
let "tile_n"  "64"
let "threads" "128"
let "smem"    "2 * 16384 + 16384 + 24"

must "layout-tn" { "layout == 'tn'", why = "layout {layout}; this template takes tn" }
must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0", why = "M, N, K in multiples of 8" }
