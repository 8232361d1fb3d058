-- reduced.lua -- large.lua with so few values that all its points can be tried one by one.

space "reduced" { format = 1, base = "large", doc = "large, small enough to be listed" }

narrow "tile_m"        { 64, 128, 384 }
narrow "tile_n"        { 128, 256 }
narrow "warps"         { {"cooperative", 1}, {"cooperative", 2}, {"pingpong", 2} }
narrow "chunk_buffers" { 2 }
narrow "stages"        { range = {3, 4} }
narrow "group_m"       { 1, 8 }
narrow "tile_k"        { 32, 64 }
narrow "epilogue"      { "direct", "tma" }
narrow "epi_m"         { 32, 64 }
narrow "epi_n"         { 16, 64 }
narrow "regs"          { {40, 232} }
narrow "swizzle"       { 64, 128 }
narrow "split_k"       { 1, 4 }
narrow "cluster"       { {1, 1}, {2, 1} }
narrow "multicast"     { "none", "b" }
narrow "prefetch"      { range = {2, 3} }
narrow "bake"          { "none", "mnk" }
narrow "raster"        { "m" }
narrow "l2"            { 256 }
narrow "store"         { "wb" }
