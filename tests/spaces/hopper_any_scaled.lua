-- hopper_any_scaled.lua -- hopper_any with C = alpha A B + beta C, which is pinned away in it; few values of all else.

space "hopper_any_scaled" { format = 1, base = "hopper_any", template = "wgmma_any.cu", arch = "sm_90a",
  doc = "hopper_any, alpha and beta" }

param "scale" { "alpha_beta", doc = "C = alpha A B + beta C" }

narrow "tile_m"  { 64, 128 }
narrow "tile_n"  { 64, 128 }
narrow "stages"  { range = {2, 3} }
narrow "group_m" { 1, 2 }
