// multicast.cu -- C = A B by clusters of two CTAs that share their loads of B, on Hopper (sm_90a).
//
// A cluster computes a 128 x 64 tile, each CTA 64 rows of it. Slices of 64 k travel through a ring
// of `stages` slots; a CTA loads its own rows of A and half of the columns of B, the latter into
// both CTAs. So a slot is free when the consumers of both CTAs have read it, and full when all
// bytes have come, whoever sent them. Warps 0 to 3 consume, warp 4 produces.
// The tile leaves through shared memory, one bulk copy for each row.
// Layout tn; M, N, K: multiples of 8.
//@ launch { args = {"tmap_a", "tmap_b", "C", "M", "N", "K", "ldc"}, grid = "tiles", tile = {tile_m, tile_n},
//@   split_k = 2, cluster = 2, block = threads, smem = smem, pdl = true,
//@   tensors = {
//@     {name = "tmap_a", operand = "A", dims = {"K", "M"}, stride = "lda", box = {64, 64}, swizzle = 128},
//@     {name = "tmap_b", operand = "B", dims = {"K", "N"}, stride = "ldb", box = {64, 32}, swizzle = 128},
//@   },
//@   legal = {m = 8, n = 8, k = 8, ld = 8, align = 16} }
#include "loom.cuh"

constexpr int tile_k = 64, stages = $stages, threads = 160;
constexpr u32 a_bytes = 2 * 64 * tile_k, half_bytes = 2 * 32 * tile_k;
constexpr u32 slot_bytes = a_bytes + 2 * half_bytes;
constexpr u32 pitch = 2 * 64 + 16; // bytes of a row of C in shared memory
constexpr u32 rows_at = stages * slot_bytes, full_at = rows_at + 64 * pitch;
constexpr u32 empty_at = full_at + 8 * stages;
static_assert(threads == $threads && empty_at + 8 * stages == $smem, "space and kernel differ");

LOOM_FN void multiply_slot(float (&acc)[32], u32 a, u32 b, bool add) {
  const u64 desc_a = smem_desc(a, 16, 1024), desc_b = smem_desc(b, 16, 1024);
  wgmma_fence();
  UNROLL
  for (int k = 0; k < tile_k / 16; ++k)
    wgmma<$dtype, 64, K_MAJOR, K_MAJOR>(acc, desc_a + k * (32 / 16), desc_b + k * (32 / 16),
                                        add || k > 0);
  wgmma_commit();
  wgmma_wait<0>();
}

extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(const __grid_constant__ tensor_map tmap_a,
                const __grid_constant__ tensor_map tmap_b, gptr<$dtype> C, int M, int N, int K,
                int ldc) {
  const u32 ring = smem_base(), rows = ring + rows_at;
  const u32 full = ring + full_at, empty = ring + empty_at;
  const int tiles_n = (N + 63) / 64, at = blockIdx.x / 2, rank = (int)cluster_rank();
  const int m0 = at / tiles_n * 128 + rank * 64, n0 = at % tiles_n * 64;
  const int k_tiles = (K + tile_k - 1) / tile_k, warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbar_init(full + 8 * s, 1);
      mbar_init(empty + 8 * s, 2); // one arrival from each CTA
    }
    fence_mbar_init();
  }
  cluster_sync(); // the other CTA's barriers are ready
  grid_dep_launch();

  if (warp == 4) {
    if (elect_one()) {
      grid_dep_wait();
      ROLLED
      for (int i = 0; i < k_tiles; ++i) {
        const u32 s = i % stages, a = ring + s * slot_bytes, b = a + a_bytes, bar = full + 8 * s;
        mbar_wait_cluster(empty + 8 * s, (i / stages & 1) ^ 1);
        mbar_expect_tx(bar, slot_bytes);
        tma_load_2d(a, &tmap_a, i * tile_k, m0, bar);
        tma_load_2d_multicast(b + rank * half_bytes, &tmap_b, i * tile_k, n0 + rank * 32, bar, 3);
      }
    }
    warp_sync(); // the lanes meet again
  } else {
    float acc[32];
    ROLLED
    for (int i = 0; i < k_tiles; ++i) {
      const u32 s = i % stages, a = ring + s * slot_bytes;
      mbar_wait(full + 8 * s, i / stages & 1);
      multiply_slot(acc, a, a + a_bytes, i > 0);
      named_sync(1, 128); // all four warps have waited for their part
      if (threadIdx.x < 2) mbar_arrive_cluster(map_shared(empty + 8 * s, threadIdx.x));
    }
    UNROLL
    for (int p = 0; p < 4; ++p) { // 16 columns at a time
      const float *f = &acc[8 * p];
      stmatrix_x4(rows + pitch * (16 * warp + lane % 16) + 32 * p + lane / 16 * 16,
                  pack<$dtype>(f[0], f[1]), pack<$dtype>(f[2], f[3]), pack<$dtype>(f[4], f[5]),
                  pack<$dtype>(f[6], f[7]));
    }
    fence_proxy_async();
    named_sync(1, 128);
    const int row = threadIdx.x;
    if (row < 64 && m0 + row < M) {
      bulk_store(C, (i64)(m0 + row) * ldc + n0, rows + pitch * row, 2 * min(64, N - n0));
      tma_store_commit();
      tma_store_wait_read<0>(); // shared memory must outlive the reads
    }
  }
  cluster_sync(); // and what the other CTA sends into it
}
