-- hopper_scaled.lua -- hopper with C = alpha A B + beta C, which is pinned away in it; few values of all else.

space "hopper_scaled" { format = 1, base = "hopper", template = "wgmma.cu", arch = "sm_90a",
  doc = "hopper, alpha and beta" }

param "scale" { "alpha_beta", doc = "C = alpha A B + beta C" }

narrow "warps"         { {"cooperative", 1}, {"cooperative", 2}, {"pingpong", 2} }
narrow "tile_m"        { 64, 128, 144, 256 }
narrow "tile_n"        { 24, 64, 128, 144, 256 }
narrow "group_m"       { 1, 8 }
narrow "raster"        { "m" }
narrow "split_k"       { 1, 2, 4 }
narrow "tail"          { 1, 2 }
narrow "regs"          { {0, 0} }
narrow "tile_k"        { 64 }
narrow "stages"        { range = {2, 4} }
narrow "launch_next"   { "early" }
