// mma.cu -- C = A B on tensor cores through mma.sync: sm_80 and up.
//
// A CTA of warps_m x warps_n warps computes a tile_m x tile_n tile of C; each warp owns a
// warp_m x warp_n part of it as m16n8k16 fragments in registers. Slices of tile_k columns of A and
// rows of B travel through a ring of `stages` shared-memory slots:
//
//   global --cp.async, 16 bytes a thread--> slot --ldmatrix--> fragments --mma.sync--> accumulators
//
// Two overlaps hide the latencies: copies run stages-1 slices ahead, and the fragments of the next
// 16 k are loaded while the present ones multiply (frag[0] and frag[1] take turns).
// Each operand is kept as it lies in global memory, $(a_rows) x $(a_cols) for A and $(b_rows) x $(b_cols)
// for B; ldmatrix.trans turns the ones whose rows run along m or n.
// M, N, K: multiples of 8. What lies outside of A and B is read as zero.
//@ launch { args = {"A", "B", "C", "M", "N", "K", "lda", "ldb", "ldc"}, grid = "tiles",
//@   tile = {tile_m, tile_n}, block = threads, smem = smem, pdl = true,
//@   legal = {m = 8, n = 8, k = 8, ld = 8, align = 16} }
#include "loom.cuh"

constexpr int tile_m = $tile_m, tile_n = $tile_n, tile_k = $tile_k, stages = $stages;
constexpr int warps_m = $warps_m, warps_n = $warps_n, threads = 32 * warps_m * warps_n;
constexpr int warp_m = tile_m / warps_m, warp_n = tile_n / warps_n;
constexpr int frags_m = warp_m / 16, frags_n = warp_n / 16, k_steps = tile_k / 16;
constexpr int group_m = $group_m; // tile rows walked together, so that B is met again in L2
constexpr int a_rows = $a_rows, a_cols = $a_cols; // a slot of A as stored, in elements
constexpr int b_rows = $b_rows, b_cols = $b_cols;
constexpr u32 a_bytes = 2 * tile_m * tile_k, slot_bytes = a_bytes + 2 * tile_n * tile_k;
static_assert(threads == $threads && stages * slot_bytes == $smem, "space and kernel differ");

static_assert(k_steps % 2 == 0 && stages >= 2 && warp_m % 16 == 0 && warp_n % 16 == 0,
              "not a tile for this template");

// Byte offset of 16-byte chunk `chunk` of row `row` in a slot with `cols` elements a row. Chunks are
// permuted within 128 bytes, by the row, so that the eight rows ldmatrix reads lie in eight banks.
template <int cols> LOOM_FN u32 swizzled(int row, int chunk) {
  constexpr int chunks = cols / 8;
  static_assert(chunks == 4 || chunks % 8 == 0, "rows of 32 or a multiple of 64 elements");
  const int turn = chunks >= 8 ? row & 7 : (row >> 1) & 3;
  return 16 * (row * chunks + (chunk ^ turn));
}

// Copies the rows x cols box of `src` at (row0, col0) to shared address dst. A thread's chunks stand
// in one column, `step` rows apart.
template <int rows, int cols>
LOOM_FN void copy_tile(u32 dst, gptr<const $dtype> src, int ld, int row0, int col0, int max_row,
                       int max_col) {
  constexpr int chunks = cols / 8, step = threads / chunks;
  static_assert(threads % chunks == 0 && rows % step == 0, "every thread copies alike");
  const int row = threadIdx.x / chunks, chunk = threadIdx.x % chunks, col = col0 + 8 * chunk;
  i64 at = (i64)(row0 + row) * ld + col;
  UNROLL
  for (int i = 0; i < rows; i += step, at += (i64)step * ld)
    cp_async_16<$dtype>(dst + swizzled<cols>(row + i, chunk), src, at,
                        row0 + row + i < max_row && col < max_col);
}

struct fragments {
  u32 a[frags_m][4], b[frags_n][4];
};

