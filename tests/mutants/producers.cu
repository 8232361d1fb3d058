// producers.cu -- C = A B through mma.sync, with warps that copy and warps that multiply (sm_90a).
//
// Warps 4 and 5 fill a ring of `stages` slots, a row of A and a row of B each thread,
//@ if copy == "bulk" then
// by bulk copies, whose bytes the slot's mbarrier counts; what is outside they set to zero themselves.
//@ else
// by cp.async, which arrive at the slot's mbarrier by themselves when they are done.
//@ end
// Warps 0 to 3 multiply,
// 16 rows of the 64 x 64 tile each. One warp's arrival says that it has read a slot.
// Layout tn; M, N, K: multiples of 8.
//@ launch { args = {"A", "B", "C", "M", "N", "K", "lda", "ldb", "ldc"}, grid = "tiles", tile = {tile_m, tile_n},
//@   block = threads, smem = smem, pdl = true, legal = {m = 8, n = 8, k = 8, ld = 8, align = 16} }
#include "loom.cuh"

constexpr int tile = 64, tile_k = 32, stages = $stages, threads = 192;
constexpr u32 pitch = 2 * tile_k + 16; // bytes of a row: ldmatrix meets every bank once
constexpr u32 b_at = tile * pitch, slot_bytes = 2 * tile * pitch;
constexpr u32 full_at = stages * slot_bytes, empty_at = full_at + 8 * stages;
static_assert(threads == $threads && empty_at + 8 * stages == $smem, "space and kernel differ");

//@ if copy == "bulk" then
LOOM_FN void copy_row(u32 dst, gptr<const $dtype> src, i64 from, int k, u32 bar) { // k elements
  if (k > 0) bulk_load(dst, src, from, 2 * k, bar);
  for (; k < tile_k; k += 8) sts_words<4>(dst + 2 * k, words<4>{});
}
//@ else
LOOM_FN void copy_row(u32 dst, gptr<const $dtype> src, i64 from, bool inside, int k0, int K) {
  UNROLL
  for (int k = 0; k < tile_k; k += 8)
    cp_async_16<$dtype>(dst + 2 * k, src, from + k0 + k, inside && k0 + k < K);
}
//@ end

LOOM_FN void multiply_slot(float (&acc)[8][4], u32 slot) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const u32 a_row = slot + pitch * (16 * warp + lane % 16);
  const u32 b_row = slot + b_at + pitch * (lane % 8);
  UNROLL
  for (int k = 0; k < tile_k; k += $mma_k) {
    //@ if mma_k == 16 then
    u32 a[4];
    ldmatrix_x4(a, a_row + 2 * k + lane / 16 * 16);
    UNROLL
    for (int j = 0; j < 8; ++j) {
      u32 b[2];
      ldmatrix_x2(b, b_row + 8 * pitch * j + 2 * k + lane / 8 % 2 * 16);
      mma_m16n8k16<$dtype>(acc[j], a, b[0], b[1]);
    }
    //@ else
    u32 a[2];
    ldmatrix_x2(a, a_row + 2 * k);
    UNROLL
    for (int j = 0; j < 8; ++j) {
      u32 b[1];
      ldmatrix_x1(b, b_row + 8 * pitch * j + 2 * k);
      mma_m16n8k8<$dtype>(acc[j], a, b[0]);
    }
    //@ end
  }
}

extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(gptr<const $dtype> A, gptr<const $dtype> B, gptr<$dtype> C, int M, int N, int K,
                int lda, int ldb, int ldc) {
  const u32 ring = smem_base(), full = ring + full_at, empty = ring + empty_at;
  const int tiles_n = (N + tile - 1) / tile, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int m0 = blockIdx.x / tiles_n * tile, n0 = blockIdx.x % tiles_n * tile;
  const int k_tiles = (K + tile_k - 1) / tile_k;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      mbar_init(full + 8 * s, 64); // every copying thread
      mbar_init(empty + 8 * s, 4); // every multiplying warp
    }
    fence_mbar_init();
  }
  cta_sync();
  grid_dep_wait();
  grid_dep_launch();

  if (warp >= 4) {
    const int row = threadIdx.x - 128;
    for (int i = 0; i < k_tiles; ++i) {
      const u32 s = i % stages, to = ring + s * slot_bytes + pitch * row;
      mbar_wait(empty + 8 * s, (i / stages & 1) ^ 1);
      //@ if copy == "bulk" then
      const int k = min(tile_k, K - i * tile_k);
      const int a_k = m0 + row < M ? k : 0, b_k = n0 + row < N ? k : 0;
      copy_row(to, A, (i64)(m0 + row) * lda + i * tile_k, a_k, full + 8 * s);
      copy_row(to + b_at, B, (i64)(n0 + row) * ldb + i * tile_k, b_k, full + 8 * s);
      mbar_expect_tx(full + 8 * s, 2 * (a_k + b_k)); // after the zeros, which it releases
      //@ else
      copy_row(to, A, (i64)(m0 + row) * lda, m0 + row < M, i * tile_k, K);
      copy_row(to + b_at, B, (i64)(n0 + row) * ldb, n0 + row < N, i * tile_k, K);
      cp_async_mbar_arrive(full + 8 * s);
      //@ end
    }
    //@ if copy == "cp_async" then
    cp_async_wait<0>();
    //@ end
    return;
  }
  float acc[8][4] = {};
  for (int i = 0; i < k_tiles; ++i) {
    const u32 s = i % stages;
    mbar_wait(full + 8 * s, i / stages & 1);
    multiply_slot(acc, ring + s * slot_bytes);
    warp_sync();
    if (lane == 0) mbar_arrive(empty + 8 * s);
  }
  UNROLL
  for (int j = 0; j < 8; ++j) {
    const int m = m0 + 16 * warp + lane / 4, n = n0 + 8 * j + lane % 4 * 2;
    if (n >= N) continue;
    if (m < M) stg_pair(C, (i64)m * ldc + n, pack<$dtype>(acc[j][0], acc[j][1]));
    if (m + 8 < M) stg_pair(C, (i64)(m + 8) * ldc + n, pack<$dtype>(acc[j][2], acc[j][3]));
  }
}
