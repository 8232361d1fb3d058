// dsmem.cu -- C = A B by clusters of two CTAs that share a tile's k, on Hopper (sm_90a).
//
// Both CTAs of a cluster work at the same 64 x 64 tile: CTA 0 takes the even slices of k, CTA 1 the
// odd ones. Then CTA 1 hands its sums over through the cluster's shared memory, CTA 0 adds its own
// and writes C. How they are handed over (`push` = $push):
//@ if push == "st_async" then
//   st.async writes them into CTA 0's memory; its mbarrier counts the bytes.
//@ elseif push == "bulk" then
//   one bulk copy from CTA 1's memory into CTA 0's; the mbarrier there counts the bytes.
//@ elseif push == "stc" then
//   plain stores into CTA 0's memory, ordered by the cluster's barrier.
//@ else
//   CTA 1 keeps them in its own memory, CTA 0 reads them there.
//@ end
// Layout tn; M, N, K: multiples of 8.
//@ local bar = push == "st_async" or push == "bulk"
//@ launch { args = {"tmap_a", "tmap_b", "C", "M", "N", "K", "ldc"}, grid = "tiles", tile = {tile_m, tile_n},
//@   split_k = 2, cluster = 2, block = threads, smem = smem, pdl = true,
//@   tensors = {
//@     {name = "tmap_a", operand = "A", dims = {"K", "M"}, stride = "lda", box = {64, 64}, swizzle = 128},
//@     {name = "tmap_b", operand = "B", dims = {"K", "N"}, stride = "ldb", box = {64, 64}, swizzle = 128},
//@   },
//@   legal = {m = 8, n = 8, k = 8, ld = 8, align = 16} }
#include "loom.cuh"

constexpr int tile = 64, tile_k = 64, threads = 128, slots = 2;
constexpr u32 box_bytes = 2 * tile * tile_k, slot_bytes = 2 * box_bytes;
constexpr u32 sums_at = slots * slot_bytes; // the sums that are handed over, as registers hold them
constexpr u32 sums_bytes = 4 * tile * tile;
constexpr u32 full_at = sums_at + sums_bytes, pushed_at = full_at + 8 * slots;
static_assert(threads == $threads && pushed_at + 8 == $smem, "space and kernel differ");

LOOM_FN u32 bits(float x) { return __builtin_bit_cast(u32, x); }
LOOM_FN float number(u32 x) { return __builtin_bit_cast(float, x); }

LOOM_FN void multiply_slot(float (&acc)[tile / 2], u32 a, u32 b) {
  const u64 desc_a = smem_desc(a, 16, 1024), desc_b = smem_desc(b, 16, 1024);
  wgmma_fence();
  UNROLL
  for (int k = 0; k < tile_k / 16; ++k)
    wgmma<$dtype, tile, K_MAJOR, K_MAJOR>(acc, desc_a + k * (32 / 16), desc_b + k * (32 / 16), 1);
  wgmma_commit();
  wgmma_wait<0>();
}

extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(const __grid_constant__ tensor_map tmap_a,
                const __grid_constant__ tensor_map tmap_b, gptr<$dtype> C, int M, int N, int K,
                int ldc) {
  const u32 ring = smem_base(), sums = ring + sums_at;
  const u32 full = ring + full_at, pushed = ring + pushed_at;
  const int tiles_n = (N + tile - 1) / tile, at = blockIdx.x / 2, rank = (int)cluster_rank();
  const int m0 = at / tiles_n * tile, n0 = at % tiles_n * tile;
  const int slices = ((K + tile_k - 1) / tile_k + 1 - rank) / 2; // of this CTA: rank, rank + 2, ...

  if (threadIdx.x == 0) {
    for (int s = 0; s < slots; ++s) mbar_init(full + 8 * s, 1);
    mbar_init(pushed, 1);
    fence_mbar_init();
    //@ if bar then
    if (rank == 0) mbar_expect_tx(pushed, sums_bytes);
    //@ end
  }
  cluster_sync(); // the other CTA runs, and its barriers are ready
  grid_dep_wait();
  grid_dep_launch();

  const auto load = [&](int i) {
    const u32 a = ring + i % slots * slot_bytes, bar = full + 8 * (i % slots);
    const int k = (2 * i + rank) * tile_k;
    mbar_expect_tx(bar, slot_bytes);
    tma_load_2d(a, &tmap_a, k, m0, bar);
    tma_load_2d(a + box_bytes, &tmap_b, k, n0, bar);
  };
  if (threadIdx.x == 0)
    for (int i = 0; i < min(slots, slices); ++i) load(i);
  float acc[tile / 2] = {};
  ROLLED
  for (int i = 0; i < slices; ++i) {
    const u32 a = ring + i % slots * slot_bytes;
    mbar_wait(full + 8 * (i % slots), i / slots & 1);
    multiply_slot(acc, a, a + box_bytes);
    cta_sync(); // nobody reads the slot any more
    if (threadIdx.x == 0 && i + slots < slices) load(i + slots);
  }

  const auto place = [&](int j) { return sums + 16 * (128 * j + (u32)threadIdx.x); };
  if (rank == 1) {
    UNROLL
    for (int j = 0; j < tile / 8; ++j) {
      const float *d = &acc[4 * j];
      const words<4> w = {{bits(d[0]), bits(d[1]), bits(d[2]), bits(d[3])}};
      //@ if push == "st_async" then
      st_async<4>(map_shared(place(j), 0), w, map_shared(pushed, 0));
      //@ elseif push == "stc" then
      stc_words<4>(map_shared(place(j), 0), w);
      //@ else
      sts_words<4>(place(j), w);
      //@ end
    }
    //@ if push == "bulk" then
    fence_proxy_async();
    cta_sync();
    if (threadIdx.x == 0) bulk_push(map_shared(sums, 0), sums, sums_bytes, map_shared(pushed, 0));
    //@ end
  }
  //@ if not bar then
  cluster_sync(); // the sums are written
  //@ end
  if (rank == 0) {
    //@ if bar then
    mbar_wait_cluster(pushed, 0);
    //@ end
    UNROLL
    for (int j = 0; j < tile / 8; ++j) {
      //@ if push == "ldc" then
      const words<4> w = ldc_words<4>(map_shared(place(j), 1));
      //@ else
      const words<4> w = lds_words<4>(place(j));
      //@ end
      UNROLL
      for (int i = 0; i < 4; ++i) acc[4 * j + i] += number(w.w[i]);
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    UNROLL
    for (int j = 0; j < tile / 8; ++j) {
      const int m = m0 + 16 * warp + lane / 4, n = n0 + 8 * j + lane % 4 * 2;
      if (n >= N) continue;
      if (m < M) stg_pair(C, (i64)m * ldc + n, pack<$dtype>(acc[4 * j], acc[4 * j + 1]));
      if (m + 8 < M)
        stg_pair(C, (i64)(m + 8) * ldc + n, pack<$dtype>(acc[4 * j + 2], acc[4 * j + 3]));
    }
  }
  //@ if push == "ldc" or push == "bulk" then
  cluster_sync(); // CTA 1's memory must outlive what reads it
  //@ end
}
