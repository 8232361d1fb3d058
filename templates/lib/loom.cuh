// loom.cuh -- the PTX vocabulary of every emitted kernel: one short function per instruction.
//
// Kernels touch memory only through these functions, and contain no asm of their own. Two
// implementations exist: this one for nvcc, and loom_host.h, which lets a host C++ compiler read
// the same kernel. Global memory is behind gptr<T>: a plain pointer here, an opaque handle there,
// so that a direct dereference is a compile error on the host. Shared memory is a 32-bit address.
// Names follow the PTX ISA (cp.async -> cp_async, mbarrier.try_wait -> mbar_wait).
// What only sm_90 has is in loom_hopper.cuh (mbarriers, TMA, clusters) and loom_wgmma.cuh. No CUDA
// or std header is needed: nvcc takes half a second.
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

// n registers that travel together: 4, 8 or 16 bytes.
template <int n> struct alignas(4 * n) words {
  static_assert(n == 1 || n == 2 || n == 4, "no instruction moves so many words");
  u32 w[n];
};

// A CUtensorMap as the driver encodes it; passed by value as a __grid_constant__ parameter. Aligned as
// cuda.h of CUDA 13 has it.
struct __align__(128) tensor_map {
  u64 opaque[16]; // CUtensorMap
};

// ---- the CTA's dynamic shared memory, and synchronisation ---------------------------------------

extern __shared__ __align__(1024) unsigned char loom_smem[];

LOOM_FN u32 smem_base() { return (u32)__cvta_generic_to_shared(loom_smem); }

#ifdef LOOM_WAIT_LIMIT
#include "loom_stuck.cuh"
#define LOOM_POLLED(kind, at, value) loom_polled(kind, at, value)
#else
#define LOOM_POLLED(kind, at, value) (void)0
#endif

LOOM_FN void cta_sync() { __syncthreads(); }

// Barrier `id` (1..15; 0 is cta_sync) among `threads` threads; arrive does not wait.
LOOM_FN void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
LOOM_FN void named_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// The lanes of one warp; all of them must come.
LOOM_FN void warp_sync() { __syncwarp(); }
// v of lane `lane`; v of the lane whose number differs by the bits of `mask`.
LOOM_FN u32 shfl(u32 v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }
LOOM_FN float shfl(float v, int lane) { return __shfl_sync(0xffffffffu, v, lane); }
LOOM_FN u32 shfl_xor(u32 v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }
LOOM_FN float shfl_xor(float v, int mask) { return __shfl_xor_sync(0xffffffffu, v, mask); }

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
LOOM_FN u32 float_bits(float x) { return __float_as_uint(x); }
LOOM_FN float bits_float(u32 x) { return __uint_as_float(x); }
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
// The two numbers in one register.
template <class T> LOOM_FN float unpack_lo(u32 v) { return to_float(T{(u16)v}); }
template <class T> LOOM_FN float unpack_hi(u32 v) { return to_float(T{(u16)(v >> 16)}); }

// ---- global memory: element `i` of an array ------------------------------------------------------

template <class T> LOOM_FN T ldg(gptr<const T> p, i64 i) { return p[i]; }
template <class T> LOOM_FN void stg(gptr<T> p, i64 i, T v) { p[i] = v; }

// Two neighbouring 16-bit elements at once; i must be even.
template <class T> LOOM_FN void stg_pair(gptr<T> p, i64 i, u32 v) {
  *reinterpret_cast<u32 *>(p + i) = v;
}

// n words from element i on: the address is a multiple of 4*n bytes.
template <int n> struct loom_vector;
template <> struct loom_vector<1> { typedef u32 type; };
template <> struct loom_vector<2> { typedef uint2 type; };
template <> struct loom_vector<4> { typedef uint4 type; };
template <int n, class T> LOOM_FN words<n> ldg_words(gptr<const T> p, i64 i) {
  words<n> v;
  typedef typename loom_vector<n>::type vector;
  *reinterpret_cast<vector *>(&v) = *reinterpret_cast<const vector *>(p + i);
  return v;
}
template <int n, class T> LOOM_FN void stg_words(gptr<T> p, i64 i, words<n> v) {
  typedef typename loom_vector<n>::type vector;
  *reinterpret_cast<vector *>(p + i) = *reinterpret_cast<vector *>(&v);
}
// The same for what is read once, and of memory that nobody writes while the grid runs: it takes no place in L1.
template <int n, class T> LOOM_FN words<n> ldg_words_stream(gptr<const T> p, i64 i) {
  words<n> v;
#define LOOM_LD_STREAM "ld.global.nc.L1::no_allocate"
  if constexpr (n == 1)
    asm volatile(LOOM_LD_STREAM ".u32 %0, [%1];" : "=r"(v.w[0]) : "l"(p + i) : "memory");
  else if constexpr (n == 2)
    asm volatile(LOOM_LD_STREAM ".v2.u32 {%0,%1}, [%2];"
                 : "=r"(v.w[0]), "=r"(v.w[1])
                 : "l"(p + i)
                 : "memory");
  else
    asm volatile(LOOM_LD_STREAM ".v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
                 : "l"(p + i)
                 : "memory");
#undef LOOM_LD_STREAM
  return v;
}
// The same for what is not soon read again: the first that the caches give up.
template <int n, class T> LOOM_FN void stg_words_stream(gptr<T> p, i64 i, words<n> v) {
  if constexpr (n == 1)
    asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(p + i), "r"(v.w[0]) : "memory");
  else if constexpr (n == 2)
    asm volatile("st.global.cs.v2.u32 [%0], {%1,%2};" ::"l"(p + i), "r"(v.w[0]), "r"(v.w[1])
                 : "memory");
  else
    asm volatile("st.global.cs.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(p + i), "r"(v.w[0]), "r"(v.w[1]),
                 "r"(v.w[2]), "r"(v.w[3])
                 : "memory");
}

