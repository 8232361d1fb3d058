// loom_host.h -- the vocabulary of loom.cuh for a host C++ compiler: the CPU device's side.
//
// Every function passes its work, and the line of the kernel that calls it, on to the CPU device
// (loom_engine.h); `g++ -fsyntax-only` alone checks a kernel's types where nothing is to run. A
// global pointer is an opaque handle here, so that a kernel that dereferences one does not compile.
// Semantics and units of every function: see loom.cuh and its parts.
#pragma once

#include "loom_engine.h"

#define __global__
#define __device__
#define __grid_constant__
#define __launch_bounds__(...)
#define LOOM_FN [[maybe_unused]] static inline
#define LOOM_AT loom_engine::site at = loom_engine::site::here()
#define UNROLL
#define ROLLED

#define threadIdx (loom_engine::current->thread)
#define blockIdx (loom_engine::current->block)
#define blockDim (loom_engine::current->block_dim)
#define gridDim (loom_engine::current->grid_dim)

struct alignas(128) tensor_map {
  u64 opaque[16]; // what the CPU device keeps in the place of a CUtensorMap
};

constexpr int min(int a, int b) { return a < b ? a : b; }

template <int n> struct words { u32 w[n]; };

// A global address that only the vocabulary can use; a kernel can hand it on, nothing else.
template <class T> class gptr {
  u64 at_;
  friend struct loom_address;
  template <class U> friend class gptr;

public:
  gptr() = default;
  template <class U> // as pointers convert: T to const T
  gptr(gptr<U> p, decltype(static_cast<T *>(static_cast<U *>(nullptr))) = nullptr) : at_(p.at_) {}
};
struct loom_address {
  template <class T> static u64 of(gptr<T> p, i64 i) { return p.at_ + (u64)i * sizeof(T); }
  template <class T> static gptr<T> to(u64 at) {
    gptr<T> p;
    p.at_ = at;
    return p;
  }
};
template <class T, class U> LOOM_FN gptr<T> gptr_at(gptr<U> p, i64 bytes) {
  return loom_address::to<T>(loom_address::of(p, 0) + (u64)bytes);
}

template <class T> LOOM_FN int gptr_past_16(gptr<T> p) {
  return (int)(loom_address::of(p, 0) & 15);
}

template <class T> struct loom_number;
template <> struct loom_number<f16> { static constexpr auto type = loom_engine::number::f16; };
template <> struct loom_number<bf16> { static constexpr auto type = loom_engine::number::bf16; };

// ---- threads and grid ----------------------------------------------------------------------------

LOOM_FN u32 smem_base() { return loom_engine::smem_base(); }
LOOM_FN void cta_sync(LOOM_AT) { loom_engine::cta_sync(at); }
LOOM_FN void named_sync(int id, int threads, LOOM_AT) { loom_engine::named_sync(id, threads, at); }
LOOM_FN void named_arrive(int id, int threads, LOOM_AT) {
  loom_engine::named_arrive(id, threads, at);
}
LOOM_FN void warp_sync(LOOM_AT) { loom_engine::warp_sync(at); }
LOOM_FN bool elect_one(LOOM_AT) { return loom_engine::elect_one(at); }
LOOM_FN u32 shfl(u32 v, int lane, LOOM_AT) {
  return loom_engine::shfl(loom_engine::shuffle::index, v, lane, at);
}
LOOM_FN float shfl(float v, int lane, LOOM_AT) {
  return __builtin_bit_cast(float, shfl(__builtin_bit_cast(u32, v), lane, at));
}
LOOM_FN u32 shfl_xor(u32 v, int mask, LOOM_AT) {
  return loom_engine::shfl(loom_engine::shuffle::exclusive_or, v, mask, at);
}
LOOM_FN float shfl_xor(float v, int mask, LOOM_AT) {
  return __builtin_bit_cast(float, shfl_xor(__builtin_bit_cast(u32, v), mask, at));
}
LOOM_FN int warpgroup_index(LOOM_AT) { return loom_engine::warpgroup_index(at); }
template <int regs> LOOM_FN void setmaxnreg_dec(LOOM_AT) {
  loom_engine::setmaxnreg(false, regs, at);
}
template <int regs> LOOM_FN void setmaxnreg_inc(LOOM_AT) {
  loom_engine::setmaxnreg(true, regs, at);
}
LOOM_FN void grid_dep_wait(LOOM_AT) { loom_engine::grid_dep_wait(at); }
LOOM_FN void grid_dep_launch(LOOM_AT) { loom_engine::grid_dep_launch(at); }

