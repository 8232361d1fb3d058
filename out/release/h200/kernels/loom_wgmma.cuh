// loom_wgmma.cuh -- warpgroup matrix multiplication (sm_90a), a part of loom.cuh.
//
// wgmma<T, n, major_a, major_b>(d, a, b, accumulate):  d[64][n] (+)= a[64][16] * b[16][n]
// by the 128 threads of a warpgroup. a and b are tiles in shared memory, named by descriptors;
// d is spread over registers: element i of thread t (warp w = t/32, lane l) is
//     row 16*w + l/4 + 8*((i/2)%2),   column 8*(i/4) + 2*(l%4) + i%2.
// The instruction is asynchronous: wgmma_fence, some wgmma, wgmma_commit, wgmma_wait<pending>.
// ptxas must see one straight line of them, with every accumulator index a constant.

enum : int { K_MAJOR = 0, MN_MAJOR = 1 }; // which index of a tile is contiguous in memory

LOOM_FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
LOOM_FN void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending> LOOM_FN void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Descriptor of a tile with the 128-byte swizzle: bits 0-13 address/16, 16-29 leading byte offset/16,
// 32-45 stride byte offset/16, 62-63 the swizzle (1 = 128 bytes). The tile starts at a multiple of
// 1024. K-major: rows of 64 k, `stride` from one group of 8 rows to the next, `leading` unused.
// MN-major: rows of 64 mn, `leading` from one block of 64 mn to the next, `stride` per 8 k.
LOOM_FN u64 smem_desc(u32 addr, u32 leading, u32 stride) {
  return (u64)((addr & 0x3ffff) >> 4) | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 |
         (u64)1 << 62;
}

template <class T, int n, int major_a, int major_b> struct wgmma_shape;

template <class T, int n, int major_a, int major_b>
LOOM_FN void wgmma(float (&d)[n / 2], u64 a, u64 b, int accumulate) {
  wgmma_shape<T, n, major_a, major_b>::run(d, a, b, accumulate);
}

// Operand lists grow by four registers for every 8 columns: R_<n> numbers them for the asm text,
// D_<n> binds them to d[].
#define LOOM_D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define LOOM_R_8 "%0,%1,%2,%3"
#define LOOM_D_8 LOOM_D4(0)
#define LOOM_R_16 LOOM_R_8 ",%4,%5,%6,%7"
#define LOOM_D_16 LOOM_D_8, LOOM_D4(4)
#define LOOM_R_24 LOOM_R_16 ",%8,%9,%10,%11"
#define LOOM_D_24 LOOM_D_16, LOOM_D4(8)
#define LOOM_R_32 LOOM_R_24 ",%12,%13,%14,%15"
#define LOOM_D_32 LOOM_D_24, LOOM_D4(12)
#define LOOM_R_40 LOOM_R_32 ",%16,%17,%18,%19"
#define LOOM_D_40 LOOM_D_32, LOOM_D4(16)
#define LOOM_R_48 LOOM_R_40 ",%20,%21,%22,%23"
#define LOOM_D_48 LOOM_D_40, LOOM_D4(20)
#define LOOM_R_56 LOOM_R_48 ",%24,%25,%26,%27"
#define LOOM_D_56 LOOM_D_48, LOOM_D4(24)
#define LOOM_R_64 LOOM_R_56 ",%28,%29,%30,%31"
#define LOOM_D_64 LOOM_D_56, LOOM_D4(28)
#define LOOM_R_72 LOOM_R_64 ",%32,%33,%34,%35"
#define LOOM_D_72 LOOM_D_64, LOOM_D4(32)
#define LOOM_R_80 LOOM_R_72 ",%36,%37,%38,%39"
#define LOOM_D_80 LOOM_D_72, LOOM_D4(36)
#define LOOM_R_88 LOOM_R_80 ",%40,%41,%42,%43"
#define LOOM_D_88 LOOM_D_80, LOOM_D4(40)
#define LOOM_R_96 LOOM_R_88 ",%44,%45,%46,%47"
#define LOOM_D_96 LOOM_D_88, LOOM_D4(44)
#define LOOM_R_104 LOOM_R_96 ",%48,%49,%50,%51"
#define LOOM_D_104 LOOM_D_96, LOOM_D4(48)
#define LOOM_R_112 LOOM_R_104 ",%52,%53,%54,%55"
#define LOOM_D_112 LOOM_D_104, LOOM_D4(52)
#define LOOM_R_120 LOOM_R_112 ",%56,%57,%58,%59"
#define LOOM_D_120 LOOM_D_112, LOOM_D4(56)
#define LOOM_R_128 LOOM_R_120 ",%60,%61,%62,%63"
#define LOOM_D_128 LOOM_D_120, LOOM_D4(60)
#define LOOM_R_136 LOOM_R_128 ",%64,%65,%66,%67"
#define LOOM_D_136 LOOM_D_128, LOOM_D4(64)
#define LOOM_R_144 LOOM_R_136 ",%68,%69,%70,%71"
#define LOOM_D_144 LOOM_D_136, LOOM_D4(68)
#define LOOM_R_152 LOOM_R_144 ",%72,%73,%74,%75"
#define LOOM_D_152 LOOM_D_144, LOOM_D4(72)
#define LOOM_R_160 LOOM_R_152 ",%76,%77,%78,%79"
#define LOOM_D_160 LOOM_D_152, LOOM_D4(76)
#define LOOM_R_168 LOOM_R_160 ",%80,%81,%82,%83"
#define LOOM_D_168 LOOM_D_160, LOOM_D4(80)
#define LOOM_R_176 LOOM_R_168 ",%84,%85,%86,%87"
#define LOOM_D_176 LOOM_D_168, LOOM_D4(84)
#define LOOM_R_184 LOOM_R_176 ",%88,%89,%90,%91"
#define LOOM_D_184 LOOM_D_176, LOOM_D4(88)
#define LOOM_R_192 LOOM_R_184 ",%92,%93,%94,%95"
#define LOOM_D_192 LOOM_D_184, LOOM_D4(92)
#define LOOM_R_200 LOOM_R_192 ",%96,%97,%98,%99"
#define LOOM_D_200 LOOM_D_192, LOOM_D4(96)
#define LOOM_R_208 LOOM_R_200 ",%100,%101,%102,%103"
#define LOOM_D_208 LOOM_D_200, LOOM_D4(100)
#define LOOM_R_216 LOOM_R_208 ",%104,%105,%106,%107"
#define LOOM_D_216 LOOM_D_208, LOOM_D4(104)
#define LOOM_R_224 LOOM_R_216 ",%108,%109,%110,%111"
#define LOOM_D_224 LOOM_D_216, LOOM_D4(108)
#define LOOM_R_232 LOOM_R_224 ",%112,%113,%114,%115"
#define LOOM_D_232 LOOM_D_224, LOOM_D4(112)
#define LOOM_R_240 LOOM_R_232 ",%116,%117,%118,%119"
#define LOOM_D_240 LOOM_D_232, LOOM_D4(116)
#define LOOM_R_248 LOOM_R_240 ",%120,%121,%122,%123"
#define LOOM_D_248 LOOM_D_240, LOOM_D4(120)
#define LOOM_R_256 LOOM_R_248 ",%124,%125,%126,%127"
#define LOOM_D_256 LOOM_D_248, LOOM_D4(124)

