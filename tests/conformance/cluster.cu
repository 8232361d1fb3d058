// cluster.cu -- CTAs of a cluster: ranks, each other's shared memory and barriers, multicast.
#include "case.h"

LOOM_FN int at_cta(int words) { return (int)blockIdx.x * words; }

CASE(cluster_rank__all) {
  if (thread() == 0) {
    stg<u32>(out, 2 * blockIdx.x, cluster_rank());
    stg<u32>(out, 2 * blockIdx.x + 1, cluster_size());
  }
}
// Every CTA reads its neighbour's words, in pieces of all sizes.
CASE(ldc_words__neighbour) {
  u32 at = smem_base() + 256, size = cluster_size();
  fill(at, in, at_cta(128), 128);
  cluster_arrive();
  cluster_wait();
  u32 there = map_shared(at, (cluster_rank() + 1) % size);
  int to = at_cta(224);
  stg_words<1>(out, to + thread(), ldc_words<1>(there + 4 * (31 - thread())));
  stg_words<2>(out, to + 32 + 2 * thread(), ldc_words<2>(there + 8 * (thread() ^ 3)));
  stg_words<4>(out, to + 96 + 4 * thread(), ldc_words<4>(there + 16 * (thread() ^ 7)));
  cluster_sync();
}
CASE(stc_words__neighbour) {
  u32 at = smem_base() + 256, size = cluster_size();
  clear(at, 256);
  cluster_sync();
  u32 there = map_shared(at, (cluster_rank() + size - 1) % size);
  int from = at_cta(128);
  stc_words<1>(there + 4 * (31 - thread()), ldg_words<1>(in, from + thread()));
  stc_words<2>(there + 128 + 8 * (thread() ^ 3), ldg_words<2>(in, from + 2 * thread()));
  stc_words<4>(there + 384 + 16 * (thread() ^ 7), ldg_words<4>(in, from + 4 * thread()));
  cluster_sync();
  dump(out, at_cta(256), at, 224);
}
// map_shared of one's own rank, and an address within an array.
CASE(map_shared__own) {
  u32 at = smem_base() + 64;
  fill(at, in, at_cta(32), 32);
  cluster_sync();
  u32 own = map_shared(at, cluster_rank());
  u32 other = map_shared(at + 4 * thread(), cluster_rank() ^ 1);
  stg<u32>(out, at_cta(64) + thread(), ldc_words<1>(own + 4 * thread()).w[0]);
  stg<u32>(out, at_cta(64) + 32 + thread(), ldc_words<1>(other).w[0]);
  cluster_sync();
}

// ---- barriers of other CTAs ------------------------------------------------------------------------

LOOM_FN void init_bar(u32 bar, u32 arrivals) {
  if (thread() == 0) {
    mbar_init(bar, arrivals);
    fence_mbar_init();
  }
}

CASE(mbar_arrive_cluster__all) {
  u32 bar = smem_base(), size = cluster_size();
  init_bar(bar, 3 * size);
  cluster_sync();
  if (thread() < (int)size) // of every CTA, three arrivals at every barrier
    for (int i = 0; i < 3; i++) mbar_arrive_cluster(map_shared(bar, thread()));
  bool done = await(bar, 0);
  if (done) mbar_wait_cluster(bar, 0);
  stg<u32>(out, at_cta(64) + thread(), done);
  stg<u32>(out, at_cta(64) + 32 + thread(), mbar_try(bar, 1));
  cluster_sync();
}
CASE(mbar_arrive_peer__all) {
  u32 bar = smem_base(), size = cluster_size();
  init_bar(bar, 3 * size);
  cluster_sync();
  if (thread() < (int)size)
    for (int i = 0; i < 3; i++) mbar_arrive_peer(map_shared(bar, thread()));
  bool done = await(bar, 0);
  stg<u32>(out, at_cta(64) + thread(), done);
  stg<u32>(out, at_cta(64) + 32 + thread(), mbar_try(bar, 1));
  cluster_sync();
}
// A word goes round by stores and arrivals: each CTA hands on what it got, plus its own.
CASE(mbar_wait_cluster__chain) {
  u32 bar = smem_base(), at = bar + 64, rank = cluster_rank(), size = cluster_size();
  init_bar(bar, 32);
  cluster_sync();
  u32 v = ldg<u32>(in, at_cta(32) + thread());
  bool done = true;
  if (rank > 0) {
    done = await(bar, 0);
    if (done) mbar_wait_cluster(bar, 0);
    if (done) v += load(at + 4 * thread());
  }
  stg<u32>(out, at_cta(32) + thread(), done ? v : 0xbad);
  if (rank + 1 < size) {
    stc_words<1>(map_shared(at + 4 * (thread() ^ 1), rank + 1), same<1>(v));
    mbar_arrive_cluster(map_shared(bar, rank + 1));
  }
  cluster_sync();
}