// ---- numbers -------------------------------------------------------------------------------------

template <class T> LOOM_FN float loom_bits_to_float(u16 bits) {
  return loom_engine::to_float(loom_number<T>::type, bits);
}
LOOM_FN u32 float_bits(float x) { return __builtin_bit_cast(u32, x); }
LOOM_FN float bits_float(u32 x) { return __builtin_bit_cast(float, x); }
LOOM_FN float to_float(f16 x) { return loom_bits_to_float<f16>(x.bits); }
LOOM_FN float to_float(bf16 x) { return loom_bits_to_float<bf16>(x.bits); }
template <class T> LOOM_FN T from_float(float x) {
  return T{loom_engine::from_float(loom_number<T>::type, x)};
}
template <class T> LOOM_FN u32 pack(float lo, float hi) {
  return (u32)from_float<T>(lo).bits | (u32)from_float<T>(hi).bits << 16;
}
template <class T> LOOM_FN float unpack_lo(u32 v) { return loom_bits_to_float<T>((u16)v); }
template <class T> LOOM_FN float unpack_hi(u32 v) { return loom_bits_to_float<T>((u16)(v >> 16)); }

// ---- global memory -------------------------------------------------------------------------------

template <class T> LOOM_FN T ldg(gptr<const T> p, i64 i, LOOM_AT) {
  T v;
  loom_engine::load_global(&v, loom_address::of(p, i), sizeof v, at);
  return v;
}
template <class T> LOOM_FN void stg(gptr<T> p, i64 i, T v, LOOM_AT) {
  loom_engine::store_global(loom_address::of(p, i), &v, sizeof v, at);
}
template <class T> LOOM_FN void stg_pair(gptr<T> p, i64 i, u32 v, LOOM_AT) {
  loom_engine::store_global(loom_address::of(p, i), &v, sizeof v, at);
}
template <int n, class T> LOOM_FN words<n> ldg_words(gptr<const T> p, i64 i, LOOM_AT) {
  words<n> v;
  loom_engine::load_global(&v, loom_address::of(p, i), sizeof v, at);
  return v;
}
template <int n, class T> LOOM_FN void stg_words(gptr<T> p, i64 i, words<n> v, LOOM_AT) {
  loom_engine::store_global(loom_address::of(p, i), &v, sizeof v, at);
}
template <int n, class T> LOOM_FN words<n> ldg_words_stream(gptr<const T> p, i64 i, LOOM_AT) {
  words<n> v;
  loom_engine::load_global_stream(&v, loom_address::of(p, i), sizeof v, at);
  return v;
}
template <int n, class T> LOOM_FN void stg_words_stream(gptr<T> p, i64 i, words<n> v, LOOM_AT) {
  loom_engine::store_global_stream(loom_address::of(p, i), &v, sizeof v, at);
}

