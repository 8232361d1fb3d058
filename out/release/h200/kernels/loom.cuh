// loom.cuh -- the PTX vocabulary of every emitted kernel: one short function per instruction.
//
// Kernels touch memory only through these functions, and contain no asm of their own. Two
// implementations exist: this one for nvcc, and loom_host.h, which lets a host C++ compiler read
// the same kernel. Global memory is behind gptr<T>: a plain pointer here, an opaque handle there,
// so that a direct dereference is a compile error on the host. Shared memory is a 32-bit address.
// Names follow the PTX ISA (cp.async -> cp_async, mbarrier.try_wait -> mbar_wait).
// The wgmma family is in loom_wgmma.cuh. No CUDA or std header is needed: nvcc takes half a second.
#pragma once

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct f16 {
  u16 bits; // IEEE binary16
};
struct bf16 {
  u16 bits; // bfloat16
};

#ifndef __CUDACC__
#include "loom_host.h"
#else

#define LOOM_FN static __device__ __forceinline__
// a specialisation takes its storage class from the template
#define LOOM_SPECIAL __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1") // a loop that stays one: half the code, half the compile time

template <class T> using gptr = T *;

// A CUtensorMap as the driver encodes it; passed by value as a __grid_constant__ parameter.
struct __align__(64) tensor_map {
  u64 opaque[16]; // CUtensorMap
};

// ---- the CTA's dynamic shared memory, and synchronisation ---------------------------------------

extern __shared__ __align__(1024) unsigned char loom_smem[];

LOOM_FN u32 smem_base() { return (u32)__cvta_generic_to_shared(loom_smem); }

LOOM_FN void cta_sync() { __syncthreads(); }

// Barrier `id` (1..15; 0 is cta_sync) among `threads` threads; arrive does not wait.
LOOM_FN void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
LOOM_FN void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Programmatic dependent launch: wait until the previous kernel in the stream is complete and its
// writes are visible; allow the next one to start. Both do nothing in an ordinary launch.
LOOM_FN void grid_dep_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
LOOM_FN void grid_dep_launch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// ---- numbers -------------------------------------------------------------------------------------

LOOM_FN float to_float(f16 x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
LOOM_FN float to_float(bf16 x) { return __uint_as_float((u32)x.bits << 16); }

// Two floats, rounded to nearest even, in one register: `lo` in the low half.
template <class T> LOOM_FN u32 pack(float lo, float hi);
template <> LOOM_SPECIAL u32 pack<f16>(float lo, float hi) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
template <> LOOM_SPECIAL u32 pack<bf16>(float lo, float hi) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
template <class T> LOOM_FN T from_float(float x) { return T{(u16)pack<T>(x, 0.f)}; }

// ---- global memory: element `i` of an array ------------------------------------------------------

template <class T> LOOM_FN T ldg(gptr<const T> p, i64 i) { return p[i]; }
template <class T> LOOM_FN void stg(gptr<T> p, i64 i, T v) { p[i] = v; }

// Two neighbouring 16-bit elements at once; i must be even.
template <class T> LOOM_FN void stg_pair(gptr<T> p, i64 i, u32 v) {
  *reinterpret_cast<u32 *>(p + i) = v;
}

// ---- shared memory -------------------------------------------------------------------------------

LOOM_FN float lds_f32(u32 addr) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(addr) : "memory");
  return v;
}
LOOM_FN void sts_f32(u32 addr, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(addr), "f"(v) : "memory");
}

// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l%8 of matrix l/8.
LOOM_FN void ldmatrix_x4(u32 (&r)[4], u32 addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}
LOOM_FN void ldmatrix_x4_trans(u32 (&r)[4], u32 addr) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(addr)
               : "memory");
}

// ---- asynchronous copies, sm_80: 16 bytes a thread, in groups ------------------------------------

// Elements i..i+7 of p to shared address dst; zeros instead where `valid` is false.
template <class T> LOOM_FN void cp_async_16(u32 dst, gptr<const T> p, i64 i, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(p + (valid ? i : 0)),
               "r"(valid ? 16 : 0)
               : "memory");
}
LOOM_FN void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> LOOM_FN void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// ---- tensor cores, sm_80 -------------------------------------------------------------------------

// d[16][8] += a[16][16] * b[16][8]: m16n8k16 with row-major a and column-major b, fp32 accumulators.
template <class T> LOOM_FN void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);
template <> LOOM_SPECIAL void mma_m16n8k16<f16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <> LOOM_SPECIAL void mma_m16n8k16<bf16>(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#if __CUDA_ARCH__ >= 900

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
// One arrival that also announces `bytes` of TMA traffic.
LOOM_FN void mbar_expect_tx(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
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
// The box at shared address src to (x, y); elements outside the tensor are dropped.
LOOM_FN void tma_store_2d(const tensor_map *map, u32 src, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
      "r"(src), "r"(x), "r"(y)
      : "memory");
}
LOOM_FN void tma_store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until at most `pending` of this thread's store groups still read their shared memory.
template <int pending> LOOM_FN void tma_store_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
// Orders ordinary writes to shared memory before reads of it by TMA or wgmma.
LOOM_FN void fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Stores four 8x8 matrices of 16-bit elements; the inverse of ldmatrix_x4.
LOOM_FN void stmatrix_x4(u32 addr, u32 r0, u32 r1, u32 r2, u32 r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(addr), "r"(r0),
               "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

// ---- warpgroups, sm_90a --------------------------------------------------------------------------

// Index of this thread's warpgroup, the same register value in all of its lanes.
LOOM_FN int warpgroup_index() { return __shfl_sync(0xffffffffu, threadIdx.x / 128, 0); }

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
// Hands registers back to, or takes them from, the CTA's pool; every warp of a warpgroup must.
template <int regs> LOOM_FN void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(regs));
}
template <int regs> LOOM_FN void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(regs));
}
#include "loom_wgmma.cuh"
#endif // sm_90a

#endif // sm_90
#endif // __CUDACC__
