// loom_hopper.cuh -- what sm_90 has and sm_80 has not, a part of loom.cuh: mbarriers, TMA, clusters,
// stmatrix, and on sm_90a warpgroups.

// ---- mbarriers, sm_90: 8 bytes of shared memory each ---------------------------------------------

LOOM_FN void mbar_init(u32 bar, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}
// Makes initialised barriers known to the TMA engine and to the cluster; before the first sync.
LOOM_FN void fence_mbar_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
LOOM_FN void mbar_arrive(u32 bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
LOOM_FN void mbar_inval(u32 bar) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}
// One arrival when the cp.async that this thread has issued so far are complete; it is one of the
// arrivals that mbar_init counts.
LOOM_FN void cp_async_mbar_arrive(u32 bar) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
}
// One arrival that also announces `bytes` of TMA traffic.
LOOM_FN void mbar_expect_tx(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
// Announces `bytes` of traffic without an arrival.
LOOM_FN void mbar_add_tx(u32 bar, u32 bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
// One arrival at a barrier of any CTA of the cluster, by its address from map_shared.
LOOM_FN void mbar_arrive_cluster(u32 cluster_bar) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(cluster_bar)
               : "memory");
}
// The same, for who has only read: hands a slot back, makes no writes known. The one above waits for all of
// the thread's memory traffic first, some 1000 clocks.
LOOM_FN void mbar_arrive_peer(u32 cluster_bar) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(cluster_bar) : "memory");
}
// Is the phase of this parity complete?
LOOM_FN bool mbar_try(u32 bar, u32 parity) {
  u32 done;
  asm volatile("{\n"
               ".reg .pred p;\n"
               "mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n"
               "selp.b32 %0, 1, 0, p;\n"
               "}"
               : "=r"(done)
               : "r"(bar), "r"(parity)
               : "memory");
  if (!done) LOOM_POLLED(LOOM_AT_MBARRIER, bar - smem_base(), parity);
  return done != 0;
}
#ifndef LOOM_WAIT_LIMIT // else in loom_stuck.cuh
// Waits until the phase of this parity is complete. A fresh barrier lets parity 1 pass.
LOOM_FN void mbar_wait(u32 bar, u32 parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "WAIT_%=:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra WAIT_%=;\n"
               "}" ::"r"(bar),
               "r"(parity)
               : "memory");
}

// The same, and acquires what other CTAs of the cluster released by their arrivals.
LOOM_FN void mbar_wait_cluster(u32 bar, u32 parity) {
  asm volatile("{\n"
               ".reg .pred done;\n"
               "WAIT_%=:\n"
               "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
               "@!done bra WAIT_%=;\n"
               "}" ::"r"(bar),
               "r"(parity)
               : "memory");
}
#endif // LOOM_WAIT_LIMIT

// ---- TMA, sm_90: boxes of a tensor map between global and shared memory --------------------------

LOOM_FN void prefetch_tensor_map(const tensor_map *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// The box at (x, y), x along the contiguous dimension, to shared address dst; completes on `bar`.
// Elements outside the tensor arrive as zeros and count as bytes all the same.
LOOM_FN void tma_load_2d(u32 dst, const tensor_map *map, int x, int y, u32 bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(dst),
               "l"(map), "r"(x), "r"(y), "r"(bar)
               : "memory");
}
// The same into every CTA of the cluster whose bit is set in `mask`: at this offset of its shared
// memory, completing on its barrier at the offset of `bar`.
LOOM_FN void tma_load_2d_multicast(u32 dst, const tensor_map *map, int x, int y, u32 bar,
                                   u16 mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(dst),
               "l"(map), "r"(x), "r"(y), "r"(bar), "h"(mask)
               : "memory");
}
// The box at shared address src to (x, y); elements outside the tensor are dropped.
LOOM_FN void tma_store_2d(const tensor_map *map, u32 src, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(src), "r"(x), "r"(y)
      : "memory");
}

// How long L2 is to keep what an access touches: a policy, made by one of these alone.
#define LOOM_L2_POLICY(name, priority)                                                             \
  LOOM_FN u64 name() {                                                                             \
    u64 policy;                                                                                    \
    asm("createpolicy.fractional." priority ".b64 %0, 1.0;" : "=l"(policy));                       \
    return policy;                                                                                 \
  }
LOOM_L2_POLICY(l2_evict_first, "L2::evict_first")
LOOM_L2_POLICY(l2_evict_last, "L2::evict_last")
LOOM_L2_POLICY(l2_evict_normal, "L2::evict_normal")
#undef LOOM_L2_POLICY
// The loads and the store above, with a policy.
LOOM_FN void tma_load_2d_hint(u32 dst, const tensor_map *map, int x, int y, u32 bar, u64 policy) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(dst),
               "l"(map), "r"(x), "r"(y), "r"(bar), "l"(policy)
               : "memory");
}
LOOM_FN void tma_load_2d_multicast_hint(u32 dst, const tensor_map *map, int x, int y, u32 bar,
                                        u16 mask, u64 policy) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(dst),
               "l"(map), "r"(x), "r"(y), "r"(bar), "h"(mask), "l"(policy)
               : "memory");
}
LOOM_FN void tma_store_2d_hint(const tensor_map *map, u32 src, int x, int y, u64 policy) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
               "[%0, {%2, %3}], [%1], %4;" ::"l"(map),
               "r"(src), "r"(x), "r"(y), "l"(policy)
               : "memory");
}
// Brings the box at (x, y), as a load would find it, into L2. Nobody is told when it is there.
LOOM_FN void tma_prefetch_2d(const tensor_map *map, int x, int y) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(x),
               "r"(y)
               : "memory");
}

