// wgmma_any.cu -- C = A B on Hopper (sm_90a) where TMA cannot be had: any M, N, K, any leading dimension,
// pointers aligned to 2 bytes. Producer warps copy, wgmma multiplies.
//
// A CTA computes tiles of C, tile_m x tile_n each. Its first $producers warpgroup(s) are the producers: they
// load slices of A and B, tile_k deep, as aligned words of 16 bytes, shift them to where they belong,
// and write them into a ring of `stages` slots in shared memory as TMA would have left them. The other
// warpgroups are the consumers: they multiply what has arrived and store the finished tile. Two mbarriers per
// slot keep them in step:
//
//   full[s]   the slot is written                  each producer warp arrives
//   empty[s]  its consumers have read the slot     each consumer arrives
//
// A producer holds its part of a slice in registers, in $(producers == 1 and 4 or 2) batches. As soon as one is written to the slot, the
// same batch of the next slice is asked for: the writing of all the others is the time it has to arrive.
//@ local reads_c = scale == "alpha_beta"
//@ local params = {"gptr<const " .. dtype .. "> A", "gptr<const " .. dtype .. "> B", "gptr<" .. dtype .. "> C"}
//@ local args = {"A", "B", "C", "M", "N", "K", "lda", "ldb", "ldc"}
//@ for i = 4, 9 do params[i] = "int " .. args[i] end
//@ if reads_c then
//@   for i, name in ipairs {"alpha", "beta"} do args[9 + i], params[9 + i] = name, "float " .. name end
//@ end
//@ launch { args = args, grid = grid, tile = {tile_m, tile_n}, block = threads, smem = smem, pdl = true,
//@   legal = {align = 2} }
#include "loom.cuh"

constexpr int tile_m = $tile_m, tile_n = $tile_n, tile_k = $tile_k, stages = $stages;
constexpr int rows = $rows, cols = $cols;             // of a tile, as wgmma sees it
constexpr int wg_rows = $wg_rows, wg_cols = $wg_cols; // of them one consumer's,
constexpr int row_blocks = wg_rows / 64;              // 64 rows to a wgmma
constexpr int producers = $producers, consumers = $consumers;
constexpr int threads = 128 * (producers + consumers);
constexpr int group = $group_m; // tiles walked together, so that what they share is met again in L2
constexpr u32 r_bytes = $r_bytes, slot_bytes = r_bytes + $s_bytes;
static_assert(wg_rows % 64 == 0 && wg_cols % 64 == 0 && tile_k == 64,
              "not a tile for this template");
static_assert(stages >= 2 && (producers == 1 || producers == 2), "not a ring for this template");

// Shared memory: the ring, 16 rows of 64 elements for each warp of a consumer, the barriers.
constexpr u32 chunk_bytes = 2 * 16 * 64;
constexpr u32 chunks_at = stages * slot_bytes;
constexpr u32 full_at = chunks_at + 4 * consumers * chunk_bytes;
constexpr u32 empty_at = full_at + 8 * stages;
static_assert(threads == $threads && empty_at + 8 * stages == $smem, "space and kernel differ");

//@ include "wgmma/multiply.cu"

//@ include "wgmma/gather.cu"

// Where C is, how it is scaled.
struct result_place {
  gptr<$dtype> C;
  int M, N, ldc;
  //@ if reads_c then
  float alpha, beta;
  //@ end
};

//@ if reads_c then
// Two accumulators as they go into C, at (m, n) and the next column.
LOOM_FN u32 scaled(float lo, float hi, const result_place &c, int m, int n) {
  float c_lo = 0.f, c_hi = 0.f;
  if (c.beta != 0.f && m < c.M) {
    const i64 i = (i64)m * c.ldc + n;
    if (n < c.N) c_lo = to_float(ldg<$dtype>(c.C, i));
    if (n + 1 < c.N) c_hi = to_float(ldg<$dtype>(c.C, i + 1));
  }
  return pack<$dtype>(c.alpha * lo + c.beta * c_lo, c.alpha * hi + c.beta * c_hi);
}

