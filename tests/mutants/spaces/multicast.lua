-- multicast.lua -- two CTAs of a cluster load B for each other.

space "multicast" { format = 1, base = "common", template = "multicast.cu", arch = "sm_90a",
  doc = "clusters that share loads by multicast" }

param "stages" { range = {2, 4}, doc = "slots of the ring" }

let "tile_m"  "128"
let "tile_n"  "64"
let "threads" "160"
let "smem"    "stages * 16384 + 64 * 144 + 16 * stages"

must "layout-tn" { "layout == 'tn'", why = "layout {layout}; this template takes tn" }
must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0", why = "M, N, K in multiples of 8" }