LOOM_FN u32 atom_add(gptr<u32> p, i64 i, u32 v, LOOM_AT) {
  return loom_engine::atom_global(loom_engine::atomic::add, loom_engine::order::relaxed,
                                  loom_address::of(p, i), v, at);
}
LOOM_FN u32 atom_add_acq_rel(gptr<u32> p, i64 i, u32 v, LOOM_AT) {
  return loom_engine::atom_global(loom_engine::atomic::add, loom_engine::order::acq_rel,
                                  loom_address::of(p, i), v, at);
}
LOOM_FN u32 atom_inc(gptr<u32> p, i64 i, u32 limit, LOOM_AT) {
  return loom_engine::atom_global(loom_engine::atomic::inc, loom_engine::order::relaxed,
                                  loom_address::of(p, i), limit, at);
}
LOOM_FN u32 atom_inc_acq_rel(gptr<u32> p, i64 i, u32 limit, LOOM_AT) {
  return loom_engine::atom_global(loom_engine::atomic::inc, loom_engine::order::acq_rel,
                                  loom_address::of(p, i), limit, at);
}
LOOM_FN void red_add(gptr<float> p, i64 i, float v, LOOM_AT) {
  loom_engine::red_global_f32(loom_address::of(p, i), v, at);
}
LOOM_FN void red_add(gptr<u32> p, i64 i, u32 v, LOOM_AT) {
  loom_engine::atom_global(loom_engine::atomic::add, loom_engine::order::relaxed,
                           loom_address::of(p, i), v, at);
}
LOOM_FN u32 ld_acquire(gptr<const u32> p, i64 i, LOOM_AT) {
  return loom_engine::load_global_ordered(loom_engine::order::acquire, loom_address::of(p, i), at);
}
LOOM_FN u32 ld_relaxed(gptr<const u32> p, i64 i, LOOM_AT) {
  return loom_engine::load_global_ordered(loom_engine::order::relaxed, loom_address::of(p, i), at);
}
LOOM_FN void st_release(gptr<u32> p, i64 i, u32 v, LOOM_AT) {
  loom_engine::store_global_ordered(loom_engine::order::release, loom_address::of(p, i), v, at);
}
LOOM_FN void fence_gpu(LOOM_AT) { loom_engine::fence_gpu(at); }
LOOM_FN void fence_cluster(LOOM_AT) { loom_engine::fence_cluster(at); }
LOOM_FN void fence_proxy_async(LOOM_AT) { loom_engine::fence_proxy_async(false, at); }
LOOM_FN void fence_proxy_async_all(LOOM_AT) { loom_engine::fence_proxy_async(true, at); }

// ---- shared memory -------------------------------------------------------------------------------

LOOM_FN float lds_f32(u32 addr, LOOM_AT) {
  float v;
  loom_engine::load_shared(&v, addr, sizeof v, at);
  return v;
}
LOOM_FN void sts_f32(u32 addr, float v, LOOM_AT) {
  loom_engine::store_shared(addr, &v, sizeof v, at);
}
template <int n> LOOM_FN words<n> lds_words(u32 addr, LOOM_AT) {
  words<n> v;
  loom_engine::load_shared(&v, addr, sizeof v, at);
  return v;
}
template <int n> LOOM_FN void sts_words(u32 addr, words<n> v, LOOM_AT) {
  loom_engine::store_shared(addr, &v, sizeof v, at);
}
LOOM_FN u32 atom_add_shared(u32 addr, u32 v, LOOM_AT) {
  return loom_engine::atom_add_shared(addr, v, at);
}

