-- large.lua -- ring.lua, widened to what one would like to search: more than 10^12 points, tied together
-- by shared memory, registers, warps, clusters and split-K. For the tests of counting and drawing.

space "large" { format = 1, base = "ring", doc = "ring.lua with every knob that was ever proposed" }

extend "tile_m" { 32, 96, 160, 224, 320, 384, 512 }
extend "tile_n" { 32, 96, 160, 224, 320, 384, 512 }
extend "warps"  { {"pingpong", 1}, {"pingpong", 3}, {"cooperative", 4} }
extend "chunk_buffers" { 3, 4 }
extend "stages" { range = {13, 16} }
extend "group_m" { 32, 64 }
drop "tile_k"
drop "producer_regs"
drop "consumer_regs"

param "tile_k"    { 32, 64, 128, default = 64,          doc = "depth of a slot of the ring" }
param "epilogue"  { "direct", "staged", "tma",          doc = "how C leaves" }
param "epi_m"     { 16, 32, 64, 128, default = 64, when = "epilogue ~= 'direct'", doc = "rows of a chunk of C" }
param "epi_n"     { 16, 32, 64, 128, default = 64, when = "epilogue ~= 'direct'", doc = "columns of a chunk of C" }
param "regs"      { {24, 240}, {32, 160}, {40, 232}, {56, 216}, {24, 152}, {40, 152}, {32, 208},
                    as = {"producer_regs", "consumer_regs"}, doc = "registers a thread: producer, consumer" }
param "swizzle"   { 32, 64, 128, default = 128,         doc = "bytes of a swizzled row" }
param "split_k"   { 1, 2, 3, 4, 6, 8, 12, 16, default = 1, when = "tiles < device.sms",
                    doc = "CTAs along k" }
param "cluster"   { {1, 1}, {1, 2}, {2, 1}, {2, 2}, {1, 4}, {4, 1}, {2, 4}, {4, 2}, {4, 4},
                    as = {"cluster_m", "cluster_n"},    doc = "CTAs that share loads" }
param "multicast" { "none", "a", "b", "ab", default = "none", when = "cluster_m * cluster_n > 1",
                    doc = "loads that a cluster shares" }
param "prefetch"  { range = {0, 4},                     doc = "slices asked for ahead of the ring" }
param "bake"      { "none", "k", "mnk",                 doc = "dimensions that become constants" }
param "raster"    { "m", "n", "hilbert",                doc = "order of the tiles" }
param "l2"        { 0, 64, 128, 256,                    doc = "L2 promotion of the tensor maps" }
param "store"     { "wb", "cs", "cg",                   doc = "cache operator of the stores" }

let "epi_bytes" "epilogue == 'direct' and 0 or consumers * chunk_buffers * epi_m * epi_n * 2"
let "smem"      "stages * (tile_m + tile_n) * tile_k * 2 + epi_bytes + 16 * stages"
let "k_share"   "ceildiv(k_tiles, split_k)"

must "threads-fit"        { "threads <= 640", why = "{threads} threads" }
must "cluster-size" { "cluster_m * cluster_n <= 8", why = "a cluster of {cluster_m} x {cluster_n}" }
must "cluster-fits" { "tiles_m % cluster_m == 0 and tiles_n % cluster_n == 0",
  why = "{tiles_m} x {tiles_n} tiles do not split into clusters of {cluster_m} x {cluster_n}" }
must "split-even"   { "k_share >= 2 and k_share * (split_k - 1) < k_tiles", why = "{k_tiles} slices over {split_k} CTAs" }
must "split-fills"  { "split_k == 1 or tiles * split_k <= 2 * device.sms",
  why = "{tiles} tiles times {split_k} are more than two waves" }
must "epilogue-fits" { "epilogue == 'direct' or (wg_m % epi_m == 0 and tile_n % epi_n == 0)",
  why = "{epi_m} x {epi_n} chunks do not make up {wg_m} x {tile_n}" }
must "tma-rows"     { "epilogue ~= 'tma' or epi_n * 2 >= swizzle", why = "a TMA row of {epi_n} elements, swizzle {swizzle}" }
must "register-file"    { "128 * (producer_regs + consumers * consumer_regs) <= device.regs_per_sm",
  why = "{producer_regs} and {consumers} times {consumer_regs} registers exceed the file" }
must "no-spills"    { "acc_regs + 24 <= consumer_regs", why = "{acc_regs} accumulators in {consumer_regs} registers" }
must "swizzle-rows" { "tile_k * 2 % swizzle == 0", why = "a row of {tile_k} elements, swizzle {swizzle}" }
must "multicast-a"  { "multicast == 'none' or multicast == 'b' or cluster_n > 1", why = "nobody to share A with" }
must "multicast-b"  { "multicast == 'none' or multicast == 'a' or cluster_m > 1", why = "nobody to share B with" }
must "prefetch-on"  { "prefetch < stages", why = "{prefetch} slices ahead of {stages} slots" }
must "bake-split"   { "bake ~= 'mnk' or split_k == 1", why = "split-K keeps k open" }
