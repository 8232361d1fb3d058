// loom_wgmma.cuh -- matrix multiplication by a warpgroup (sm_90a), a part of loom.cuh.
//
// wgmma<T, n, major_a, major_b>(d, a, b, accumulate):  d[64][n] (+)= a[64][16] * b[16][n]
// by the 128 threads of a warpgroup. a and b are tiles in shared memory, named by descriptors;
// d is spread over registers: element i of thread t (warp w = t/32, lane l) is
//     row 16*w + l/4 + 8*((i/2)%2),   column 8*(i/4) + 2*(l%4) + i%2.
// wgmma_rs takes a from registers: those of mma_m16n8k16, rows 16*w onwards. wgmma_f16 and
// wgmma_f16_rs accumulate in f16: register i holds elements 2*i (low half) and 2*i + 1.
// The instructions are asynchronous: wgmma_fence, some wgmma, wgmma_commit, wgmma_wait<pending>.
// ptxas must see one straight line of them, with every accumulator index a constant. Until a wait
// covers it, an instruction owns its registers, those of a too: each in flight has arrays of its own.

enum : int { K_MAJOR = 0, MN_MAJOR = 1 }; // which index of a tile is contiguous in memory

LOOM_FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
LOOM_FN void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending> LOOM_FN void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Descriptor of a tile: bits 0-13 address/16, 16-29 leading byte offset/16, 32-45 stride byte
// offset/16, 62-63 the swizzle (0 none, 1, 2, 3: 128, 64, 32 bytes). With a swizzle of W bytes the
// tile starts at a multiple of 8*W. K-major: rows of W/2 k, `stride` from one group of 8 rows to
// the next, `leading` unused. MN-major: rows of W/2 mn, `leading` from one block of W/2 mn to the
// next, `stride` per 8 k. Without a swizzle the tile is made of 8x8 matrices of 128 bytes. K-major:
// `leading` from one to the next along k, `stride` along mn. MN-major: `stride` along mn,
// `leading` along k.
template <int swizzle = 128> LOOM_FN u64 smem_desc(u32 addr, u32 leading, u32 stride) {
  static_assert(swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128,
                "no such swizzle");
  constexpr u64 mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return (u64)((addr & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 |
         mode << 62;
}

template <class T, int n> struct wgmma_f32_shape;
template <int n> struct wgmma_f16_shape;

template <class T, int n, int major_a, int major_b>
LOOM_FN void wgmma(float (&d)[n / 2], u64 a, u64 b, int accumulate) {
  wgmma_f32_shape<T, n>::template run<major_a, major_b>(d, a, b, accumulate);
}
template <class T, int n, int major_b>
LOOM_FN void wgmma_rs(float (&d)[n / 2], const u32 (&a)[4], u64 b, int accumulate) {
  wgmma_f32_shape<T, n>::template run_rs<major_b>(d, a, b, accumulate);
}
template <int n, int major_a, int major_b>
LOOM_FN void wgmma_f16(u32 (&d)[n / 4], u64 a, u64 b, int accumulate) {
  wgmma_f16_shape<n>::template run<major_a, major_b>(d, a, b, accumulate);
}
template <int n, int major_b>
LOOM_FN void wgmma_f16_rs(u32 (&d)[n / 4], const u32 (&a)[4], u64 b, int accumulate) {
  wgmma_f16_shape<n>::template run_rs<major_b>(d, a, b, accumulate);
}

#include "loom_wgmma_lists.cuh"

// The operands after the accumulators are numbered from their count on: p0, p1, ...
#define LOOM_FROM_SMEM(name, acc, bind, n, regs, p0, p1, p2, p3, p4)                               \
  template <int major_a, int major_b>                                                              \
  static __device__ __forceinline__ void run(acc(&d)[regs], u64 a, u64 b, int accumulate) {        \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p2 ", 0;\n"                                 \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k16." name " {" LOOM_R_##regs             \
                 "}, %" #p0 ", %" #p1 ", p, 1, 1, %" #p3 ", %" #p4 ";\n}"                          \
                 : LOOM_##bind##_##regs                                                            \
                 : "l"(a), "l"(b), "r"(accumulate), "n"(major_a), "n"(major_b));                   \
  }
#define LOOM_FROM_REGS(name, acc, bind, n, regs, p0, p1, p2, p3, p4, p5, p6)                       \
  template <int major_b>                                                                           \
  static __device__ __forceinline__ void run_rs(acc(&d)[regs], const u32(&a)[4], u64 b,            \
                                                int accumulate) {                                  \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p5 ", 0;\n"                                 \
                 "wgmma.mma_async.sync.aligned.m64n" #n "k16." name " {" LOOM_R_##regs             \
                 "}, {%" #p0 ",%" #p1 ",%" #p2 ",%" #p3 "}, %" #p4 ", p, 1, 1, %" #p6 ";\n}"       \
                 : LOOM_##bind##_##regs                                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate),            \
                   "n"(major_b));                                                                  \
  }
#define LOOM_WGMMA_F32(n, regs, p0, p1, p2, p3, p4, p5, p6)                                        \
  template <> struct wgmma_f32_shape<f16, n> {                                                     \
    LOOM_FROM_SMEM("f32.f16.f16", float, F, n, regs, p0, p1, p2, p3, p4)                           \
    LOOM_FROM_REGS("f32.f16.f16", float, F, n, regs, p0, p1, p2, p3, p4, p5, p6)                   \
  };                                                                                               \
  template <> struct wgmma_f32_shape<bf16, n> {                                                    \
    LOOM_FROM_SMEM("f32.bf16.bf16", float, F, n, regs, p0, p1, p2, p3, p4)                         \
    LOOM_FROM_REGS("f32.bf16.bf16", float, F, n, regs, p0, p1, p2, p3, p4, p5, p6)                 \
  };
#define LOOM_WGMMA_F16(n, regs, p0, p1, p2, p3, p4, p5, p6)                                        \
  template <> struct wgmma_f16_shape<n> {                                                          \
    LOOM_FROM_SMEM("f16.f16.f16", u32, U, n, regs, p0, p1, p2, p3, p4)                             \
    LOOM_FROM_REGS("f16.f16.f16", u32, U, n, regs, p0, p1, p2, p3, p4, p5, p6)                     \
  };

LOOM_WGMMA_F32(8, 4, 4, 5, 6, 7, 8, 9, 10)
LOOM_WGMMA_F32(16, 8, 8, 9, 10, 11, 12, 13, 14)
LOOM_WGMMA_F32(24, 12, 12, 13, 14, 15, 16, 17, 18)
LOOM_WGMMA_F32(32, 16, 16, 17, 18, 19, 20, 21, 22)
LOOM_WGMMA_F32(40, 20, 20, 21, 22, 23, 24, 25, 26)
LOOM_WGMMA_F32(48, 24, 24, 25, 26, 27, 28, 29, 30)
LOOM_WGMMA_F32(56, 28, 28, 29, 30, 31, 32, 33, 34)
LOOM_WGMMA_F32(64, 32, 32, 33, 34, 35, 36, 37, 38)
LOOM_WGMMA_F32(72, 36, 36, 37, 38, 39, 40, 41, 42)
LOOM_WGMMA_F32(80, 40, 40, 41, 42, 43, 44, 45, 46)
LOOM_WGMMA_F32(88, 44, 44, 45, 46, 47, 48, 49, 50)
LOOM_WGMMA_F32(96, 48, 48, 49, 50, 51, 52, 53, 54)
LOOM_WGMMA_F32(104, 52, 52, 53, 54, 55, 56, 57, 58)
LOOM_WGMMA_F32(112, 56, 56, 57, 58, 59, 60, 61, 62)
LOOM_WGMMA_F32(120, 60, 60, 61, 62, 63, 64, 65, 66)
LOOM_WGMMA_F32(128, 64, 64, 65, 66, 67, 68, 69, 70)
LOOM_WGMMA_F32(136, 68, 68, 69, 70, 71, 72, 73, 74)
LOOM_WGMMA_F32(144, 72, 72, 73, 74, 75, 76, 77, 78)
LOOM_WGMMA_F32(152, 76, 76, 77, 78, 79, 80, 81, 82)
LOOM_WGMMA_F32(160, 80, 80, 81, 82, 83, 84, 85, 86)
LOOM_WGMMA_F32(168, 84, 84, 85, 86, 87, 88, 89, 90)
LOOM_WGMMA_F32(176, 88, 88, 89, 90, 91, 92, 93, 94)
LOOM_WGMMA_F32(184, 92, 92, 93, 94, 95, 96, 97, 98)
LOOM_WGMMA_F32(192, 96, 96, 97, 98, 99, 100, 101, 102)
LOOM_WGMMA_F32(200, 100, 100, 101, 102, 103, 104, 105, 106)
LOOM_WGMMA_F32(208, 104, 104, 105, 106, 107, 108, 109, 110)
LOOM_WGMMA_F32(216, 108, 108, 109, 110, 111, 112, 113, 114)
LOOM_WGMMA_F32(224, 112, 112, 113, 114, 115, 116, 117, 118)
LOOM_WGMMA_F32(232, 116, 116, 117, 118, 119, 120, 121, 122)
LOOM_WGMMA_F32(240, 120, 120, 121, 122, 123, 124, 125, 126)
LOOM_WGMMA_F32(248, 124, 124, 125, 126, 127, 128, 129, 130)
LOOM_WGMMA_F32(256, 128, 128, 129, 130, 131, 132, 133, 134)

LOOM_WGMMA_F16(8, 2, 2, 3, 4, 5, 6, 7, 8)
LOOM_WGMMA_F16(16, 4, 4, 5, 6, 7, 8, 9, 10)
LOOM_WGMMA_F16(24, 6, 6, 7, 8, 9, 10, 11, 12)
LOOM_WGMMA_F16(32, 8, 8, 9, 10, 11, 12, 13, 14)
LOOM_WGMMA_F16(40, 10, 10, 11, 12, 13, 14, 15, 16)
LOOM_WGMMA_F16(48, 12, 12, 13, 14, 15, 16, 17, 18)
LOOM_WGMMA_F16(56, 14, 14, 15, 16, 17, 18, 19, 20)
LOOM_WGMMA_F16(64, 16, 16, 17, 18, 19, 20, 21, 22)
LOOM_WGMMA_F16(72, 18, 18, 19, 20, 21, 22, 23, 24)
LOOM_WGMMA_F16(80, 20, 20, 21, 22, 23, 24, 25, 26)
LOOM_WGMMA_F16(88, 22, 22, 23, 24, 25, 26, 27, 28)
LOOM_WGMMA_F16(96, 24, 24, 25, 26, 27, 28, 29, 30)
LOOM_WGMMA_F16(104, 26, 26, 27, 28, 29, 30, 31, 32)
LOOM_WGMMA_F16(112, 28, 28, 29, 30, 31, 32, 33, 34)
LOOM_WGMMA_F16(120, 30, 30, 31, 32, 33, 34, 35, 36)
LOOM_WGMMA_F16(128, 32, 32, 33, 34, 35, 36, 37, 38)
LOOM_WGMMA_F16(136, 34, 34, 35, 36, 37, 38, 39, 40)
LOOM_WGMMA_F16(144, 36, 36, 37, 38, 39, 40, 41, 42)
LOOM_WGMMA_F16(152, 38, 38, 39, 40, 41, 42, 43, 44)
LOOM_WGMMA_F16(160, 40, 40, 41, 42, 43, 44, 45, 46)
LOOM_WGMMA_F16(168, 42, 42, 43, 44, 45, 46, 47, 48)
LOOM_WGMMA_F16(176, 44, 44, 45, 46, 47, 48, 49, 50)
LOOM_WGMMA_F16(184, 46, 46, 47, 48, 49, 50, 51, 52)
LOOM_WGMMA_F16(192, 48, 48, 49, 50, 51, 52, 53, 54)
LOOM_WGMMA_F16(200, 50, 50, 51, 52, 53, 54, 55, 56)
LOOM_WGMMA_F16(208, 52, 52, 53, 54, 55, 56, 57, 58)
LOOM_WGMMA_F16(216, 54, 54, 55, 56, 57, 58, 59, 60)
LOOM_WGMMA_F16(224, 56, 56, 57, 58, 59, 60, 61, 62)
LOOM_WGMMA_F16(232, 58, 58, 59, 60, 61, 62, 63, 64)
LOOM_WGMMA_F16(240, 60, 60, 61, 62, 63, 64, 65, 66)
LOOM_WGMMA_F16(248, 62, 62, 63, 64, 65, 66, 67, 68)
LOOM_WGMMA_F16(256, 64, 64, 65, 66, 67, 68, 69, 70)

#undef LOOM_WGMMA_F16
#undef LOOM_WGMMA_F32
#undef LOOM_FROM_REGS
#undef LOOM_FROM_SMEM