// The array of T that begins `bytes` after p.
template <class T, class U> LOOM_FN gptr<T> gptr_at(gptr<U> p, i64 bytes) {
  return (T *)((char *)p + bytes); // const or not is for T to say
}

// Bytes that p lies past a multiple of 16.
template <class T> LOOM_FN int gptr_past_16(gptr<T> p) { return (int)((u64)p & 15); }

// ---- global memory that CTAs share: counters, flags, sums ----------------------------------------

// Orders this thread's accesses before it and after it, for every thread of the GPU.
LOOM_FN void fence_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

// Element i becomes itself + v; the old value. atom_inc: itself + 1, or 0 from `limit` on.
#define LOOM_ATOM(name, op)                                                                        \
  LOOM_FN u32 name(gptr<u32> p, i64 i, u32 v) {                                                    \
    u32 old;                                                                                       \
    asm volatile("atom." op ".u32 %0, [%1], %2;" : "=r"(old) : "l"(p + i), "r"(v) : "memory");     \
    return old;                                                                                    \
  }
LOOM_ATOM(atom_add, "relaxed.gpu.global.add")
LOOM_ATOM(atom_add_acq_rel, "acq_rel.gpu.global.add")
LOOM_ATOM(atom_inc, "relaxed.gpu.global.inc")
LOOM_ATOM(atom_inc_acq_rel, "acq_rel.gpu.global.inc")
#undef LOOM_ATOM
LOOM_FN void red_add(gptr<float> p, i64 i, float v) {
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(p + i), "f"(v) : "memory");
}
LOOM_FN void red_add(gptr<u32> p, i64 i, u32 v) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(p + i), "r"(v) : "memory");
}

LOOM_FN u32 ld_acquire(gptr<const u32> p, i64 i) {
  u32 v;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p + i) : "memory");
  LOOM_POLLED(LOOM_AT_FLAG, (u64)(p + i), v);
  return v;
}
LOOM_FN u32 ld_relaxed(gptr<const u32> p, i64 i) {
  u32 v;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p + i) : "memory");
  LOOM_POLLED(LOOM_AT_FLAG, (u64)(p + i), v);
  return v;
}
LOOM_FN void st_release(gptr<u32> p, i64 i, u32 v) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p + i), "r"(v) : "memory");
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