//@ end
//@ local per_unit, more = acc == "f16" and 2 or 4, reads_c and ", const result_place &c, int m, int n" or ""
// The thread's two results in 64-row block i, unit u of 8 columns; half: rows 0..7 or 8..15 of its warp's.
template <int w> LOOM_FN u32 result(const accumulators<w> &acc, int i, int u, int half$more) {
  const auto &f = acc[i][8 * u / piece(w)];
  const int at = 8 * u % piece(w) / 8 * $per_unit;
  //@ if acc == "f16" and reads_c then
  const u32 both = f[at + half];
  return scaled(unpack_lo<$dtype>(both), unpack_hi<$dtype>(both), c, m + 8 * half, n + 8 * u);
  //@ elseif acc == "f16" then
  return f[at + half];
  //@ elseif reads_c then
  return scaled(f[at + 2 * half], f[at + 2 * half + 1], c, m + 8 * half, n + 8 * u);
  //@ else
  return pack<$dtype>(f[at + 2 * half], f[at + 2 * half + 1]);
  //@ end
}

// Stores 16 x 64 results from a warp's chunk to (m, n). Aligned rows: eight lanes a row, 16 bytes each.
LOOM_FN void store_aligned(const result_place &c, u32 chunk, int m, int n) {
  const int lane = threadIdx.x % 32, word = lane % 8;
  n += 8 * word;
  ROLLED
  for (int row = lane / 8; row < 16; row += 4) {
    const words<4> v = lds_words<4>(chunk + 128 * row + 16 * (word ^ (row & 7)));
    const i64 at = (i64)(m + row) * c.ldc + n;
    if (m + row >= c.M) continue;
    if (n + 8 <= c.N) {
      stg_words<4>(c.C, at, v);
    } else {
      UNROLL
      for (int e = 0; e < 8; ++e)
        if (n + e < c.N) stg<$dtype>(c.C, at + e, {(u16)(v.w[e / 2] >> e % 2 * 16)});
    }
  }
}

// The same for rows that may begin at any element: the warp stores a row as aligned pairs. Where it begins
// at an odd one, a lane's pair is its neighbour's upper and its own lower half, and the row's ends go alone.
LOOM_FN void store_pairs(const result_place &c, u32 chunk, int m, int n) {
  const int lane = threadIdx.x % 32, past = gptr_past_16(c.C) / 2, length = min(c.N - n, 64);
  ROLLED
  for (int from = 0; from < 16; from += 4) {
    u32 own[4], before[4];
    UNROLL
    for (int i = 0; i < 4; ++i) {
      const int row = from + i;
      own[i] = lds_words<1>(chunk + 128 * row + 16 * (lane / 4 ^ (row & 7)) + lane % 4 * 4).w[0];
    }
    UNROLL
    for (int i = 0; i < 4; ++i) before[i] = shfl(own[i], (lane + 31) % 32);
    UNROLL
    for (int i = 0; i < 4; ++i) {
      const i64 at = (i64)(m + from + i) * c.ldc + n;
      const int odd = (int)(past + at) & 1, first = 2 * lane - odd;
      if (m + from + i >= c.M) continue;
      const u32 pair = odd ? before[i] >> 16 | own[i] << 16 : own[i];
      if (first >= 0 && first + 1 < length) stg_pair(c.C, at + first, pair);
      int alone = first + 1 == length ? first : 64;
      u32 last = pair;
      if (odd && lane == 0) alone = 0, last = own[i];
      if (odd && lane == 31 && length == 64) alone = 63, last = own[i] >> 16;
      if (alone < length) stg<$dtype>(c.C, at + alone, {(u16)last});
    }
  }
}

// Stores w columns of this consumer's rows of a tile, those from (m, n) on, each warp its own 16 rows of every
// 64: stmatrix puts 16-byte pieces where the row swizzles them, from where whole rows are stored.
template <int w>
LOOM_FN void store_tile(const accumulators<w> &acc, const result_place &c, u32 chunk, int m,
                        int n) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  const bool aligned = gptr_past_16(c.C) == 0 && c.ldc % 8 == 0;
  //@ local place = reads_c and ", c, m + 64 * i + 16 * warp + lane / 4, n + lane % 4 * 2" or ""
  UNROLL
  for (int i = 0; i < row_blocks; ++i) {
    UNROLL
    for (int j = 0; j < w; j += 64) {
      UNROLL
      for (int p = 0; p < 8; p += 2) {
        const int row = lane % 16, column = p + lane / 16;
        const u32 to = chunk + 128 * row + 16 * (column ^ (row & 7));
        const int u = j / 8 + p;
        stmatrix_x4(to, result<w>(acc, i, u, 0 $place), result<w>(acc, i, u, 1 $place),
                    result<w>(acc, i, u + 1, 0 $place), result<w>(acc, i, u + 1, 1 $place));
      }
      warp_sync();
      if (aligned)
        store_aligned(c, chunk, m + 64 * i + 16 * warp, n + j);
      else
        store_pairs(c, chunk, m + 64 * i + 16 * warp, n + j);
      warp_sync();
    }
  }
}

