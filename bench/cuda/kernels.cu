// kernels.cu - the worker's own device code: fill, spoil, widen, compare, checksum, sweep, link, clock, wait
//
// Plain grid-stride loops; none of it is timed. exact.cu has the exact families;
// everything else is C and sees kernels.h and families.h.

#include "kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

using u16 = unsigned short;
using u64 = unsigned long long;

constexpr int threads = 256;
constexpr int blocks = 1056; // 8 a SM on the largest part; grid-stride loops make any number right

template <bool bf16> __device__ double widen(u16 bits) {
  if (bf16) return (double)__bfloat162float(__ushort_as_bfloat16(bits));
  return (double)__half2float(__ushort_as_half(bits));
}

template <bool bf16> __device__ double rounded(double v) {
  if (bf16) return (double)__bfloat162float(__double2bfloat16(v));
  return (double)__half2float(__double2half(v));
}

template <bool bf16> __device__ u16 narrow(float v) {
  return bf16 ? __bfloat16_as_ushort(__float2bfloat16(v)) : __half_as_ushort(__float2half(v));
}

__device__ u64 mix(u64 z) { // splitmix64's finalizer
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

__device__ size_t first_index() { return blockIdx.x * (size_t)blockDim.x + threadIdx.x; }
__device__ size_t index_step() { return gridDim.x * (size_t)blockDim.x; }

template <typename T> __device__ T warp_sum(T v) {
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  return v;
}

// Box-Muller on two 24-bit uniforms: values reach 5.8 sigma.
template <bool bf16> __global__ void fill(u16 *out, size_t n, u64 seed) {
  u64 base = mix(seed + 0x9e3779b97f4a7c15ull);
  for (size_t i = first_index(); i < n; i += index_step()) {
    u64 x = mix(base + i * 0x9e3779b97f4a7c15ull);
    float u1 = (float)((unsigned)(x >> 40) + 1) * 0x1p-24f;
    float u2 = (float)(unsigned)(x & 0xffffff) * 0x1p-24f;
    out[i] = narrow<bf16>(sqrtf(-2.0f * logf(u1)) * cospif(2.0f * u2));
  }
}

__global__ void poison(u16 *out, size_t n, u16 mark) {
  for (size_t i = first_index(); i < n; i += index_step()) out[i] = mark;
}

__global__ void checksum(const u64 *in, size_t n, u64 *out) {
  u64 sum = 0;
  for (size_t i = first_index(); i < n; i += index_step())
    sum += mix(in[i] ^ mix(i + 0x9e3779b97f4a7c15ull));
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

template <bool bf16>
__global__ void widen_all(double *out, const u16 *in, bool absolute, size_t n) {
  for (size_t i = first_index(); i < n; i += index_step()) {
    double v = widen<bf16>(in[i]);
    out[i] = absolute ? fabs(v) : v;
  }
}

// bound = 1.01 u |C*| + slack 2^-23 (|A||B|) + half the smallest subnormal, u the unit roundoff of
// the output; check.c chooses the slack. The last term only matters where C* underflows.
template <bool bf16>
__global__ void compare(const u16 *c, const double *ref, const double *abs, size_t n, double slack,
                        u16 mark, kernels_diff *out) {
  constexpr double u = bf16 ? 0x1p-8 : 0x1p-11, least = bf16 ? 0x1p-134 : 0x1p-25;
  double err2 = 0, round2 = 0, worst = 0;
  u64 bad = 0, unwritten = 0, first = ~0ull;
  for (size_t i = first_index(); i < n; i += index_step()) {
    double want = ref[i], err = fabs(widen<bf16>(c[i]) - want), off = rounded<bf16>(want) - want;
    double bound = 1.01 * u * fabs(want) + slack * 0x1p-23 * abs[i] + least;
    err2 += err * err;
    round2 += off * off;
    if (err <= bound) { // false for NaN
      worst = fmax(worst, err / bound);
    } else {
      worst = fmax(worst, err / bound > 1 ? err / bound : (double)INFINITY);
      bad++;
      unwritten += c[i] == mark;
      if (i < first) first = i;
    }
  }
  err2 = warp_sum(err2);
  round2 = warp_sum(round2);
  bad = warp_sum(bad);
  unwritten = warp_sum(unwritten);
  atomicMin(&out->first, first);
  atomicMax(&out->worst, (u64)__double_as_longlong(worst)); // the order of doubles >= 0
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&out->err2, err2);
    atomicAdd(&out->round2, round2);
    atomicAdd(&out->bad, bad);
    atomicAdd(&out->unwritten, unwritten);
  }
}

