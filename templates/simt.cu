// simt.cu -- C = A B with plain multiply-adds in fp32: the template to read first.
//
// A CTA computes a tile_m x tile_n tile of C. It walks along K in steps of tile_k: all threads copy
// a slice of A and of B into shared memory (as fp32, k-major), then each multiplies its own
// thread_m x thread_n block in registers. Any M, N, K, any layout: what lies outside is zero.
//@ -- The launch descriptor: what the launcher must know. Checked against the numbers below.
//@ launch { args = {"A", "B", "C", "M", "N", "K", "lda", "ldb", "ldc"}, grid = "tiles",
//@   tile = {tile_m, tile_n}, block = threads, smem = smem, pdl = true, legal = {align = 2} }
//@ local a_at = a_k_major and "(i64)m * lda + k" or "(i64)k * lda + m"
//@ local b_at = b_k_major and "(i64)n * ldb + k" or "(i64)k * ldb + n"
#include "loom.cuh"

constexpr int tile_m = $tile_m, tile_n = $tile_n, tile_k = $tile_k;
constexpr int thread_m = $thread_m, thread_n = $thread_n;
constexpr int threads = (tile_m / thread_m) * (tile_n / thread_n);
static_assert(threads == $threads && 4 * tile_k * (tile_m + tile_n) == $smem,
              "space and kernel differ");

extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(gptr<const $dtype> A, gptr<const $dtype> B, gptr<$dtype> C, int M, int N, int K,
                int lda, int ldb, int ldc) {
  const int tid = threadIdx.x, tiles_n = (N + tile_n - 1) / tile_n;
  const int m0 = blockIdx.x / tiles_n * tile_m, n0 = blockIdx.x % tiles_n * tile_n;
  const int row = tid / (tile_n / thread_n) * thread_m, col = tid % (tile_n / thread_n) * thread_n;
  const u32 a_tile = smem_base(), b_tile = a_tile + 4 * tile_k * tile_m;
  float acc[thread_m][thread_n] = {};
  grid_dep_wait();
  grid_dep_launch();
  for (int k0 = 0; k0 < K; k0 += tile_k) {
    for (int i = tid; i < tile_m * tile_k; i += threads) {
      const int m = m0 + i / tile_k, k = k0 + i % tile_k;
      const float a = m < M && k < K ? to_float(ldg<$dtype>(A, $a_at)) : 0.f;
      sts_f32(a_tile + 4 * (i % tile_k * tile_m + i / tile_k), a);
    }
    for (int i = tid; i < tile_k * tile_n; i += threads) {
      const int k = k0 + i / tile_n, n = n0 + i % tile_n;
      const float b = k < K && n < N ? to_float(ldg<$dtype>(B, $b_at)) : 0.f;
      sts_f32(b_tile + 4 * i, b);
    }
    cta_sync();
    for (int k = 0; k < tile_k; ++k) {
      float a[thread_m], b[thread_n];
      UNROLL
      for (int m = 0; m < thread_m; ++m) a[m] = lds_f32(a_tile + 4 * (k * tile_m + row + m));
      UNROLL
      for (int n = 0; n < thread_n; ++n) b[n] = lds_f32(b_tile + 4 * (k * tile_n + col + n));
      UNROLL
      for (int m = 0; m < thread_m; ++m) {
        UNROLL
        for (int n = 0; n < thread_n; ++n) acc[m][n] += a[m] * b[n];
      }
    }
    cta_sync();
  }
  UNROLL
  for (int i = 0; i < thread_m; ++i) {
    UNROLL
    for (int j = 0; j < thread_n; ++j) {
      const int m = m0 + row + i, n = n0 + col + j;
      if (m < M && n < N) stg(C, (i64)m * ldc + n, from_float<$dtype>(acc[i][j]));
    }
  }
}