// The 16 k starting at 16 * step of a slot, for the warp whose part begins at (m0, n0).
LOOM_FN void load_fragments(fragments &f, u32 slot, int step, int m0, int n0) {
  const int lane = threadIdx.x % 32, low = lane % 8, odd = lane / 8 % 2, high = lane / 16;
  UNROLL
  for (int i = 0; i < frags_m; ++i) {
    //@ if a_k_major then
    const int row = m0 + 16 * i + 8 * odd + low, chunk = 2 * step + high;
    ldmatrix_x4(f.a[i], slot + swizzled<a_cols>(row, chunk));
    //@ else
    const int row = 16 * step + 8 * high + low, chunk = (m0 + 16 * i) / 8 + odd;
    ldmatrix_x4_trans(f.a[i], slot + swizzled<a_cols>(row, chunk));
    //@ end
  }
  UNROLL
  for (int j = 0; j < frags_n; ++j) {
    //@ if b_k_major then
    const int row = n0 + 16 * j + 8 * high + low, chunk = 2 * step + odd;
    ldmatrix_x4(f.b[j], slot + a_bytes + swizzled<b_cols>(row, chunk));
    //@ else
    const int row = 16 * step + 8 * odd + low, chunk = (n0 + 16 * j) / 8 + high;
    ldmatrix_x4_trans(f.b[j], slot + a_bytes + swizzled<b_cols>(row, chunk));
    //@ end
  }
}

extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(gptr<const $dtype> A, gptr<const $dtype> B, gptr<$dtype> C, int M, int N, int K,
                int lda, int ldb, int ldc) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_m0 = warp % warps_m * warp_m, warp_n0 = warp / warps_m * warp_n;
  const u32 ring = smem_base();

  // Groups of group_m tile rows; inside a group the row changes fastest.
  const int tiles_m = (M + tile_m - 1) / tile_m, tiles_n = (N + tile_n - 1) / tile_n;
  const int group = blockIdx.x / (group_m * tiles_n), in_group = blockIdx.x % (group_m * tiles_n);
  const int rows = min(group_m, tiles_m - group * group_m);
  const int m0 = (group * group_m + in_group % rows) * tile_m, n0 = in_group / rows * tile_n;

  const int k_tiles = (K + tile_k - 1) / tile_k;
  const auto copy_slice = [&](int k_tile) { // of A and B, into the slot it belongs to
    if (k_tile < k_tiles) {
      const u32 slot = ring + k_tile % stages * slot_bytes;
      const int k0 = k_tile * tile_k;
      //@ if a_k_major then
      copy_tile<a_rows, a_cols>(slot, A, lda, m0, k0, M, K);
      //@ else
      copy_tile<a_rows, a_cols>(slot, A, lda, k0, m0, K, M);
      //@ end
      //@ if b_k_major then
      copy_tile<b_rows, b_cols>(slot + a_bytes, B, ldb, n0, k0, N, K);
      //@ else
      copy_tile<b_rows, b_cols>(slot + a_bytes, B, ldb, k0, n0, K, N);
      //@ end
    }
    cp_async_commit(); // an empty group where nothing is left: the waits below count groups
  };

  grid_dep_wait();
  grid_dep_launch();
  ROLLED
  for (int k_tile = 0; k_tile < stages - 1; ++k_tile) copy_slice(k_tile);
  cp_async_wait<stages - 2>();
  cta_sync();
  float acc[frags_m][2 * frags_n][4] = {};
  fragments frag[2];
  load_fragments(frag[0], ring, 0, warp_m0, warp_n0);

  ROLLED
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    UNROLL
    for (int step = 0; step < k_steps; ++step) {
      const bool last = step == k_steps - 1;
      if (last) { // the next slice has arrived, and no warp reads the slot before this one any more
        cp_async_wait<stages - 2>();
        cta_sync();
      }
      const int next_tile = k_tile + last, next_step = (step + 1) % k_steps;
      if (next_tile < k_tiles)
        load_fragments(frag[(step + 1) % 2], ring + next_tile % stages * slot_bytes, next_step,
                       warp_m0, warp_n0);
      if (step == 0) copy_slice(k_tile + stages - 1);
      const fragments &f = frag[step % 2];
      UNROLL
      for (int i = 0; i < frags_m; ++i) {
        UNROLL
        for (int j = 0; j < 2 * frags_n; ++j)
          mma_m16n8k16<$dtype>(acc[i][j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
      }
    }
  }

  // Lane l holds columns 2*(l%4) and +1 of rows l/4 and l/4 + 8 of every 16 x 8 fragment.
  UNROLL
  for (int i = 0; i < frags_m; ++i) {
    UNROLL
    for (int j = 0; j < 2 * frags_n; ++j) {
      const int m = m0 + warp_m0 + 16 * i + lane / 4, n = n0 + warp_n0 + 8 * j + lane % 4 * 2;
      if (n >= N) continue;
      if (m < M) stg_pair(C, (i64)m * ldc + n, pack<$dtype>(acc[i][j][0], acc[i][j][1]));
      if (m + 8 < M) stg_pair(C, (i64)(m + 8) * ldc + n, pack<$dtype>(acc[i][j][2], acc[i][j][3]));
    }
  }
}
