// registers.cu -- C = A B through wgmma with A in registers and without TMA (sm_90a).
//
// A warpgroup computes a 64 x 64 tile. Its threads read the fragments of A straight from global
// memory, and copy a slice of B into shared memory ($copy) the way wgmma wants it:
//@ if b_k_major then
// rows of $tile_k k, swizzle $swizzle.
//@ else
// rows of 64 n, swizzle 128.
//@ end
// What threads copy is made visible to wgmma by fence.proxy.async, then the barrier.
// Layouts tn and nn; M, N, K: multiples of 8.
//@ launch { args = {"A", "B", "C", "M", "N", "K", "lda", "ldb", "ldc"}, grid = "tiles", tile = {tile_m, tile_n},
//@   block = threads, smem = smem, pdl = true, legal = {m = 8, n = 8, k = 8, ld = 8, align = 16} }
#include "loom.cuh"

constexpr int tile = 64, tile_k = $tile_k, threads = 128;
constexpr u32 row_bytes = $row_bytes; // of a row of B
static_assert(threads == $threads && 2 * tile * tile_k == $smem, "space and kernel differ");

//@ if swizzle ~= 0 then
constexpr u32 turn = $turn; // the address bits that its swizzle turns
LOOM_FN u32 swizzled(u32 at) { return at ^ (at >> 3 & turn); }
//@ end

// Copies the slice of B at (k0, n0), 16 bytes at a time.
LOOM_FN void copy_b(u32 b, gptr<const $dtype> B, int ldb, int k0, int K, int n0, int N) {
  for (int i = threadIdx.x; i < tile * tile_k / 8; i += threads) {
    //@ if b_k_major then
    const int n = i / (tile_k / 8), k = i % (tile_k / 8) * 8;
    const i64 from = (i64)(n0 + n) * ldb + k0 + k;
    //@ if swizzle == 0 then
    const u32 to = row_bytes * n + 1024 * (k / 8); // 8 rows of 8 k make 128 bytes
    //@ else
    const u32 to = swizzled(row_bytes * n + 2 * k);
    //@ end
    //@ else
    const int k = i / 8, n = i % 8 * 8;
    const i64 from = (i64)(k0 + k) * ldb + n0 + n;
    const u32 to = swizzled(row_bytes * k + 2 * n);
    //@ end
    //@ if copy == "cp_async" then
    cp_async_16<$dtype>(b + to, B, from, k0 + k < K && n0 + n < N);
    //@ else
    words<4> w = {};
    if (k0 + k < K && n0 + n < N) w = ldg_words<4>(B, from);
    sts_words<4>(b + to, w);
    //@ end
  }
  //@ if copy == "cp_async" then
  cp_async_commit();
  //@ end
}

extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(gptr<const $dtype> A, gptr<const $dtype> B, gptr<$dtype> C, int M, int N, int K,
                int lda, int ldb, int ldc) {
  const u32 b = smem_base();
  const int tiles_n = (N + tile - 1) / tile, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int n0 = blockIdx.x % tiles_n * tile;
  const int m0 = blockIdx.x / tiles_n * tile + 16 * warp + lane / 4;
  const auto pair_of_a = [&](int m, int k) { // two neighbours along k
    return m < M && k < K ? ldg_words<1>(A, (i64)m * lda + k).w[0] : 0u;
  };
  constexpr int b_step = $k_step / 16, b_major = $(b_k_major and "K_MAJOR" or "MN_MAJOR");
  //@ if not b_k_major then
  const u64 desc = smem_desc(b, 8192, 1024); // a second block of 64 n would be 8192 on
  //@ elseif swizzle == 0 then
  const u64 desc = smem_desc<0>(b, 1024, 128);
  //@ else
  const u64 desc = smem_desc<$swizzle>(b, 16, 8 * row_bytes);
  //@ end

  grid_dep_wait();
  grid_dep_launch();
  //@ if acc == "f16" then
  u32 acc[tile / 4]; // pairs
  //@ else
  float acc[tile / 2];
  //@ end
  ROLLED
  for (int k0 = 0; k0 < K; k0 += tile_k) {
    copy_b(b, B, ldb, k0, K, n0, N);
    u32 a[tile_k / 16][4];
    UNROLL
    for (int s = 0; s < tile_k / 16; ++s) {
      const int k = k0 + 16 * s + lane % 4 * 2;
      a[s][0] = pair_of_a(m0, k), a[s][1] = pair_of_a(m0 + 8, k);
      a[s][2] = pair_of_a(m0, k + 8), a[s][3] = pair_of_a(m0 + 8, k + 8);
    }
    //@ if copy == "cp_async" then
    cp_async_wait<0>();
    //@ end
    fence_proxy_async();
    cta_sync();
    wgmma_fence();
    UNROLL
    for (int s = 0; s < tile_k / 16; ++s)
      //@ if acc == "f16" then
      wgmma_f16_rs<tile, b_major>(acc, a[s], desc + s * b_step, k0 + s > 0);
    //@ else
    wgmma_rs<$dtype, tile, b_major>(acc, a[s], desc + s * b_step, k0 + s > 0);
    //@ end
    wgmma_commit();
    wgmma_wait<0>();
    cta_sync(); // B may be written again
  }
  UNROLL
  for (int j = 0; j < tile / 8; ++j) {
    const int n = n0 + 8 * j + lane % 4 * 2;
    if (n >= N) continue;
    //@ if acc == "f16" then
    const u32 upper = acc[2 * j], lower = acc[2 * j + 1];
    //@ else
    const u32 upper = pack<$dtype>(acc[4 * j], acc[4 * j + 1]);
    const u32 lower = pack<$dtype>(acc[4 * j + 2], acc[4 * j + 3]);
    //@ end
    if (m0 < M) stg_pair(C, (i64)m0 * ldc + n, upper);
    if (m0 + 8 < M) stg_pair(C, (i64)(m0 + 8) * ldc + n, lower);
  }
}
