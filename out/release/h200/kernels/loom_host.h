// loom_host.h -- the vocabulary of loom.cuh, declared for a host C++ compiler.
//
// Declarations only: with them `g++ -fsyntax-only` type-checks an emitted kernel where there is no
// CUDA toolkit. A global pointer is an opaque handle here, so that a kernel that dereferences one
// does not compile. Semantics and units of every function: see loom.cuh and loom_wgmma.cuh.
#pragma once

#define __global__
#define __device__
#define __grid_constant__
#define __launch_bounds__(...)
#define LOOM_FN [[maybe_unused]] static inline
#define UNROLL
#define ROLLED

struct loom_dim3 {
  unsigned x, y, z;
};
extern const loom_dim3 threadIdx, blockIdx, blockDim, gridDim;

template <class T> class gptr {
  T *hidden; // reached through the vocabulary alone
};

struct alignas(64) tensor_map {
  u64 opaque[16]; // CUtensorMap
};

constexpr int min(int a, int b) { return a < b ? a : b; }

u32 smem_base();
void cta_sync();
void named_sync(int id, int threads);
void named_arrive(int id, int threads);
void grid_dep_wait();
void grid_dep_launch();

float to_float(f16 x);
float to_float(bf16 x);
template <class T> u32 pack(float lo, float hi);
template <class T> T from_float(float x);

template <class T> T ldg(gptr<const T> p, i64 i);
template <class T> void stg(gptr<T> p, i64 i, T v);
template <class T> void stg_pair(gptr<T> p, i64 i, u32 v);

float lds_f32(u32 addr);
void sts_f32(u32 addr, float v);
void ldmatrix_x4(u32 (&r)[4], u32 addr);
void ldmatrix_x4_trans(u32 (&r)[4], u32 addr);
void stmatrix_x4(u32 addr, u32 r0, u32 r1, u32 r2, u32 r3);

template <class T> void cp_async_16(u32 dst, gptr<const T> p, i64 i, bool valid);
void cp_async_commit();
template <int pending> void cp_async_wait();

template <class T> void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);

void mbar_init(u32 bar, u32 arrivals);
void fence_mbar_init();
void mbar_arrive(u32 bar);
void mbar_expect_tx(u32 bar, u32 bytes);
void mbar_wait(u32 bar, u32 parity);

void prefetch_tensor_map(const tensor_map *map);
void tma_load_2d(u32 dst, const tensor_map *map, int x, int y, u32 bar);
void tma_store_2d(const tensor_map *map, u32 src, int x, int y);
void tma_store_commit();
template <int pending> void tma_store_wait_read();
void fence_proxy_async();

enum : int { K_MAJOR = 0, MN_MAJOR = 1 };
int warpgroup_index();
template <int regs> void setmaxnreg_dec();
template <int regs> void setmaxnreg_inc();
void wgmma_fence();
void wgmma_commit();
template <int pending> void wgmma_wait();
u64 smem_desc(u32 addr, u32 leading, u32 stride);
template <class T, int n, int major_a, int major_b>
void wgmma(float (&d)[n / 2], u64 a, u64 b, int accumulate);