__global__ void reset(kernels_diff *out) { *out = {0, 0, ~0ull, 0, 0, 0}; }

__global__ void gaps(const u16 *ring, size_t total, size_t lead, size_t stride, size_t used,
                     u16 mark, u64 *out) {
  size_t end = total - lead; // both ends of the ring have a guard of 'lead' elements
  u64 lost = 0;
  for (size_t i = first_index(); i < total; i += index_step()) {
    bool in_set = i >= lead && i < end && (i - lead) % stride < used;
    lost += !in_set && ring[i] != mark;
  }
  lost = warp_sum(lost);
  if (threadIdx.x % 32 == 0 && lost) atomicAdd(out, lost);
}

// One element in 64 gets another sign and other digits; the same once more brings the old ones back.
// Exponents stay: what was finite stays so, and keeps its size.
__global__ void touch(u16 *x, size_t n, u16 others, u64 seed) {
  for (size_t i = first_index(); i < n; i += index_step()) {
    u64 h = mix(seed + i * 0x9e3779b97f4a7c15ull);
    if (h % 64 == 0) x[i] ^= (u16)(h >> 32) & others;
  }
}

// N(0,1) in the sets, the mark in guards and gaps.
template <bool bf16>
__global__ void litter(u16 *ring, size_t total, size_t lead, size_t stride, size_t used, u16 mark,
                       u64 seed) {
  size_t end = total - lead;
  for (size_t i = first_index(); i < total; i += index_step()) {
    bool in_set = i >= lead && i < end && (i - lead) % stride < used;
    u64 x = mix(seed + i * 0x9e3779b97f4a7c15ull);
    float u1 = (float)((unsigned)(x >> 40) + 1) * 0x1p-24f;
    float u2 = (float)(unsigned)(x & 0xffffff) * 0x1p-24f;
    ring[i] = in_set ? narrow<bf16>(sqrtf(-2.0f * logf(u1)) * cospif(2.0f * u2)) : mark;
  }
}

// The right result, but another sign and other digits in a random half of it.
template <bool bf16> __global__ void half_right(u16 *c, const double *ref, size_t n, u64 seed) {
  for (size_t i = first_index(); i < n; i += index_step()) {
    u16 right = narrow<bf16>((float)ref[i]);
    c[i] = right ^ (mix(seed + i * 0x9e3779b97f4a7c15ull) & 1 ? 0x8015 : 0);
  }
}

// Volatile, or the assembler drops loads that nothing uses.
__global__ void sweep(const uint4 *in, size_t n) {
  for (size_t i = first_index(); i < n; i += index_step())
    asm volatile(
        "{ .reg .b32 a, b, c, d; ld.volatile.global.v4.b32 {a, b, c, d}, [%0]; }" ::"l"(in + i));
}

__global__ void chain_link(const volatile u16 *c, size_t c_n, volatile u16 *a, size_t a_n,
                     unsigned bits) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  size_t from = blockIdx.x * (c_n / gridDim.x) + threadIdx.x;
  size_t to = blockIdx.x * (a_n / gridDim.x) + threadIdx.x;
  if (from < c_n && to < a_n) a[to] = (u16)(a[to] ^ (c[from] & bits));
}

// Cycle counters differ between SMs; SM 0 alone answers, so that two samples can be subtracted.
__global__ void clock_sample(u64 *out) {
  unsigned sm;
  u64 ns;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm != 0 || threadIdx.x != 0) return;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  out[0] = (u64)clock64();
  out[1] = ns;
}

__global__ void wait(u64 ns) {
  u64 start, now;
  long long cycles = clock64();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < ns && (u64)(clock64() - cycles) < 4 * ns);
}

u16 mark_of(int dtype) { return dtype ? KERNELS_MARK_BF16 : KERNELS_MARK_F16; }

} // namespace