LOOM_FN void ldmatrix_x1(u32 (&r)[1], u32 addr, LOOM_AT) {
  loom_engine::ldmatrix(r, 1, false, addr, at);
}
LOOM_FN void ldmatrix_x2(u32 (&r)[2], u32 addr, LOOM_AT) {
  loom_engine::ldmatrix(r, 2, false, addr, at);
}
LOOM_FN void ldmatrix_x4(u32 (&r)[4], u32 addr, LOOM_AT) {
  loom_engine::ldmatrix(r, 4, false, addr, at);
}
LOOM_FN void ldmatrix_x1_trans(u32 (&r)[1], u32 addr, LOOM_AT) {
  loom_engine::ldmatrix(r, 1, true, addr, at);
}
LOOM_FN void ldmatrix_x2_trans(u32 (&r)[2], u32 addr, LOOM_AT) {
  loom_engine::ldmatrix(r, 2, true, addr, at);
}
LOOM_FN void ldmatrix_x4_trans(u32 (&r)[4], u32 addr, LOOM_AT) {
  loom_engine::ldmatrix(r, 4, true, addr, at);
}
LOOM_FN void stmatrix_x1(u32 addr, u32 r0, LOOM_AT) {
  loom_engine::stmatrix(addr, &r0, 1, false, at);
}
LOOM_FN void stmatrix_x2(u32 addr, u32 r0, u32 r1, LOOM_AT) {
  const u32 r[] = {r0, r1};
  loom_engine::stmatrix(addr, r, 2, false, at);
}
LOOM_FN void stmatrix_x4(u32 addr, u32 r0, u32 r1, u32 r2, u32 r3, LOOM_AT) {
  const u32 r[] = {r0, r1, r2, r3};
  loom_engine::stmatrix(addr, r, 4, false, at);
}
LOOM_FN void stmatrix_x1_trans(u32 addr, u32 r0, LOOM_AT) {
  loom_engine::stmatrix(addr, &r0, 1, true, at);
}
LOOM_FN void stmatrix_x2_trans(u32 addr, u32 r0, u32 r1, LOOM_AT) {
  const u32 r[] = {r0, r1};
  loom_engine::stmatrix(addr, r, 2, true, at);
}
LOOM_FN void stmatrix_x4_trans(u32 addr, u32 r0, u32 r1, u32 r2, u32 r3, LOOM_AT) {
  const u32 r[] = {r0, r1, r2, r3};
  loom_engine::stmatrix(addr, r, 4, true, at);
}

// ---- cp.async ------------------------------------------------------------------------------------

template <class T> LOOM_FN void cp_async_16(u32 dst, gptr<const T> p, i64 i, bool valid, LOOM_AT) {
  loom_engine::cp_async(dst, loom_address::of(p, i), 16, valid, at);
}
template <class T> LOOM_FN void cp_async_8(u32 dst, gptr<const T> p, i64 i, bool valid, LOOM_AT) {
  loom_engine::cp_async(dst, loom_address::of(p, i), 8, valid, at);
}
template <class T> LOOM_FN void cp_async_4(u32 dst, gptr<const T> p, i64 i, bool valid, LOOM_AT) {
  loom_engine::cp_async(dst, loom_address::of(p, i), 4, valid, at);
}
LOOM_FN void cp_async_commit(LOOM_AT) { loom_engine::cp_async_commit(at); }
template <int pending> LOOM_FN void cp_async_wait(LOOM_AT) {
  loom_engine::cp_async_wait(pending, at);
}
LOOM_FN void cp_async_mbar_arrive(u32 bar, LOOM_AT) { loom_engine::cp_async_mbar_arrive(bar, at); }

// ---- tensor cores, sm_80 -------------------------------------------------------------------------

template <class T>
LOOM_FN void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, LOOM_AT) {
  const u32 b[] = {b0, b1};
  loom_engine::mma(d, a, b, 16, loom_number<T>::type, false, at);
}
template <class T> LOOM_FN void mma_m16n8k8(float (&d)[4], const u32 (&a)[2], u32 b0, LOOM_AT) {
  loom_engine::mma(d, a, &b0, 8, loom_number<T>::type, false, at);
}
LOOM_FN void mma_m16n8k16_f16(u32 (&d)[2], const u32 (&a)[4], u32 b0, u32 b1, LOOM_AT) {
  const u32 b[] = {b0, b1};
  loom_engine::mma(d, a, b, 16, loom_engine::number::f16, true, at);
}
LOOM_FN void mma_m16n8k8_f16(u32 (&d)[2], const u32 (&a)[2], u32 b0, LOOM_AT) {
  loom_engine::mma(d, a, &b0, 8, loom_engine::number::f16, true, at);
}

// ---- mbarriers -----------------------------------------------------------------------------------