LOOM_FN void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until at most `pending` of this thread's store groups still read their shared memory.
template <int pending> LOOM_FN void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
// Until at most `pending` of this thread's store groups are not yet complete.
template <int pending> LOOM_FN void tma_store_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}

// Copies of a run of bytes, a multiple of 16 at multiples of 16, by the same engine. A load or a push
// completes on a barrier, a store is one of the groups above.
template <class T> LOOM_FN void bulk_load(u32 dst, gptr<const T> p, i64 i, u32 bytes, u32 bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(dst),
               "l"(p + i), "r"(bytes), "r"(bar)
               : "memory");
}
template <class T> LOOM_FN void bulk_store(gptr<T> p, i64 i, u32 src, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(p + i), "r"(src),
               "r"(bytes)
               : "memory");
}
// From this CTA to another of the cluster; destination and barrier are addresses from map_shared.
LOOM_FN void bulk_push(u32 cluster_dst, u32 src, u32 bytes, u32 cluster_bar) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(cluster_dst),
               "r"(src), "r"(bytes), "r"(cluster_bar)
               : "memory");
}

// Orders ordinary writes to shared memory before reads of it by TMA or wgmma.
LOOM_FN void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
// The same for global memory too.
LOOM_FN void fence_proxy_async_all() { asm volatile("fence.proxy.async;" ::: "memory"); }

// ---- clusters, sm_90 -----------------------------------------------------------------------------

LOOM_FN u32 cluster_rank() {
  u32 v;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(v));
  return v;
}
LOOM_FN u32 cluster_size() {
  u32 v;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(v));
  return v;
}
// The barrier of all threads of the cluster, in two halves: what was written before the arrival is
// seen after the wait.
LOOM_FN void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
LOOM_FN void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
LOOM_FN void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}
LOOM_FN void fence_cluster() { asm volatile("fence.acq_rel.cluster;" ::: "memory"); }

// The address in the whole cluster of what has this shared address in the CTA of that rank.
LOOM_FN u32 map_shared(u32 addr, u32 rank) {
  u32 v;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(v) : "r"(addr), "r"(rank));
  return v;
}
LOOM_WORDS(ldc_words, stc_words, "shared::cluster")

// A store to another CTA of the cluster that counts its bytes on a barrier of that CTA.
template <int n> LOOM_FN void st_async(u32 cluster_addr, words<n> v, u32 cluster_bar) {
#define LOOM_ST_ASYNC "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes"
  if constexpr (n == 1)
    asm volatile(LOOM_ST_ASYNC ".b32 [%0], %1, [%2];" ::"r"(cluster_addr), "r"(v.w[0]),
                 "r"(cluster_bar)
                 : "memory");
  else if constexpr (n == 2)
    asm volatile(LOOM_ST_ASYNC ".v2.b32 [%0], {%1,%2}, [%3];" ::"r"(cluster_addr), "r"(v.w[0]),
                 "r"(v.w[1]), "r"(cluster_bar)
                 : "memory");
  else
    asm volatile(LOOM_ST_ASYNC ".v4.b32 [%0], {%1,%2,%3,%4}, [%5];" ::"r"(cluster_addr),
                 "r"(v.w[0]), "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3]), "r"(cluster_bar)
                 : "memory");
#undef LOOM_ST_ASYNC
}

// ---- stmatrix: stores one, two or four 8x8 matrices of 16-bit elements, the inverse of ldmatrix --

#define LOOM_STMATRIX(suffix, text)                                                                \
  LOOM_FN void stmatrix_x1##suffix(u32 addr, u32 r0) {                                             \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" text ".shared.b16 [%0], {%1};" ::"r"(addr),       \
                 "r"(r0)                                                                           \
                 : "memory");                                                                      \
  }                                                                                                \
  LOOM_FN void stmatrix_x2##suffix(u32 addr, u32 r0, u32 r1) {                                     \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" text ".shared.b16 [%0], {%1,%2};" ::"r"(addr),    \
                 "r"(r0), "r"(r1)                                                                  \
                 : "memory");                                                                      \
  }                                                                                                \
  LOOM_FN void stmatrix_x4##suffix(u32 addr, u32 r0, u32 r1, u32 r2, u32 r3) {                     \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" text                                              \
                 ".shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(addr),                                   \
                 "r"(r0), "r"(r1), "r"(r2), "r"(r3)                                                \
                 : "memory");                                                                      \
  }
LOOM_STMATRIX(, "")
LOOM_STMATRIX(_trans, ".trans")
#undef LOOM_STMATRIX

// ---- warps and warpgroups, sm_90 --------------------------------------------------------------------------

// True in one lane of the warp, the same one every time; all lanes must ask.
LOOM_FN bool elect_one() {
  u32 elected;
  asm volatile("{\n"
               ".reg .pred p;\n"
               "elect.sync _|p, 0xffffffff;\n"
               "selp.b32 %0, 1, 0, p;\n"
               "}"
               : "=r"(elected)::"memory");
  return elected != 0;
}

// Index of this thread's warpgroup, the same register value in all of its lanes.
LOOM_FN int warpgroup_index() { return __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); }

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
// Hands registers back to, or takes them from, the CTA's pool; every warp of a warpgroup must.
template <int regs> LOOM_FN void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(regs));
}
template <int regs> LOOM_FN void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(regs));
}
#include "loom_wgmma.cuh"
#endif // sm_90a