cudaError_t kernels_fill(void *out, int dtype, size_t n, uint64_t seed, cudaStream_t s) {
  auto kernel = dtype ? fill<true> : fill<false>;
  kernel<<<blocks, threads, 0, s>>>((u16 *)out, n, seed);
  return cudaGetLastError();
}

cudaError_t kernels_poison(void *out, int dtype, size_t n, cudaStream_t s) {
  poison<<<blocks, threads, 0, s>>>((u16 *)out, n, mark_of(dtype));
  return cudaGetLastError();
}

cudaError_t kernels_checksum(const void *in, size_t bytes, unsigned long long *out,
                             cudaStream_t s) {
  cudaError_t e = cudaMemsetAsync(out, 0, sizeof *out, s);
  if (e != cudaSuccess) return e;
  checksum<<<blocks, threads, 0, s>>>((const u64 *)in, bytes / 8, out);
  return cudaGetLastError();
}

cudaError_t kernels_widen(double *out, const void *in, int dtype, bool absolute, size_t n,
                          cudaStream_t s) {
  auto kernel = dtype ? widen_all<true> : widen_all<false>;
  kernel<<<blocks, threads, 0, s>>>(out, (const u16 *)in, absolute, n);
  return cudaGetLastError();
}

cudaError_t kernels_compare(const void *c, int dtype, const double *ref, const double *abs,
                            size_t n, double slack, struct kernels_diff *out, cudaStream_t s) {
  auto kernel = dtype ? compare<true> : compare<false>;
  reset<<<1, 1, 0, s>>>(out);
  kernel<<<blocks, threads, 0, s>>>((const u16 *)c, ref, abs, n, slack, mark_of(dtype), out);
  return cudaGetLastError();
}

cudaError_t kernels_gaps(const void *ring, int dtype, size_t total, size_t lead, size_t stride,
                         size_t used, unsigned long long *out, cudaStream_t s) {
  cudaError_t e = cudaMemsetAsync(out, 0, sizeof *out, s);
  if (e != cudaSuccess) return e;
  gaps<<<blocks, threads, 0, s>>>((const u16 *)ring, total, lead, stride, used, mark_of(dtype),
                                  out);
  return cudaGetLastError();
}

cudaError_t kernels_touch(void *x, int dtype, size_t n, uint64_t seed, cudaStream_t s) {
  touch<<<blocks, threads, 0, s>>>((u16 *)x, n, dtype ? 0x807f : 0x83ff, seed);
  return cudaGetLastError();
}

cudaError_t kernels_litter(void *ring, int dtype, size_t total, size_t lead, size_t stride,
                           size_t used, uint64_t seed, cudaStream_t s) {
  auto kernel = dtype ? litter<true> : litter<false>;
  kernel<<<blocks, threads, 0, s>>>((u16 *)ring, total, lead, stride, used, mark_of(dtype), seed);
  return cudaGetLastError();
}

cudaError_t kernels_half_right(void *c, int dtype, const double *ref, size_t n, uint64_t seed,
                               cudaStream_t s) {
  auto kernel = dtype ? half_right<true> : half_right<false>;
  kernel<<<blocks, threads, 0, s>>>((u16 *)c, ref, n, seed);
  return cudaGetLastError();
}

cudaError_t kernels_sweep(const void *in, size_t bytes, cudaStream_t s) {
  sweep<<<blocks, threads, 0, s>>>((const uint4 *)in, bytes / sizeof(uint4));
  return cudaGetLastError();
}

cudaError_t kernels_link(const void *c, size_t c_n, void *a, size_t a_n, unsigned bits, int sms,
                         bool pdl, cudaStream_t s) {
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((unsigned)sms);
  config.blockDim = dim3(threads);
  config.stream = s;
  config.attrs = &early;
  config.numAttrs = pdl;
  return cudaLaunchKernelEx(&config, chain_link, (const volatile u16 *)c, c_n, (volatile u16 *)a, a_n,
                            bits);
}

cudaError_t kernels_clock(unsigned long long out[2], int sms, cudaStream_t s) {
  clock_sample<<<2 * sms, 32, 0, s>>>(out);
  return cudaGetLastError();
}

cudaError_t kernels_wait(unsigned us, cudaStream_t s) {
  wait<<<1, 1, 0, s>>>(1000ull * us);
  return cudaGetLastError();
}
