-- splitk.lua -- partial tiles in the workspace, the CTA that arrives last adds them up.

space "splitk" { format = 1, base = "common", template = "splitk.cu", arch = "sm_80",
  doc = "split-K through the workspace" }

param "splits" { range = {2, 4},        doc = "CTAs that share a tile's k" }
param "order"  { "acq_rel", "fence", "wait", doc = "how the partial tiles are known to be there" }

let "tile_m"   "32"
let "tile_n"   "32"
let "threads"  "128"
let "smem"     "2 * 32 * 80 + 16"
let "room"     "64"                                    -- tiles that the workspace holds
let "counter_bytes" "order == 'wait' and 4 * room * splits or 4 * room"
let "ws_bytes" "counter_bytes + room * splits * 4096"

must "layout-tn" { "layout == 'tn'", why = "layout {layout}; this template takes tn" }
must "eights" { "M % 8 == 0 and N % 8 == 0 and K % 8 == 0", why = "M, N, K in multiples of 8" }
must "room-for-tiles" { "tiles <= room", why = "{tiles} tiles, the workspace holds {room}" }