LOOM_FN void mbar_init(u32 bar, u32 arrivals, LOOM_AT) {
  loom_engine::mbar_init(bar, arrivals, at);
}
LOOM_FN void mbar_inval(u32 bar, LOOM_AT) { loom_engine::mbar_inval(bar, at); }
LOOM_FN void fence_mbar_init(LOOM_AT) { loom_engine::fence_mbar_init(at); }
LOOM_FN void mbar_arrive(u32 bar, LOOM_AT) { loom_engine::mbar_arrive(bar, false, at); }
LOOM_FN void mbar_arrive_cluster(u32 bar, LOOM_AT) { loom_engine::mbar_arrive(bar, true, at); }
LOOM_FN void mbar_arrive_peer(u32 bar, LOOM_AT) { loom_engine::mbar_arrive(bar, true, at); }
LOOM_FN void mbar_expect_tx(u32 bar, u32 bytes, LOOM_AT) {
  loom_engine::mbar_expect_tx(bar, bytes, true, at);
}
LOOM_FN void mbar_add_tx(u32 bar, u32 bytes, LOOM_AT) {
  loom_engine::mbar_expect_tx(bar, bytes, false, at);
}
LOOM_FN void mbar_wait(u32 bar, u32 parity, LOOM_AT) {
  loom_engine::mbar_wait(bar, parity, false, at);
}
LOOM_FN void mbar_wait_cluster(u32 bar, u32 parity, LOOM_AT) {
  loom_engine::mbar_wait(bar, parity, true, at);
}
LOOM_FN bool mbar_try(u32 bar, u32 parity, LOOM_AT) {
  return loom_engine::mbar_try(bar, parity, at);
}

// ---- TMA -----------------------------------------------------------------------------------------

LOOM_FN void prefetch_tensor_map(const tensor_map *map, LOOM_AT) {
  loom_engine::prefetch_tensor_map(map, at);
}
LOOM_FN void tma_load_2d(u32 dst, const tensor_map *map, int x, int y, u32 bar, LOOM_AT) {
  loom_engine::tma_load_2d(dst, map, x, y, bar, 0, at);
}
LOOM_FN void tma_load_2d_multicast(u32 dst, const tensor_map *map, int x, int y, u32 bar, u16 mask,
                                   LOOM_AT) {
  loom_engine::tma_load_2d(dst, map, x, y, bar, mask, at);
}
LOOM_FN void tma_store_2d(const tensor_map *map, u32 src, int x, int y, LOOM_AT) {
  loom_engine::tma_store_2d(map, src, x, y, at);
}
LOOM_FN u64 l2_evict_first() { return loom_engine::l2_policy(loom_engine::eviction::first); }
LOOM_FN u64 l2_evict_last() { return loom_engine::l2_policy(loom_engine::eviction::last); }
LOOM_FN u64 l2_evict_normal() { return loom_engine::l2_policy(loom_engine::eviction::normal); }
LOOM_FN void tma_load_2d_hint(u32 dst, const tensor_map *map, int x, int y, u32 bar, u64 policy,
                              LOOM_AT) {
  loom_engine::tma_load_2d_hint(dst, map, x, y, bar, 0, policy, at);
}
LOOM_FN void tma_load_2d_multicast_hint(u32 dst, const tensor_map *map, int x, int y, u32 bar,
                                        u16 mask, u64 policy, LOOM_AT) {
  loom_engine::tma_load_2d_hint(dst, map, x, y, bar, mask, policy, at);
}
LOOM_FN void tma_store_2d_hint(const tensor_map *map, u32 src, int x, int y, u64 policy, LOOM_AT) {
  loom_engine::tma_store_2d_hint(map, src, x, y, policy, at);
}
LOOM_FN void tma_prefetch_2d(const tensor_map *map, int x, int y, LOOM_AT) {
  loom_engine::tma_prefetch_2d(map, x, y, at);
}
template <class T>
LOOM_FN void bulk_load(u32 dst, gptr<const T> p, i64 i, u32 bytes, u32 bar, LOOM_AT) {
  loom_engine::bulk_load(dst, loom_address::of(p, i), bytes, bar, at);
}
template <class T> LOOM_FN void bulk_store(gptr<T> p, i64 i, u32 src, u32 bytes, LOOM_AT) {
  loom_engine::bulk_store(loom_address::of(p, i), src, bytes, at);
}
LOOM_FN void bulk_push(u32 dst, u32 src, u32 bytes, u32 bar, LOOM_AT) {
  loom_engine::bulk_push(dst, src, bytes, bar, at);
}
LOOM_FN void tma_store_commit(LOOM_AT) { loom_engine::tma_store_commit(at); }
template <int pending> LOOM_FN void tma_store_wait_read(LOOM_AT) {
  loom_engine::tma_store_wait(pending, true, at);
}
template <int pending> LOOM_FN void tma_store_wait(LOOM_AT) {
  loom_engine::tma_store_wait(pending, false, at);
}

