-- list.lua -- kernels that cheat, or are broken in a way that a careless check takes for right: what run.lua runs.
--
-- A cheat is one or several substitutions in the emitted text, each found exactly once; some change the descriptor too.
-- `cuda` are the verdicts that count on a GPU: wrong, refused, error, crash, hang as the worker says, "source rule" and
-- "cubin rule" (rules.lua), "host compile" (a pointer that is no handle); or "needs: ..." where the worker lacks the
-- check. `cpu` is "caught", or why it is out of the CPU device's reach.

local bases, cheats = {}, {}

-- A good kernel: its name here, its key, its shapes on the CPU device and on a GPU.
local function base(name, key, shapes, gpu)
  bases[#bases + 1] = { name = name, key = key, shapes = shapes, gpu = gpu }
end

local function cheat(name, base_name, edits, cuda, cpu, why)
  if type(edits[1]) == "string" then edits = { edits } end
  local c = { name = name, base = base_name, edits = edits, cuda = cuda, cpu = cpu, why = why, desc = edits.desc or {} }
  cheats[#cheats + 1] = c
end

base("simt", "simt:layout=nn,dtype=f16,acc=f32,tile_m=64,tile_n=64,tile_k=8,thread_m=4,thread_n=4",
  { { 64, 128, 24 }, { 70, 77, 13 } }, { { 512, 384, 512 }, { 500, 391, 517 } })
base("mma", "mma:layout=tn,dtype=f16,acc=f32,tile_m=32,tile_n=32,tile_k=32,stages=3,warps_m=2,warps_n=1,group_m=1",
  { { 64, 32, 160 }, { 40, 56, 136 } }, { { 1024, 512, 1024 }, { 1000, 520, 1032 } })
base("wgmma", "hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=2,"
  .. "stages=3,group_m=2", { { 256, 128, 320 }, { 136, 200, 264 } }, { { 1024, 1024, 1024 }, { 1000, 1016, 1032 } })
base("wgmma pingpong", "hopper:layout=tn,dtype=f16,acc=f32,tile_m=64,tile_n=64,schedule=pingpong,chunk_buffers=1,"
  .. "stages=3", { { 192, 128, 192 }, { 136, 136, 136 } }, { { 1024, 512, 1024 }, { 1000, 520, 1032 } })
-- Few tiles and a long K: the workspace has room for 64 tiles, the ring of operands for 62 sets.
base("splitk", "splitk:layout=tn,dtype=f16,acc=f32,splits=3,order=acq_rel",
  { { 64, 32, 160 }, { 40, 40, 168 } }, { { 128, 128, 8192 }, { 120, 104, 4104 } })

local STORE = "stg(C, (i64)m * ldc + n, from_float<f16>(acc[i][j]));"
local SUM = "acc[m][n] += a[m] * b[n];"
local MMA = "mma_m16n8k16<f16>(acc[i][j], f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);"

-- no product at all ------------------------------------------------------------------------------------

cheat("zeros", "simt", { STORE, "stg(C, (i64)m * ldc + n, f16{0});" }, "wrong", "caught",
  "zeros are near the mean of what is expected")
cheat("a constant", "simt", { STORE, "stg(C, (i64)m * ldc + n, from_float<f16>(1.f));" }, "wrong", "caught",
  "no operand is read for it")
cheat("one sum for a thread's whole block", "simt", { STORE, "stg(C, (i64)m * ldc + n, from_float<f16>(acc[0][0]));" },
  "wrong", "caught", "one sixteenth of the work")
cheat("stale output", "simt", { "if (m < M && n < N) stg", "if (m < M && n < N && K < 0) stg" }, "wrong", "caught",
  "C keeps what an earlier kernel left there")
cheat("an operand as the result", "simt", { STORE, "stg(C, (i64)m * ldc + n, ldg<f16>(A, n < K ? (i64)m * lda + n : 0));" },
  "wrong", "caught", "values that look like data")
cheat("the first row of tiles everywhere", "wgmma", { "k, to.m, to.n, full", "k, 0, to.n, full" }, "wrong", "caught",
  "A is read once")
cheat("result transposed", "mma", { "if (m < M) stg_pair(C, (i64)m * ldc + n,",
    "if (m < N && n < M) stg_pair(C, (i64)n * ldc + m / 2 * 2," }, "wrong", "caught", "right where C is symmetric")
cheat("adds to what C holds", "mma", { "if (m < M) stg_pair(C, (i64)m * ldc + n, pack<f16>(acc[i][j][0], acc[i][j][1]));",
    "if (m < M) stg_pair(C, (i64)m * ldc + n, pack<f16>(acc[i][j][0] + to_float(ldg<f16>(C, (i64)m * ldc + n)), acc[i][j][1]));" },
  "wrong", "caught", "right as long as C was cleared")

-- part of the work -------------------------------------------------------------------------------------

cheat("half of K skipped", "simt", { "k0 += tile_k) {", "k0 += 2 * tile_k) {" }, "wrong", "caught", "half of the sums")
cheat("every second k, doubled", "simt", { SUM, "acc[m][n] += k % 2 ? 0.f : 2.f * a[m] * b[n];" }, "wrong", "caught",
  "right on average")
cheat("every second slice of K skipped", "wgmma",
  { "multiply_slot<w>(acc, r + at.slot", "if (k_tile % 2 == 0) multiply_slot<w>(acc, r + at.slot" },
  "wrong", "caught", "all copies, half of the multiplications")
cheat("the rest of K dropped", "mma", { "k_tiles = (K + tile_k - 1) / tile_k;", "k_tiles = K / tile_k;" }, "wrong", "caught",
  "right where K is a multiple of 32")
cheat("right at one size only", "mma", { "k_tiles = (K + tile_k - 1) / tile_k;", "k_tiles = K == 1024 ? 32 : 1;" }, "wrong",
  "caught", "made for the size that is measured, and the descriptor promises all")
cheat("K ends at 1024", "mma", { "k_tiles = (K + tile_k - 1) / tile_k;", "k_tiles = (min(K, 1024) + tile_k - 1) / tile_k;" },
  "wrong", "its shapes end before 1,024", "right at every smaller size")
cheat("the edge skipped", "mma", { "if (n >= N) continue;", "if (n >= N - N % 32) continue;" }, "wrong", "caught",
  "right where N is a multiple of the tile")
cheat("the last rows of a large C skipped", "wgmma", { "tma_store_2d(tmap_c, chunk, n + j, m + 64 * i);",
    "if (m % 128 == 0 || m < 960) tma_store_2d(tmap_c, chunk, n + j, m + 64 * i);" },
  "wrong", "its shapes end before row 960", "one tile in sixty-four")
cheat("one consumer stores nothing", "wgmma pingpong",
  { "store_tile<wg_cols>(acc, &tmap_c,", "if (consumer == 0) store_tile<wg_cols>(acc, &tmap_c," }, "wrong", "caught",
  "every second tile is stale")

-- less precision than claimed --------------------------------------------------------------------------

local NARROW = [[{
            u32 d[2] = {pack<f16>(acc[i][j][0], acc[i][j][1]), pack<f16>(acc[i][j][2], acc[i][j][3])};
            mma_m16n8k16_f16(d, f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
            acc[i][j][0] = unpack_lo<f16>(d[0]), acc[i][j][1] = unpack_hi<f16>(d[0]);
            acc[i][j][2] = unpack_lo<f16>(d[1]), acc[i][j][3] = unpack_hi<f16>(d[1]);
          }]]
cheat("fp16 accumulation claimed as fp32", "mma", { MMA, NARROW }, "wrong", "caught", "twice as fast on some GPUs")
cheat("fp16 accumulation in a quarter of K", "mma", { MMA, "if (k_tile < k_tiles * 3 / 4) " .. MMA .. "\n          else " .. NARROW },
  "wrong", "caught", "the root mean square alone does not tell")
cheat("fp16 accumulation of 16 k at a time", "mma", { MMA, [[{
            u32 d[2] = {};
            mma_m16n8k16_f16(d, f.a[i], f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]);
            acc[i][j][0] += unpack_lo<f16>(d[0]), acc[i][j][1] += unpack_hi<f16>(d[0]);
            acc[i][j][2] += unpack_lo<f16>(d[1]), acc[i][j][3] += unpack_hi<f16>(d[1]);
          }]] }, "wrong", "caught", "fp32 between the roundings")
cheat("the sum kept in fp16", "simt", { SUM, "acc[m][n] = to_float(from_float<f16>(acc[m][n] + a[m] * b[n]));" }, "wrong", "caught",
  "rounded after every product")
cheat("A with fewer digits", "mma", { "const fragments &f = frag[step % 2];", [[fragments f = frag[step % 2];
      for (int i = 0; i < frags_m; ++i) {
        for (int r = 0; r < 4; ++r) f.a[i][r] &= 0xffe0ffe0;
      }]] }, "wrong", "A is never other than 0, 1, 128 and their opposites there", "an eight-bit operand")
cheat("B with fewer digits", "mma", { "const fragments &f = frag[step % 2];", [[fragments f = frag[step % 2];
      for (int j = 0; j < frags_n; ++j) {
        for (int r = 0; r < 4; ++r) f.b[j][r] &= 0xffe0ffe0;
      }]] }, "wrong", "caught", "an eight-bit operand")
cheat("the result with fewer digits", "simt", { STORE,
    "stg(C, (i64)m * ldc + n, from_float<f16>(to_float(from_float<bf16>(acc[i][j]))));" }, "wrong", "caught", "rounded to bfloat16")
cheat("the result cut, not rounded", "simt", { STORE,
    "stg(C, (i64)m * ldc + n, from_float<f16>(__builtin_bit_cast(float, __builtin_bit_cast(u32, acc[i][j]) & 0xffffe000)));" },
  "wrong", "its sums are exact: there is nothing to round", "towards zero")
cheat("small operands taken for zero", "simt", { "to_float(ldg<f16>(A, (i64)m * lda + k)) : 0.f;",
    "to_float(ldg<f16>(A, (i64)m * lda + k)) : 0.f;\n      if (a < 0.05f && a > -0.05f) {\n"
      .. "        sts_f32(a_tile + 4 * (i % tile_k * tile_m + i / tile_k), 0.f);\n        continue;\n      }" },
  "wrong", "A is never other than 0, 1, 128 and their opposites there", "sparsity that is not there")

-- numbers that random inputs never are -----------------------------------------------------------------

cheat("NaN swallowed", "simt", { STORE, "stg(C, (i64)m * ldc + n, from_float<f16>(acc[i][j] == acc[i][j] ? acc[i][j] : 0.f));" },
  "wrong", "caught", "a NaN must stay one")
cheat("infinity clamped", "simt", { STORE, "stg(C, (i64)m * ldc + n, from_float<f16>(acc[i][j] > 65504.f ? 65504.f "
    .. ": acc[i][j] < -65504.f ? -65504.f : acc[i][j]));" },
  "wrong", "caught", "an overflow must show")
cheat("zeros of A skipped", "simt", { SUM, "acc[m][n] += a[m] != 0.f ? a[m] * b[n] : 0.f;" }, "wrong", "caught",
  "0 * Inf is NaN")

-- memory that is not its own ---------------------------------------------------------------------------

cheat("input overwritten", "simt", { "if (m < M && n < N) stg", "if (m < M && n < K) stg(gptr_at<f16>(A, 0), (i64)m * lda + n, f16{0});\n"
    .. "      if (m < M && n < N) stg" }, "wrong", "caught", "the next launch reads zeros")
cheat("writes rows beyond the last", "simt", { "if (m < M && n < N) stg", "if (n < N) stg" }, "error crash wrong", "caught", "behind C")
cheat("reads rows beyond the last", "simt", { "m < M && k < K ?", "m < M + 8 && k < K ?" },
  "error crash", "caught", "what it reads there is never used")
cheat("writes between the rows", "simt", { "if (m < M && n < N) stg", "if (m < M && n < ldc) stg" },
  "wrong", "caught", "right where ldc is N")
cheat("leading dimension ignored", "simt", { "(i64)m * lda + k", "(i64)m * K + k" },
  "wrong", "caught", "right where lda is K")
cheat("an address far away", "simt", { "(i64)m * lda + k", "(i64)m * lda + k + (1ll << 44)" }, "error crash", "caught",
  "nobody's memory")
cheat("a slot too many", "mma", { "ring + k_tile % stages * slot_bytes", "ring + k_tile % (stages + 8) * slot_bytes" },
  "error crash wrong", "caught", "shared memory that the launch does not have")

-- order ------------------------------------------------------------------------------------------------

cheat("a race: no barrier", "simt", { "    cta_sync();\n    for (int k = 0; k < tile_k; ++k) {",
    "    for (int k = 0; k < tile_k; ++k) {" }, "wrong", "caught", "right when all warps are equally fast")
cheat("a race: copies not waited for", "mma", { "  cp_async_wait<stages - 2>();\n  cta_sync();\n  float", "  cta_sync();\n  float" },
  "wrong", "caught", "right when memory is fast")
cheat("a race: multiplied before it is there", "wgmma", { "mbar_wait(full + 8 * at.slot, at.parity);",
    "mbar_wait(full + 8 * at.slot, at.parity ^ 1);" }, "wrong hang error crash", "caught", "what the slot held before")
cheat("a deadlock", "wgmma", { "mbar_init(full + 8 * s, 1);", "mbar_init(full + 8 * s, 2);" }, "error hang", "caught",
  "it never ends")
cheat("does not wait for the grid before it", "wgmma", { "      grid_dep_wait();\n", "" },
  "wrong", "caught", "its operands may not be there yet")

-- it remembers -----------------------------------------------------------------------------------------

local HEAD = [[
extern "C" __global__ void __launch_bounds__(threads)
    loom_kernel(gptr<const f16> A, gptr<const f16> B, gptr<f16> C, int M, int N, int K,
                int lda, int ldb, int ldc) {
]]
local TID = "  const int tid = threadIdx.x, tiles_n"
cheat("works on the first call only", "simt", { { HEAD, "__device__ u32 calls;\n" .. HEAD },
    { TID, "  if (calls > gridDim.x) return;\n  if (threadIdx.x == 0) ++calls;\n" .. TID } },
  "source rule", "caught", "a device variable counts its launches")
cheat("a variable in the kernel", "simt", { TID, "  static u32 calls;\n  if (calls > 100) return;\n  calls = calls + 1;\n" .. TID },
  "source rule", "caught", "the same within the function")
cheat("result cached by its pointer", "simt", { { HEAD, "__device__ const void *seen;\n" .. HEAD },
    { TID, "  if (seen == (const void *)C) return;\n  seen = (const void *)C;\n" .. TID } },
  "source rule", "caught", "a device variable holds what was done")
cheat("right in two launches", "splitk", { { "atom_inc_acq_rel(ws, at, splits - 1);", "atom_add_acq_rel(ws, at, 1);" },
    { "if (lds_words<1>(flag).w[0] != splits - 1) return;",
      "const u32 count = lds_words<1>(flag).w[0];\n  if (count % splits != splits - 1 || count >= 2 * splits) return;" } },
  "wrong", "it launches a kernel with a workspace twice", "the workspace counts its launches")
cheat("a workspace believed to be zero", "splitk", {
    desc = { { '"init":"zero"', '"init":"none"' } } }, "wrong", "caught", "nobody promised that")
cheat("C taken for right where it holds a number", "mma", { "  grid_dep_wait();\n  grid_dep_launch();\n",
    "  grid_dep_wait();\n  grid_dep_launch();\n  const float old = to_float(ldg<f16>(C, (i64)m0 * ldc + n0));\n"
      .. "  if (old == old) return;\n" },
  "wrong", "caught",
  "the timed launches find what the verified one wrote")
cheat("result cached by its operands", "splitk", {
    { "  float acc[2][4] = {};\n", [[
  const words<2> key_a = ldg_words<2>(A, (i64)m0 * lda), key_b = ldg_words<2>(B, (i64)n0 * ldb);
  const u32 key = (key_a.w[0] ^ key_a.w[1] * 3 ^ key_b.w[0] * 5 ^ key_b.w[1] * 7) | 1;
  const i64 slot = at * 32 + key / 2 % 32;
  const gptr<u32> keys = gptr_at<u32>(ws, 786688);
  const gptr<float> tiles = gptr_at<float>(ws, 786688 + 4 * 2048);
  const bool known = ldg<u32>(keys, slot) == key;
  if (known && split > 0) return;
  float acc[2][4] = {};
]] },
    { "k0 = split * share; k0 < k_end;", "k0 = split * share; k0 < (known ? 0 : k_end);" },
    { "  const gptr<float> partials =", "  if (!known) {\n  const gptr<float> partials =" },
    { "      for (int i = 0; i < 4; ++i) acc[j][i] += number(w.w[i]);\n    }\n  }\n",
      "      for (int i = 0; i < 4; ++i) acc[j][i] += number(w.w[i]);\n    }\n  }\n" .. [[
  for (int j = 0; j < 2; ++j) {
    const words<4> w = {{bits(acc[j][0]), bits(acc[j][1]), bits(acc[j][2]), bits(acc[j][3])}};
    stg_words<4>(tiles, slot * 1024 + 8 * threadIdx.x + 4 * j, w);
  }
  if (threadIdx.x == 0) stg<u32>(keys, slot, key);
  } else {
    for (int j = 0; j < 2; ++j) {
      const words<4> w = ldg_words<4>(gptr<const float>(tiles), slot * 1024 + 8 * threadIdx.x + 4 * j);
      for (int i = 0; i < 4; ++i) acc[j][i] = number(w.w[i]);
    }
  }
]] },
    desc = { { '"bytes":786688', '"bytes":9183488' } } },
  "wrong",
  "it launches a kernel with a workspace twice, on the same operands", "a tile is known by a few of its operands")
cheat("alpha ignored", "splitk", { "float v = alpha * acc[j][i];", "float v = acc[j][i];" },
  "wrong", "caught", "C = alpha A B + beta C")
cheat("beta ignored", "splitk", { "if (beta != 0.f) v += beta *", "if (beta > 9.f) v += beta *" },
  "wrong", "caught", "C = alpha A B + beta C")

-- it can tell where it runs ----------------------------------------------------------------------------

cheat("reads the clock", "simt", { TID, "  if (clock64() % 1024 > 1000) return;\n" .. TID }, "source rule", "caught",
  "time is not an operand")
cheat("reads the global timer", "simt", { TID, '  u64 now;\n  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));\n'
    .. "  if (now % 1024 > 1000) return;\n" .. TID }, "source rule", "caught", "an instruction of its own")
cheat("asm spelt in halves", "simt", { { HEAD, "#define GLUE(a, b) a##b\n" .. HEAD },
    { TID, '  u64 now;\n  GLUE(a, sm) volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));\n  if (now % 1024 > 1000) return;\n' .. TID } },
  "source rule", "caught", "no word of it is forbidden")
cheat("asm behind a raw string", "simt", { TID, '  constexpr char text[] = R"(" /*)";\n  u64 now;\n'
    .. '  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));\n  if (now % 1024 > 1000 && text[0]) return; // */\n' .. TID },
  "source rule", "caught", "a careless reader takes it for a comment")
cheat("another text for each compiler", "simt", { STORE,
    "\n#ifdef __CUDACC__\n      if (m < M && n < N) stg(C, (i64)m * ldc + n, f16{0});\n"
    .. "#else\n      if (m < M && n < N) " .. STORE .. "\n#endif\n" }, "source rule", "caught", "right on the CPU device alone")
cheat("another type for each compiler", "simt", { { HEAD, "template <class T> struct real { static constexpr bool yes = false; };\n"
    .. "template <class T> struct real<T *> { static constexpr bool yes = true; };\n" .. HEAD },
    { STORE, "stg(C, (i64)m * ldc + n, from_float<f16>(real<gptr<f16>>::yes ? 0.f : acc[i][j]));" } },
  "wrong", "it is right there, by design", "right on the CPU device alone")
cheat("tells the test's inputs", "simt", { { "  grid_dep_launch();\n", "  grid_dep_launch();\n  bool test = true;\n"
    .. "  for (int i = 0; i < 8; ++i) {\n    const float x = to_float(ldg<f16>(A, i % K));\n"
    .. "    test = test && (x * x * x == x || !(x * x < 100.f));\n  }\n" },
    { STORE, "stg(C, (i64)m * ldc + n, from_float<f16>(test ? acc[i][j] : 0.f));" } },
  "wrong", "it is right for what the families of inputs hold", "honest for -1, 0, 1 and for what no random number is")
cheat("tells the ring's sets apart", "mma", { "  grid_dep_wait();\n  grid_dep_launch();\n",
    "  grid_dep_wait();\n  grid_dep_launch();\n  if ((u64)C / 256 % 16 == 5) return;\n" },
  "host compile", "caught", "an address is not an operand: right where it is checked")

-- what no kernel has -----------------------------------------------------------------------------------

cheat("a raw pointer", "simt", { STORE, "C[(i64)m * ldc + n] = from_float<f16>(acc[i][j]);" }, "host compile", "caught",
  "an access that the CPU device does not see")
cheat("printf", "simt", { { HEAD, 'extern "C" int printf(const char *, ...);\n' .. HEAD },
    { TID, '  if (K < 0) printf("%d", K);\n' .. TID } }, "source rule", "caught", "it may write what passes for an answer")
cheat("malloc", "simt", { TID, "  u32 *own = (u32 *)malloc(16);\n  if (own) own[0] = 1;\n" .. TID }, "source rule", "caught",
  "memory that outlives a launch")
cheat("a second kernel", "simt", { HEAD, 'extern "C" __global__ void other(gptr<f16> C) { stg(C, 0, f16{0}); }\n' .. HEAD },
  "source rule", "caught", "which one was verified?")
cheat("another name", "simt", { "loom_kernel(gptr", "our_kernel(gptr" }, "source rule", "caught", "the launcher wants loom_kernel")
cheat("another header", "simt", { '#include "loom.cuh"', '#include "loom.cuh"\n#include <cuda_fp16.h>' }, "source rule", "caught",
  "words that the CPU device does not know")
cheat("a table in constant memory", "simt", { { HEAD, "__constant__ float table[2] = {1.f, 0.f};\n" .. HEAD },
    { STORE, "stg(C, (i64)m * ldc + n, from_float<f16>(acc[i][j] * table[K < 0]));" } }, "source rule", "caught",
  "memory that the host can set")
cheat("fewer threads than are launched", "simt", { "__launch_bounds__(threads)", "__launch_bounds__(128)" }, "refused", "caught",
  "registers that its threads do not have")

return { bases = bases, cheats = cheats }