// The operands after the accumulators: a, b, accumulate, major_a, major_b are numbered n/2 onwards.
#define LOOM_WGMMA(type, n, pa, pb, pacc, pma, pmb)                                                \
  template <int major_a, int major_b> struct wgmma_shape<type, n, major_a, major_b> {              \
    static __device__ __forceinline__ void run(float (&d)[n / 2], u64 a, u64 b, int accumulate) {  \
      asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #pacc ", 0;\n"                             \
                   "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." #type "." #type               \
                   " {" LOOM_R_##n "}, %" #pa ", %" #pb ", p, 1, 1, %" #pma ", %" #pmb ";\n}"      \
                   : LOOM_D_##n                                                                    \
                   : "l"(a), "l"(b), "r"(accumulate), "n"(major_a), "n"(major_b));                 \
    }                                                                                              \
  };
#define LOOM_WGMMA_BOTH(...) LOOM_WGMMA(f16, __VA_ARGS__) LOOM_WGMMA(bf16, __VA_ARGS__)

LOOM_WGMMA_BOTH(8, 4, 5, 6, 7, 8)
LOOM_WGMMA_BOTH(16, 8, 9, 10, 11, 12)
LOOM_WGMMA_BOTH(24, 12, 13, 14, 15, 16)
LOOM_WGMMA_BOTH(32, 16, 17, 18, 19, 20)
LOOM_WGMMA_BOTH(40, 20, 21, 22, 23, 24)
LOOM_WGMMA_BOTH(48, 24, 25, 26, 27, 28)
LOOM_WGMMA_BOTH(56, 28, 29, 30, 31, 32)
LOOM_WGMMA_BOTH(64, 32, 33, 34, 35, 36)
LOOM_WGMMA_BOTH(72, 36, 37, 38, 39, 40)
LOOM_WGMMA_BOTH(80, 40, 41, 42, 43, 44)
LOOM_WGMMA_BOTH(88, 44, 45, 46, 47, 48)
LOOM_WGMMA_BOTH(96, 48, 49, 50, 51, 52)
LOOM_WGMMA_BOTH(104, 52, 53, 54, 55, 56)
LOOM_WGMMA_BOTH(112, 56, 57, 58, 59, 60)
LOOM_WGMMA_BOTH(120, 60, 61, 62, 63, 64)
LOOM_WGMMA_BOTH(128, 64, 65, 66, 67, 68)
LOOM_WGMMA_BOTH(136, 68, 69, 70, 71, 72)
LOOM_WGMMA_BOTH(144, 72, 73, 74, 75, 76)
LOOM_WGMMA_BOTH(152, 76, 77, 78, 79, 80)
LOOM_WGMMA_BOTH(160, 80, 81, 82, 83, 84)
LOOM_WGMMA_BOTH(168, 84, 85, 86, 87, 88)
LOOM_WGMMA_BOTH(176, 88, 89, 90, 91, 92)
LOOM_WGMMA_BOTH(184, 92, 93, 94, 95, 96)
LOOM_WGMMA_BOTH(192, 96, 97, 98, 99, 100)
LOOM_WGMMA_BOTH(200, 100, 101, 102, 103, 104)
LOOM_WGMMA_BOTH(208, 104, 105, 106, 107, 108)
LOOM_WGMMA_BOTH(216, 108, 109, 110, 111, 112)
LOOM_WGMMA_BOTH(224, 112, 113, 114, 115, 116)
LOOM_WGMMA_BOTH(232, 116, 117, 118, 119, 120)
LOOM_WGMMA_BOTH(240, 120, 121, 122, 123, 124)
LOOM_WGMMA_BOTH(248, 124, 125, 126, 127, 128)
LOOM_WGMMA_BOTH(256, 128, 129, 130, 131, 132)

#undef LOOM_WGMMA_BOTH
#undef LOOM_WGMMA
