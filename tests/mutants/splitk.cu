// splitk.cu -- C = alpha A B + beta C, the k of every tile shared out among `splits` CTAs: sm_80 and up.
//
// A CTA multiplies its share of k and leaves the partial 32 x 32 tile in the workspace.
//@ if order == "wait" then
// A flag for each says that it is there: the CTA with the first share waits for the others' flags,
// takes them back, adds all partial tiles up and writes C. So all CTAs must be resident.
//@ else
// A counter for each tile says how many have: the CTA that arrives last adds all partial tiles up, in
// the order of the shares, and writes C. Nobody waits for anybody, and the counter, which counts to
// splits - 1 and then begins at 0 again, is ready for the next launch.
//@ end
// Layout tn; M, N, K: multiples of 8; at most $room tiles.
//@ launch { args = {"A", "B", "C", "M", "N", "K", "lda", "ldb", "ldc", "alpha", "beta", "ws"},
//@   grid = "tiles", tile = {tile_m, tile_n}, split_k = splits, block = threads, smem = smem, pdl = true,
//@   workspace = {bytes = ws_bytes, init = "zero"}, legal = {m = 8, n = 8, k = 8, ld = 8, align = 16, resident = order == "wait"} }
#include "loom.cuh"

constexpr int tile = 32, tile_k = 32, splits = $splits, threads = 128; // 2 x 2 warps, 16 x 16 each
constexpr u32 pitch = 2 * tile_k + 16; // bytes of a row: ldmatrix meets every bank once
constexpr u32 b_at = tile * pitch, flag_at = 2 * tile * pitch;
constexpr i64 partials_at = $counter_bytes; // of the workspace, behind the counters or flags
static_assert(threads == $threads && flag_at + 16 == $smem, "space and kernel differ");

LOOM_FN u32 bits(float x) { return __builtin_bit_cast(u32, x); }
LOOM_FN float number(u32 x) { return __builtin_bit_cast(float, x); }

// Copies 32 rows of 32 k, from (row0, k0) on, 16 bytes a thread.
LOOM_FN void copy_rows(u32 dst, gptr<const $dtype> src, int ld, int row0, int max_row, int k0,
                       int k_end) {
  const int row = threadIdx.x / 4, k = threadIdx.x % 4 * 8;
  words<4> w = {};
  if (row0 + row < max_row && k0 + k < k_end)
    w = ldg_words<4>(src, (i64)(row0 + row) * ld + k0 + k);
  sts_words<4>(dst + pitch * row + 2 * k, w);
}

LOOM_FN void multiply(float (&acc)[2][4], u32 a, u32 b) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const u32 a_row = 16 * (warp / 2) + lane % 16, b_row = 16 * (warp % 2) + lane % 8 + lane / 16 * 8;
  UNROLL
  for (int step = 0; step < tile_k / 16; ++step) {
    u32 f[4], g[4];
    ldmatrix_x4(f, a + pitch * a_row + 32 * step + lane / 16 * 16);
    ldmatrix_x4(g, b + pitch * b_row + 32 * step + lane / 8 % 2 * 16);
    mma_m16n8k16<$dtype>(acc[0], f, g[0], g[1]);
    mma_m16n8k16<$dtype>(acc[1], f, g[2], g[3]);
  }
}

extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(gptr<const $dtype> A, gptr<const $dtype> B, gptr<$dtype> C, int M, int N, int K,
                int lda, int ldb, int ldc, float alpha, float beta, gptr<u32> ws) {
  const u32 a = smem_base(), b = a + b_at;
  //@ if order ~= "wait" then
  const u32 flag = a + flag_at;
  //@ end
  const int tiles_n = (N + tile - 1) / tile, at = blockIdx.x / splits, split = blockIdx.x % splits;
  const int m0 = at / tiles_n * tile, n0 = at % tiles_n * tile;
  const int share = ((K + tile_k - 1) / tile_k + splits - 1) / splits * tile_k;
  const int k_end = min(K, (split + 1) * share);
  const auto part_of = [&](int s) { return 8 * ((at * splits + s) * threads + (i64)threadIdx.x); };

  grid_dep_wait();
  grid_dep_launch();
  float acc[2][4] = {};
  for (int k0 = split * share; k0 < k_end; k0 += tile_k) {
    copy_rows(a, A, lda, m0, M, k0, k_end);
    copy_rows(b, B, ldb, n0, N, k0, k_end);
    cta_sync();
    multiply(acc, a, b);
    cta_sync();
  }

  const gptr<float> partials = gptr_at<float>(ws, partials_at);
  UNROLL
  for (int j = 0; j < 2; ++j) {
    const words<4> w = {{bits(acc[j][0]), bits(acc[j][1]), bits(acc[j][2]), bits(acc[j][3])}};
    stg_words<4>(partials, part_of(split) + 4 * j, w);
  }
  cta_sync(); // the whole partial tile is written, and the arrival releases it
  //@ if order == "wait" then
  const i64 flags = (i64)at * splits;
  if (split > 0) {
    if (threadIdx.x == 0) st_release(ws, flags + split, 1);
    return;
  }
  if (threadIdx.x == 0) {
    for (int s = 1; s < splits; ++s) {
      while (ld_acquire(ws, flags + s) == 0) {}
      st_release(ws, flags + s, 0); // for the next launch
    }
  }
  cta_sync();
  //@ else
  if (threadIdx.x == 0) {
    //@ if order == "fence" then
    fence_gpu();
    const u32 before = atom_inc(ws, at, splits - 1);
    fence_gpu();
    //@ else
    const u32 before = atom_inc_acq_rel(ws, at, splits - 1);
    //@ end
    sts_words<1>(flag, words<1>{{before}});
  }
  cta_sync();
  if (lds_words<1>(flag).w[0] != splits - 1) return;
  //@ end

  UNROLL
  for (int j = 0; j < 2; ++j) {
    UNROLL
    for (int i = 0; i < 4; ++i) acc[j][i] = 0.f;
  }
  for (int s = 0; s < splits; ++s) {
    UNROLL
    for (int j = 0; j < 2; ++j) {
      const words<4> w = ldg_words<4>(gptr<const float>(partials), part_of(s) + 4 * j);
      UNROLL
      for (int i = 0; i < 4; ++i) acc[j][i] += number(w.w[i]);
    }
  }

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  UNROLL
  for (int j = 0; j < 2; ++j) {
    UNROLL
    for (int i = 0; i < 4; ++i) { // as in mma.cu: rows lane/4 and + 8, two columns
      const int m = m0 + warp / 2 * 16 + lane / 4 + i / 2 * 8;
      const int n = n0 + warp % 2 * 16 + j * 8 + lane % 4 * 2 + i % 2;
      if (m >= M || n >= N) continue;
      const i64 to = (i64)m * ldc + n;
      float v = alpha * acc[j][i];
      if (beta != 0.f) v += beta * to_float(ldg<$dtype>(C, to)); // with beta 0, C may hold anything
      stg(C, to, from_float<$dtype>(v));
    }
  }
}
