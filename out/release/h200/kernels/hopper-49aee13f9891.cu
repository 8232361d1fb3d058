// hopper: TMA + wgmma, warp-specialised, persistent
// key   hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=5,group_m=1
// hash  49aee13f9891   template wgmma.cu
// again make gen KEY='hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=5,group_m=1'

// wgmma.cu -- C = A B on Hopper (sm_90a): TMA copies, wgmma multiplies, each by warps of its own.
//
// The CTA is persistent: it computes tiles of C, tile_m x tile_n each, until none are left. Its first
// warpgroup is the producer: one thread asks the TMA engine for slices of A and B, 64 k deep, into
// a ring of `stages` slots in shared memory. The other warpgroups are the consumers: they multiply
// what has arrived and store the finished tile. Two mbarriers per slot keep them in step:
//
//   full[s]   the slot's bytes have landed         producer waits on empty[s], then fills
//   empty[s]  its consumers have read the slot     consumers wait on full[s], then multiply
//
// Pingpong: the two consumers take turns, a whole tile each. While one stores its tile, the other
// has the tensor cores to itself; a pair of named barriers passes the turn.
// A tile leaves through shared memory in chunks of 64 x 64: stmatrix, then a TMA store that runs on
// while the next chunk is converted. What lies outside of A, B or C is read as zero or not written.
// M, N, K: any multiple of 8.
#include "loom.cuh"

constexpr int tile_m = 128, tile_n = 128, tile_k = 64, stages = 5;
constexpr int consumers = 2, threads = 128 * (1 + consumers);
constexpr int wg_m = 128;         // rows of C that one consumer multiplies,
constexpr int blocks_m = wg_m / 64; // 64 to a wgmma
constexpr int group_m = 1;   // tile rows walked together, so that B is met again in L2
constexpr u32 a_bytes = 2 * tile_m * tile_k, slot_bytes = a_bytes + 2 * tile_n * tile_k;
constexpr int chunk_buffers = 2; // 64 x 64 chunks of C in flight, per consumer
constexpr u32 chunk_bytes = 2 * 64 * 64;

static_assert(wg_m % 64 == 0 && tile_m <= 256 && tile_n % 64 == 0 && tile_n <= 256 && stages >= 2,
              "not a tile for this template");

// Shared memory: the ring, the chunks, the barriers.
constexpr u32 chunks_at = stages * slot_bytes;
constexpr u32 full_at = chunks_at + consumers * chunk_buffers * chunk_bytes;
constexpr u32 empty_at = full_at + 8 * stages;
static_assert(threads == 384 && empty_at + 8 * stages == 196688, "space and kernel differ");

// A position in the ring: the slot, and the parity of the round, which the barriers count by.
struct ring_position {
  int slot;
  u32 parity;
  __device__ void advance(int steps) {
    const int next = slot + steps;
    parity ^= next / stages & 1;
    slot = next % stages;
  }
  __device__ void step() {
    if (++slot == stages) slot = 0, parity ^= 1;
  }
};

struct tile_origin {
  int m, n;
};

// Tiles in groups of group_m tile rows; inside a group the row changes fastest.
LOOM_FN tile_origin locate(int tile, int tiles_m, int tiles_n) {
  const int group = tile / (group_m * tiles_n), in_group = tile % (group_m * tiles_n);
  const int rows = min(group_m, tiles_m - group * group_m);
  return {(group * group_m + in_group % rows) * tile_m, in_group / rows * tile_n};
}

// Queues the 64 x 64 x 16 multiplications of one slot for this consumer's rows.
LOOM_FN void multiply_slot(float (&acc)[blocks_m][tile_n / 2], u32 a, u32 b, bool add) {
  const u64 desc_a = smem_desc(a, 16, 1024);
  const u64 desc_b = smem_desc(b, 16, 1024);
  constexpr int b_step = 32 / 16, b_major = K_MAJOR; // 16 k: 32 bytes along the row
  wgmma_fence();
  UNROLL
  for (int k = 0; k < tile_k / 16; ++k) {
    UNROLL
    for (int i = 0; i < blocks_m; ++i)
      wgmma<f16, tile_n, K_MAJOR, b_major>(acc[i], desc_a + i * (64 * 128 / 16) + k * (32 / 16),
                                              desc_b + k * b_step, add || k > 0);
  }
  wgmma_commit();
}

