-- simt.lua -- plain fp32 multiply-adds on any GPU: the space to read first.
-- Right for every M, N, K and layout, never fast: the fallback for what the tensor-core spaces refuse.

space "simt" { format = 1, base = "common", template = "simt.cu", arch = "sm_80",
  doc = "fp32 multiply-adds, any M, N, K" }

param "tile_m"   { 16, 32, 64, 128, doc = "rows of C per CTA" }
param "tile_n"   { 16, 32, 64, 128, doc = "columns of C per CTA" }
param "tile_k"   { 8, 16, 32,       doc = "depth of the slices in shared memory" }
param "thread_m" { 1, 2, 4, 8,      doc = "rows of C per thread" }
param "thread_n" { 1, 2, 4, 8,      doc = "columns of C per thread" }

let "threads" "(tile_m // thread_m) * (tile_n // thread_n)"
let "smem"    "4 * tile_k * (tile_m + tile_n)"

must "whole-blocks" { "thread_m >= 1 and thread_n >= 1 and tile_m % thread_m == 0 and tile_n % thread_n == 0",
  why = "{thread_m} x {thread_n} blocks do not make up a {tile_m} x {tile_n} tile" }
must "whole-warps" { "threads % 32 == 0 and threads <= 512",
  why = "{threads} threads: a CTA wants whole warps, 512 threads at most" }
must "two-warps" { "threads >= 64", why = "{threads} threads hide no latency" }
must "smem-fits" { "smem <= 49152", why = "{smem} B of shared memory; every GPU gives 49152 without asking" }
must "copy-share" { "(tile_m + tile_n) * tile_k // threads <= 32",
  why = "each thread copies {tile_m} x {tile_k} and {tile_k} x {tile_n} elements in more than 32 steps" }
prefer "square-block" { "thread_m == thread_n", why = "a {thread_m} x {thread_n} block reads shared memory more often" }

seed { tile_m = 64, tile_n = 64, tile_k = 16, thread_m = 4, thread_n = 4 }