// ---- clusters ------------------------------------------------------------------------------------

LOOM_FN u32 cluster_rank() { return loom_engine::cluster_rank(); }
LOOM_FN u32 cluster_size() { return loom_engine::cluster_size(); }
LOOM_FN void cluster_arrive(LOOM_AT) { loom_engine::cluster_arrive(at); }
LOOM_FN void cluster_wait(LOOM_AT) { loom_engine::cluster_wait(at); }
LOOM_FN void cluster_sync(LOOM_AT) {
  loom_engine::cluster_arrive(at);
  loom_engine::cluster_wait(at);
}
LOOM_FN u32 map_shared(u32 addr, u32 rank, LOOM_AT) {
  return loom_engine::map_shared(addr, rank, at);
}
template <int n> LOOM_FN words<n> ldc_words(u32 addr, LOOM_AT) {
  words<n> v;
  loom_engine::load_cluster(&v, addr, sizeof v, at);
  return v;
}
template <int n> LOOM_FN void stc_words(u32 addr, words<n> v, LOOM_AT) {
  loom_engine::store_cluster(addr, &v, sizeof v, at);
}
template <int n> LOOM_FN void st_async(u32 addr, words<n> v, u32 bar, LOOM_AT) {
  loom_engine::store_async(addr, &v, sizeof v, bar, at);
}

// ---- wgmma ---------------------------------------------------------------------------------------

enum : int { K_MAJOR = 0, MN_MAJOR = 1 };

template <int swizzle = 128> LOOM_FN u64 smem_desc(u32 addr, u32 leading, u32 stride) {
  static_assert(swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128);
  constexpr u64 mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return (u64)((addr & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 |
         mode << 62;
}
LOOM_FN void wgmma_fence(LOOM_AT) { loom_engine::wgmma_fence(at); }
LOOM_FN void wgmma_commit(LOOM_AT) { loom_engine::wgmma_commit(at); }
template <int pending> LOOM_FN void wgmma_wait(LOOM_AT) { loom_engine::wgmma_wait(pending, at); }

template <class T, int n, int major_a, int major_b>
LOOM_FN void wgmma(float (&d)[n / 2], u64 a, u64 b, int accumulate, LOOM_AT) {
  loom_engine::wgmma({n, loom_number<T>::type, false, major_a, major_b}, d, nullptr, a, b,
                     accumulate, at);
}
template <class T, int n, int major_b>
LOOM_FN void wgmma_rs(float (&d)[n / 2], const u32 (&a)[4], u64 b, int accumulate, LOOM_AT) {
  loom_engine::wgmma({n, loom_number<T>::type, false, K_MAJOR, major_b}, d, a, 0, b, accumulate,
                     at);
}
template <int n, int major_a, int major_b>
LOOM_FN void wgmma_f16(u32 (&d)[n / 4], u64 a, u64 b, int accumulate, LOOM_AT) {
  loom_engine::wgmma({n, loom_engine::number::f16, true, major_a, major_b}, d, nullptr, a, b,
                     accumulate, at);
}
template <int n, int major_b>
LOOM_FN void wgmma_f16_rs(u32 (&d)[n / 4], const u32 (&a)[4], u64 b, int accumulate, LOOM_AT) {
  loom_engine::wgmma({n, loom_engine::number::f16, true, K_MAJOR, major_b}, d, a, 0, b, accumulate,
                     at);
}
