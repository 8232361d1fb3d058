-- producers.lua -- copying warps whose copies arrive at mbarriers, multiplying warps beside them.

space "producers" { format = 1, base = "common", template = "producers.cu", arch = "sm_90a",
  doc = "copying warps, multiplying warps" }

param "copy"   { "cp_async", "bulk", doc = "how the slots are filled" }
param "stages" { range = {2, 4}, doc = "slots of the ring" }
param "mma_k"  { 16, 8,          doc = "depth of one multiplication" }

let "tile_m"  "64"
let "tile_n"  "64"
let "threads" "192"
let "smem"    "stages * 10240 + 16 * stages"

must "layout-tn" { "layout == 'tn'", why = "layout {layout}; this template takes tn" }
must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0", why = "M, N, K in multiples of 8" }