// Stores this consumer's rows of the tile at (m, n), chunk by chunk. `next` counts chunk buffers.
LOOM_FN void store_tile(const float (&acc)[blocks_m][tile_n / 2], const tensor_map *tmap_c,
                        u32 chunks, int &next, int m, int n, int consumer) {
  const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  const int row = 16 * warp + lane % 16;
  UNROLL
  for (int i = 0; i < blocks_m; ++i) {
    UNROLL
    for (int j = 0; j < tile_n / 64; ++j) {
      const u32 chunk = chunks + next * chunk_bytes;
      next = (next + 1) % chunk_buffers;
      if (thread == 0)
        tma_store_wait_read<chunk_buffers - 1>(); // the chunk's last store has read it
      named_sync(1 + consumer, 128);
      UNROLL
      for (int p = 0; p < 4; ++p) { // 16 columns at a time, 16-byte pieces swizzled by the row
        const float *f = &acc[i][32 * j + 8 * p];
        stmatrix_x4(chunk + 128 * row + 16 * ((2 * p + lane / 16) ^ (row & 7)),
                    pack<f16>(f[0], f[1]), pack<f16>(f[2], f[3]), pack<f16>(f[4], f[5]),
                    pack<f16>(f[6], f[7]));
      }
      fence_proxy_async();
      named_sync(1 + consumer, 128);
      if (thread == 0) {
        tma_store_2d(tmap_c, chunk, n + 64 * j, m + 64 * i);
        tma_store_commit();
      }
    }
  }
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    loom_kernel(const __grid_constant__ tensor_map tmap_a,
                const __grid_constant__ tensor_map tmap_b,
                const __grid_constant__ tensor_map tmap_c, int M, int N, int K) {
  const u32 ring = smem_base(), full = ring + full_at, empty = ring + empty_at;
  const int tiles_m = (M + tile_m - 1) / tile_m, tiles_n = (N + tile_n - 1) / tile_n;
  const int tiles = tiles_m * tiles_n, k_tiles = (K + tile_k - 1) / tile_k;
  const int warpgroup = warpgroup_index();

  if (threadIdx.x == 0) {
    ROLLED
    for (int s = 0; s < stages; ++s) {
      mbar_init(full + 8 * s, 1);
      mbar_init(empty + 8 * s, 1);
    }
    fence_mbar_init();
    prefetch_tensor_map(&tmap_a);
    prefetch_tensor_map(&tmap_b);
  }
  cta_sync();
  grid_dep_launch();

  if (warpgroup == 0) { // ---- the producer
    setmaxnreg_dec<40>();
    if (threadIdx.x == 0) {
      grid_dep_wait();
      ring_position at = {0, 0};
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const tile_origin to = locate(tile, tiles_m, tiles_n);
        ROLLED
        for (int k = 0; k < k_tiles * tile_k; k += tile_k, at.step()) {
          const u32 a = ring + at.slot * slot_bytes, b = a + a_bytes, bar = full + 8 * at.slot;
          mbar_wait(empty + 8 * at.slot, at.parity ^ 1);
          mbar_expect_tx(bar, slot_bytes);
          tma_load_2d(a, &tmap_a, k, to.m, bar);
          tma_load_2d(b, &tmap_b, k, to.n, bar);
        }
      }
    }
  } else { // ---- the consumers
    setmaxnreg_inc<232>();
    const int consumer = warpgroup - 1;
    const bool leader = threadIdx.x % 128 == 0;
    const u32 chunks = ring + chunks_at + consumer * chunk_buffers * chunk_bytes;
    float acc[blocks_m][tile_n / 2];
    int next_chunk = 0;
    ring_position at = {0, 0};
    constexpr int turn = 4; // named barriers 4 and 5: it is consumer 0's, consumer 1's turn
    if (consumer == 1) {
      named_arrive(turn, 256);
      at.advance(k_tiles); // the first tile is the other consumer's
    }
    for (int tile = blockIdx.x + consumer * gridDim.x; tile < tiles; tile += 2 * gridDim.x) {
      named_sync(turn + consumer, 256);
      const tile_origin to = locate(tile, tiles_m, tiles_n);
      int last_slot = 0;
      ROLLED
      for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
        mbar_wait(full + 8 * at.slot, at.parity);
        const u32 a = ring + at.slot * slot_bytes, b = a + a_bytes;
        multiply_slot(acc, a, b, k_tile > 0);
        wgmma_wait<1>(); // all but the newest are done, so the slot before this one is free
        if (leader && k_tile > 0) mbar_arrive(empty + 8 * last_slot);
        last_slot = at.slot;
        at.step();
      }
      named_arrive(turn + (consumer ^ 1), 256);
      at.advance(k_tiles); // past the other consumer's tile
      wgmma_wait<0>();
      if (leader) mbar_arrive(empty + 8 * last_slot);
      store_tile(acc, &tmap_c, chunks, next_chunk, to.m, to.n, consumer);
    }
    if (leader) tma_store_wait_read<0>(); // shared memory must outlive the stores' reads
  }
}