//@ local function line(name) -- the lines of an operand, and how long they are
//@   local dim = name == "A" and "M" or "N"
//@   local k_major = b_k_major
//@   if name == "A" then k_major = a_k_major end
//@   return k_major and dim .. ", K" or "K, " .. dim
//@ end
extern "C" __global__ void __launch_bounds__(threads, 1)
    loom_kernel($(table.concat(params, ",\n                "))) {
  const u32 ring = smem_base(), full = ring + full_at, empty = ring + empty_at;
  const int tiles_m = (M + tile_m - 1) / tile_m, tiles_n = (N + tile_n - 1) / tile_n;
  const int tiles = tiles_m * tiles_n, k_tiles = (K + tile_k - 1) / tile_k;
  const int warpgroup = warpgroup_index();

  if (threadIdx.x == 0) {
    ROLLED
    for (int s = 0; s < stages; ++s) {
      mbar_init(full + 8 * s, 4 * producers);
      mbar_init(empty + 8 * s, consumers);
    }
    fence_mbar_init();
  }
  cta_sync();
  grid_dep_launch();

  if (warpgroup < producers) { // ---- the producers
    grid_dep_wait();
    const int warp = (int)shfl((u32)threadIdx.x / 32, 0);
    const source a = source_of(A, lda, $(line "A")), b = source_of(B, ldb, $(line "B"));
    held<tile_m> held_a;
    held<tile_n> held_b;
    begin_held(held_a, a, warp);
    begin_held(held_b, b, warp);
    ring_position at = {0, 0};
    int item = blockIdx.x, k = 0;
    tile_origin to = locate(item, tiles_m, tiles_n);
    bool more = item < tiles, holds = false; // is there a slice to load; to write
    ROLLED
    while (more || holds) {
      const u32 slot = ring + at.slot * slot_bytes;
      if (holds) mbar_wait(empty + 8 * at.slot, at.parity ^ 1);
      const int m = to.m * tile_m, n = to.n * tile_n;
      const u32 bar = full + 8 * at.slot;
      //@ local a_major, b_major = tostring(a_k_major), tostring(b_k_major)
      next_slice<$a_major, false>(held_a, a, slot, bar, m, k, warp, holds, more);
      next_slice<$b_major, true>(held_b, b, slot + r_bytes, bar, n, k, warp, holds, more);
      if (holds) at.step();
      holds = more;
      k += tile_k;
      if (k >= K) {
        k = 0, item += gridDim.x;
        more = item < tiles;
        if (more) to = locate(item, tiles_m, tiles_n);
      }
    }
  } else { // ---- the consumers
    const int consumer = warpgroup - producers;
    const bool leader = threadIdx.x % 128 == 0;
    const result_place c = {C, M, N, ldc$(reads_c and ", alpha, beta" or "")};
    const u32 chunk = ring + chunks_at + (threadIdx.x / 32 - 4 * producers) * chunk_bytes;
    ring_position at = {0, 0};
    //@ local function apart(k_major, count) -- bytes from one row of an operand to the one `count` further on
    //@   if k_major then return count .. " * 128" end
    //@   return count .. " / 64 * (128 * tile_k)"
    //@ end
    ROLLED
    for (int item = blockIdx.x; item < tiles; item += gridDim.x) {
      tile_origin to = locate(item, tiles_m, tiles_n);
      to.m *= tile_m, to.n *= tile_n;
      u32 r = ring, s = ring + r_bytes;
      //@ if split == "cols" then
      s += consumer * ($(apart(s_k_major, "wg_cols")));
      to.n += consumer * wg_cols;
      //@ else
      r += consumer * ($(apart(r_k_major, "wg_rows")));
      to.m += consumer * wg_rows;
      //@ end
      accumulators<wg_cols> acc;
      const int slot = multiply_tile<wg_cols>(acc, r, s, full, empty, at, k_tiles, leader);
      wgmma_wait<0>();
      if (leader) mbar_arrive(empty + 8 * slot);
      store_tile<wg_cols>(acc, c, chunk, to.m, to.n);
    }
  }
}
