// case.h -- what conformance cases have in common. A case is a kernel of its own that is written in
// the vocabulary alone: nvcc compiles it for a GPU, a host compiler for the CPU device, and both
// must leave the same words in `out`. table.h says how each is started.
#pragma once

#include "loom.cuh"

#define CASE(name)                                                                                 \
  extern "C" __global__ void __launch_bounds__(256, 1) name(gptr<const u32> in, gptr<u32> out)
#define CASE_MAP(name)                                                                             \
  extern "C" __global__ void __launch_bounds__(256, 1)                                             \
      name(gptr<const u32> in, gptr<u32> out, const __grid_constant__ tensor_map map)

LOOM_FN int thread() { return (int)threadIdx.x; }
LOOM_FN int threads() { return (int)blockDim.x; }
LOOM_FN int lane() { return (int)threadIdx.x % 32; }

template <int n> LOOM_FN words<n> same(u32 v) {
  words<n> w;
  for (int i = 0; i < n; i++) w.w[i] = v;
  return w;
}
LOOM_FN u32 load(u32 addr) { return lds_words<1>(addr).w[0]; }
LOOM_FN void store(u32 addr, u32 v) { sts_words<1>(addr, same<1>(v)); }

// `count` words, a multiple of 4, from word `first` of in to shared memory, by the whole CTA.
LOOM_FN void fill(u32 addr, gptr<const u32> in, int first, int count) {
  ROLLED
  for (int i = 4 * thread(); i < count; i += 4 * threads())
    sts_words<4>(addr + 4 * i, ldg_words<4>(in, first + i));
}
LOOM_FN void clear(u32 addr, int count) {
  ROLLED
  for (int i = thread(); i < count; i += threads()) store(addr + 4 * i, 0);
}
// `count` words of shared memory to out, from word `first` on.
LOOM_FN void dump(gptr<u32> out, int first, u32 addr, int count) {
  ROLLED
  for (int i = thread(); i < count; i += threads()) stg<u32>(out, first + i, load(addr + 4 * i));
}

// The bits of a float; all NaNs are one.
LOOM_FN void put(gptr<u32> out, i64 i, float v) {
  if (v == v)
    stg<float>(gptr_at<float>(out, 0), i, v);
  else
    stg<u32>(out, i, 0x7fffffff);
}

// Waits for the phase of a barrier, but not for ever: false where it does not come.
LOOM_FN bool await(u32 bar, u32 parity) {
  bool done = false;
  ROLLED
  for (int i = 0; i < 1 << 20 && !done; i++) done = mbar_try(bar, parity);
  return done;
}