#define CASE_ST_ASYNC(name, n)                                                                     \
  CASE(name) {                                                                                     \
    u32 bar = smem_base(), at = bar + 256, peer = cluster_rank() ^ 1;                              \
    init_bar(bar, 1);                                                                              \
    cluster_sync();                                                                                \
    if (thread() == 0) mbar_expect_tx(bar, 32 * 4 * n);                                            \
    st_async<n>(map_shared(at + 4 * n * (31 - thread()), peer),                                    \
                ldg_words<n>(in, at_cta(32 * n) + n * thread()), map_shared(bar, peer));           \
    bool done = await(bar, 0);                                                                     \
    if (done) mbar_wait_cluster(bar, 0);                                                           \
    stg<u32>(out, at_cta(160) + thread(), done);                                                   \
    if (done) dump(out, at_cta(160) + 32, at, 32 * n);                                             \
    cluster_sync();                                                                                \
  }
CASE_ST_ASYNC(st_async__1, 1)
CASE_ST_ASYNC(st_async__2, 2)
CASE_ST_ASYNC(st_async__4, 4)

CASE(bulk_push__neighbour) {
  u32 bar = smem_base(), at = bar + 256, to = bar + 2048,
      peer = (cluster_rank() + 1) % cluster_size();
  fill(at, in, at_cta(256), 256);
  init_bar(bar, 1);
  fence_proxy_async();
  cluster_sync();
  if (thread() == 0) {
    mbar_expect_tx(bar, 1024);
    bulk_push(map_shared(to, peer), at + 512, 512, map_shared(bar, peer));
    bulk_push(map_shared(to + 512, peer), at, 512, map_shared(bar, peer));
  }
  bool done = await(bar, 0);
  if (done) mbar_wait_cluster(bar, 0);
  stg<u32>(out, at_cta(288) + thread(), done);
  if (done) dump(out, at_cta(288) + 32, to, 256);
  cluster_sync();
}

// ---- multicast -------------------------------------------------------------------------------------

// Rank 0 loads for ranks 1 and 3, rank 2 for all four, rank 3 for rank 0 alone.
CASE_MAP(tma_load_2d_multicast__subsets) {
  u32 bar = smem_base(), at = bar + 1024, rank = cluster_rank();
  const u32 box = 64 * 8 * 2;
  clear(at, 3 * 256);
  init_bar(bar, 1);
  fence_proxy_async();
  cluster_sync();
  if (thread() == 0) {
    mbar_expect_tx(bar, rank == 2 ? box : 2 * box);
    if (rank == 0) tma_load_2d_multicast(at, &map, 0, 3, bar, 0xa);
    if (rank == 2) tma_load_2d_multicast(at + 1024, &map, -8, 5, bar, 0xf);
    if (rank == 3) tma_load_2d_multicast(at + 2048, &map, 64, 14, bar, 0x1);
  }
  bool done = await(bar, 0);
  if (done) mbar_wait_cluster(bar, 0);
  stg<u32>(out, at_cta(800) + thread(), done);
  if (done) dump(out, at_cta(800) + 32, at, 3 * 256);
  cluster_sync();
}
CASE_MAP(tma_load_2d_multicast_hint__subsets) {
  u32 bar = smem_base(), at = bar + 1024, rank = cluster_rank();
  const u32 box = 64 * 8 * 2;
  clear(at, 3 * 256);
  init_bar(bar, 1);
  fence_proxy_async();
  cluster_sync();
  if (thread() == 0) {
    mbar_expect_tx(bar, rank == 1 || rank == 2 ? 2 * box : box);
    if (rank == 0) tma_load_2d_multicast_hint(at, &map, 8, 2, bar, 0x2, l2_evict_first());
    if (rank == 1) tma_load_2d_multicast_hint(at + 1024, &map, 64, 15, bar, 0xf, l2_evict_last());
    if (rank == 3) tma_load_2d_multicast_hint(at + 2048, &map, -8, -1, bar, 0x4, l2_evict_normal());
  }
  bool done = await(bar, 0);
  if (done) mbar_wait_cluster(bar, 0);
  stg<u32>(out, at_cta(800) + thread(), done);
  if (done) dump(out, at_cta(800) + 32, at, 3 * 256);
  cluster_sync();
}
// A plain load by one CTA of a cluster goes to that CTA.
CASE_MAP(tma_load_2d__in_a_cluster) {
  u32 bar = smem_base(), at = bar + 1024, rank = cluster_rank();
  init_bar(bar, 1);
  cluster_sync();
  if (thread() == 0) {
    mbar_expect_tx(bar, 64 * 8 * 2);
    tma_load_2d(at, &map, 8 * rank, 3 * rank, bar);
  }
  bool done = await(bar, 0);
  stg<u32>(out, at_cta(288) + thread(), done);
  if (done) dump(out, at_cta(288) + 32, at, 256);
  cluster_sync();
}