// n words; addr is a multiple of 4*n. The same two functions serve the memory of a cluster.
#define LOOM_WORDS(load, store, space)                                                             \
  template <int n> LOOM_FN words<n> load(u32 addr) {                                               \
    words<n> v;                                                                                    \
    if constexpr (n == 1)                                                                          \
      asm volatile("ld." space ".u32 %0, [%1];" : "=r"(v.w[0]) : "r"(addr) : "memory");            \
    else if constexpr (n == 2)                                                                     \
      asm volatile("ld." space ".v2.u32 {%0,%1}, [%2];"                                            \
                   : "=r"(v.w[0]), "=r"(v.w[1])                                                    \
                   : "r"(addr)                                                                     \
                   : "memory");                                                                    \
    else                                                                                           \
      asm volatile("ld." space ".v4.u32 {%0,%1,%2,%3}, [%4];"                                      \
                   : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])                        \
                   : "r"(addr)                                                                     \
                   : "memory");                                                                    \
    return v;                                                                                      \
  }                                                                                                \
  template <int n> LOOM_FN void store(u32 addr, words<n> v) {                                      \
    if constexpr (n == 1)                                                                          \
      asm volatile("st." space ".u32 [%0], %1;" ::"r"(addr), "r"(v.w[0]) : "memory");              \
    else if constexpr (n == 2)                                                                     \
      asm volatile("st." space ".v2.u32 [%0], {%1,%2};" ::"r"(addr), "r"(v.w[0]), "r"(v.w[1])      \
                   : "memory");                                                                    \
    else                                                                                           \
      asm volatile("st." space ".v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(addr), "r"(v.w[0]),            \
                   "r"(v.w[1]), "r"(v.w[2]), "r"(v.w[3])                                           \
                   : "memory");                                                                    \
  }
LOOM_WORDS(lds_words, sts_words, "shared")

// A word of the CTA becomes itself + v; the old value.
LOOM_FN u32 atom_add_shared(u32 addr, u32 v) {
  u32 old;
  asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "r"(addr), "r"(v)
               : "memory");
  return old;
}

// One, two or four 8x8 matrices of 16-bit elements; lane l gives the address of row l%8 of matrix
// l/8 and receives elements 2*(l%4) and 2*(l%4)+1 of row l/4 (trans: of column l/4) of each.
#define LOOM_LDMATRIX(suffix, text)                                                                \
  LOOM_FN void ldmatrix_x1##suffix(u32(&r)[1], u32 addr) {                                         \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" text ".shared.b16 {%0}, [%1];"                    \
                 : "=r"(r[0])                                                                      \
                 : "r"(addr)                                                                       \
                 : "memory");                                                                      \
  }                                                                                                \
  LOOM_FN void ldmatrix_x2##suffix(u32(&r)[2], u32 addr) {                                         \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" text ".shared.b16 {%0,%1}, [%2];"                 \
                 : "=r"(r[0]), "=r"(r[1])                                                          \
                 : "r"(addr)                                                                       \
                 : "memory");                                                                      \
  }                                                                                                \
  LOOM_FN void ldmatrix_x4##suffix(u32(&r)[4], u32 addr) {                                         \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" text ".shared.b16 {%0,%1,%2,%3}, [%4];"           \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                  \
                 : "r"(addr)                                                                       \
                 : "memory");                                                                      \
  }
LOOM_LDMATRIX(, "")
LOOM_LDMATRIX(_trans, ".trans")
#undef LOOM_LDMATRIX

// ---- asynchronous copies, sm_80: 16, 8 or 4 bytes a thread, in groups -----------------------------------

// Elements i..i+7 of p to shared address dst; zeros instead where `valid` is false.
template <class T> LOOM_FN void cp_async_16(u32 dst, gptr<const T> p, i64 i, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(dst), "l"(p + (valid ? i : 0)),
               "r"(valid ? 16 : 0)
               : "memory");
}
template <class T> LOOM_FN void cp_async_8(u32 dst, gptr<const T> p, i64 i, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(dst), "l"(p + (valid ? i : 0)),
               "r"(valid ? 8 : 0)
               : "memory");
}
template <class T> LOOM_FN void cp_async_4(u32 dst, gptr<const T> p, i64 i, bool valid) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(dst), "l"(p + (valid ? i : 0)),
               "r"(valid ? 4 : 0)
               : "memory");
}
LOOM_FN void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending> LOOM_FN void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// ---- tensor cores, sm_80 -------------------------------------------------------------------------

// d[16][8] += a[16][k] * b[k][8] with row-major a and column-major b, k = 16 or 8. Of lane l, in a:
// rows l/4 and l/4 + 8, columns 2*(l%4) and the next (then those 8 further); b likewise by columns.
template <class T> LOOM_FN void mma_m16n8k16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1);
template <class T> LOOM_FN void mma_m16n8k8(float (&d)[4], const u32 (&a)[2], u32 b0);
#define LOOM_MMA(type, name)                                                                       \
  template <>                                                                                      \
  LOOM_SPECIAL void mma_m16n8k16<type>(float(&d)[4], const u32(&a)[4], u32 b0, u32 b1) {           \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 "                    \
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                           \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                  \
  }                                                                                                \
  template <> LOOM_SPECIAL void mma_m16n8k8<type>(float(&d)[4], const u32(&a)[2], u32 b0) {        \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." name "." name ".f32 "                     \
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                                    \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(b0));                                                 \
  }
LOOM_MMA(f16, "f16")
LOOM_MMA(bf16, "bf16")
#undef LOOM_MMA
// The same in f16: d[0] holds the two sums of row l/4, d[1] those of row l/4 + 8.
LOOM_FN void mma_m16n8k16_f16(u32 (&d)[2], const u32 (&a)[4], u32 b0, u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
               "{%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
LOOM_FN void mma_m16n8k8_f16(u32 (&d)[2], const u32 (&a)[2], u32 b0) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[0]), "r"(a[1]), "r"(b0));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 // the pass for the host reads kernels too
#include "loom_hopper.cuh"
#endif
#endif // __CUDACC__
