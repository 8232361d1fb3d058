// wgmma.h -- how a conformance case of wgmma runs. Shared memory is filled with integers, whatever
// they stand for: which of them are multiplied, and where the sums come out, is what is compared.
// So a descriptor needs no tile that makes sense, only one that stays within the shared memory.
#pragma once

#include "case.h"

enum : int {
  A_WORDS = 4096,                // 16 KiB for A's tile
  B_WORDS = 16384,               // 64 KiB for B's
  FRAGMENTS = A_WORDS + B_WORDS, // in `in`, behind the tiles: A's registers of 4 instructions
  SUMS = FRAGMENTS + 2048,       // and 6144 words to begin the sums with
};

// What a descriptor says of a tile; steps lead from one k16 to the next.
template <int swizzle_, int major_> struct tile {
  static constexpr int swizzle = swizzle_, major = major_;
  static constexpr int width = swizzle ? swizzle : 16; // bytes of a row
  static constexpr bool k_major = major == K_MAJOR;
  // K-major: 8 rows of `width`, then the next 8. MN-major: 32 rows of k, then the next block of mn.
  // Without a swizzle: two strides that differ, so that their roles show.
  static constexpr u32 stride = swizzle ? 8 * width : k_major ? 256 : 384;
  static constexpr u32 leading = swizzle ? (k_major ? 16 : 32 * width) : 128;
  static constexpr int steps = !swizzle ? 1 : k_major ? width / 32 : 2;
  static constexpr u32 step = k_major ? 32 : 16 * width;
  static constexpr u32 start = 0; // where the first step begins
};
// MN-major blocks of 64, tile_k long, one after the other, as TMA leaves a tile: a width that is no
// multiple of 64 ends within the last. It begins `block` blocks and `k` steps of 16 into the tile.
template <int tile_k, int block = 0, int k = 0> struct blocks : tile<128, MN_MAJOR> {
  static constexpr u32 leading = 128 * tile_k;
  static constexpr u32 start = block * leading + k * step;
  static constexpr int steps = tile_k / 16 - k;
};
template <class Tile> LOOM_FN u64 desc_of(u32 addr, int k) {
  return smem_desc<Tile::swizzle>(addr + Tile::start + k * Tile::step, Tile::leading, Tile::stride);
}
template <class A, class B> constexpr int steps_of = A::steps < B::steps ? A::steps : B::steps;

LOOM_FN void tiles(gptr<const u32> in) {
  fill(smem_base(), in, 0, A_WORDS + B_WORDS);
  fence_proxy_async();
  cta_sync();
}
LOOM_FN i64 sum_at(int i) { return SUMS + 128 * (i % 48) + thread(); }
template <int steps> LOOM_FN void fragments(u32 (&a)[steps][4], gptr<const u32> in) {
  UNROLL
  for (int k = 0; k < steps; k++) {
    UNROLL
    for (int i = 0; i < 4; i++) a[k][i] = ldg<u32>(in, FRAGMENTS + 512 * k + 128 * i + thread());
  }
}

// ---- fp32 sums -------------------------------------------------------------------------------------

template <class T, int regs> LOOM_FN void begin_floats(float (&d)[regs], gptr<const u32> in) {
  UNROLL
  for (int i = 0; i < regs; i++) d[i] = unpack_lo<T>(ldg<u32>(in, sum_at(i)));
}
template <int regs> LOOM_FN void end_floats(gptr<u32> out, int first, float (&d)[regs]) {
  gptr<float> to = gptr_at<float>(out, 0);
  UNROLL
  for (int i = 0; i < regs; i++) stg<float>(to, first + 128 * i + thread(), d[i]);
}

template <class T, int n, class A, class B>
LOOM_FN void run_wgmma(gptr<const u32> in, gptr<u32> out, int accumulate) {
  float d[n / 2];
  tiles(in);
  begin_floats<T>(d, in);
  u32 a = smem_base(), b = a + 4 * A_WORDS;
  wgmma_fence();
  UNROLL
  for (int k = 0; k < steps_of<A, B>; k++)
    wgmma<T, n, A::major, B::major>(d, desc_of<A>(a, k), desc_of<B>(b, k), k ? 1 : accumulate);
  wgmma_commit();
  wgmma_wait<0>();
  end_floats(out, 0, d);
}
template <class T, int n, class B>
LOOM_FN void run_wgmma_rs(gptr<const u32> in, gptr<u32> out, int accumulate) {
  float d[n / 2];
  u32 a[B::steps][4];
  tiles(in);
  begin_floats<T>(d, in);
  fragments(a, in);
  wgmma_fence();
  UNROLL
  for (int k = 0; k < B::steps; k++)
    wgmma_rs<T, n, B::major>(d, a[k], desc_of<B>(smem_base() + 4 * A_WORDS, k), k ? 1 : accumulate);
  wgmma_commit();
  wgmma_wait<0>();
  end_floats(out, 0, d);
}

// ---- f16 sums --------------------------------------------------------------------------------------

template <int regs> LOOM_FN void begin_halves(u32 (&d)[regs], gptr<const u32> in) {
  UNROLL
  for (int i = 0; i < regs; i++) d[i] = ldg<u32>(in, sum_at(i));
}
template <int regs> LOOM_FN void end_halves(gptr<u32> out, u32 (&d)[regs]) {
  UNROLL
  for (int i = 0; i < regs; i++) stg<u32>(out, 128 * i + thread(), d[i]);
}

template <int n, class A, class B>
LOOM_FN void run_wgmma_f16(gptr<const u32> in, gptr<u32> out, int accumulate) {
  u32 d[n / 4];
  tiles(in);
  begin_halves(d, in);
  u32 a = smem_base(), b = a + 4 * A_WORDS;
  wgmma_fence();
  UNROLL
  for (int k = 0; k < steps_of<A, B>; k++)
    wgmma_f16<n, A::major, B::major>(d, desc_of<A>(a, k), desc_of<B>(b, k), k ? 1 : accumulate);
  wgmma_commit();
  wgmma_wait<0>();
  end_halves(out, d);
}
template <int n, class B>
LOOM_FN void run_wgmma_f16_rs(gptr<const u32> in, gptr<u32> out, int accumulate) {
  u32 d[n / 4];
  u32 a[B::steps][4];
  tiles(in);
  begin_halves(d, in);
  fragments(a, in);
  wgmma_fence();
  UNROLL
  for (int k = 0; k < B::steps; k++)
    wgmma_f16_rs<n, B::major>(d, a[k], desc_of<B>(smem_base() + 4 * A_WORDS, k),
                              k ? 1 : accumulate);
  wgmma_commit();
  wgmma_wait<0>();
  end_halves(out, d);
}

typedef tile<128, K_MAJOR> k128;
typedef tile<64, K_MAJOR> k64;
typedef tile<32, K_MAJOR> k32;
typedef tile<0, K_MAJOR> k0;
typedef tile<128, MN_MAJOR> mn128;
typedef tile<64, MN_MAJOR> mn64;
typedef tile<32, MN_MAJOR> mn32;
typedef tile<0, MN_MAJOR> mn0;
