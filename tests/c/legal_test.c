/* legal_test.c - which calls a descriptor allows, and the grid of a problem */
#include "../../gen/legal.h"
#include "ok.h"

#include <string.h>

static const char line[] =
    "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"k\",\"arch\":\"sm_90a\",\"layout\":\"tn\","
    "\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"B\",\"C\",\"M\",\"N\",\"K\",\"ldb\","
    "\"ws\"],"
    "\"grid\":{\"rule\":\"tiles\",\"tile\":[128,64],\"split_k\":2,\"ctas_per_sm\":1},\"block\":128,"
    "\"cluster\":1,\"smem\":1024,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_"
    "a\","
    "\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,"
    "\"l2\":256}],\"workspace\":{\"bytes\":64,\"init\":\"zero\"},\"legal\":{\"m\":8,\"n\":4,\"k\":"
    "2,"
    "\"ld\":2,\"align\":4,\"M\":0,\"N\":0,\"K\":256,\"resident\":false}}";

static loom_desc desc;
static _Alignas(256) char memory[256];

static loom_call fair(void) {
  return (loom_call){.layout = LOOM_TN,
                     .mnk = {128, 64, 256},
                     .a = memory,
                     .b = memory,
                     .c = memory,
                     .ws = memory,
                     .alpha = 1};
}

static void refused(loom_call call, const char *text) {
  char err[LOOM_ERROR_TEXT] = "";
  enum loom_status s = loom_legal(&desc, &call, err);
  ok(s == LOOM_REFUSED && strcmp(err, text) == 0, "refused: %s (%s)", text,
     s ? err : "was allowed");
}

#define WITH(field, value, text)                                                                   \
  do {                                                                                             \
    loom_call changed = fair();                                                                    \
    changed.field = value;                                                                         \
    refused(changed, text);                                                                        \
  } while (0)

static void legality(void) {
  char err[LOOM_ERROR_TEXT] = "";
  loom_call call = fair();
  ok(loom_legal(&desc, &call, err) == LOOM_OK, "a fair call is allowed (%s)", err);
  call.ld[LOOM_A] = 264, call.ld[LOOM_B] = 258;
  ok(loom_legal(&desc, &call, err) == LOOM_OK, "rows may be padded where the kernel is told (%s)",
     err);
  WITH(mnk[0], 100, "M=100 is not a multiple of 8");
  WITH(mnk[1], 66, "N=66 is not a multiple of 4");
  WITH(mnk[2], 254, "K=254, but the kernel is made for 256 alone");
  WITH(mnk[2], 255, "K=255 is not a multiple of 2");
  WITH(mnk[0], 0, "M=0 is out of range");
  WITH(mnk[0], -8, "M=-8 is out of range");
  WITH(mnk[1], 1LL << 32, "N=4294967296 is out of range");
  WITH(layout, LOOM_NN, "kernel is for layout tn, not nn");
  WITH(dtype, LOOM_BF16, "kernel is for f16, not bf16");
  WITH(acc, LOOM_ACC_F16, "kernel accumulates in f32");
  WITH(ld[LOOM_A], 128, "lda=128 for rows of 256");
  WITH(ld[LOOM_B], 257, "ldb=257 is not a multiple of 2");
  WITH(ld[LOOM_A], 258, "lda=258 is not a multiple of 8 (tensor map)");
  WITH(ld[LOOM_C], 80, "ldc=80, but the kernel takes packed rows of 64");
  WITH(b, memory + 2, "B is not aligned to 4 bytes");
  WITH(a, memory + 8, "A is not aligned to 16 bytes (tensor map)");
  WITH(c, NULL, "C is a null pointer");
  WITH(alpha, 2, "alpha=2, but the kernel takes none");
  WITH(beta, 1, "beta=1, but the kernel takes none");
  WITH(ws, NULL, "kernel needs a workspace of 64 bytes");
}

static unsigned grid(int rule, int64_t cluster, int64_t m, int64_t n) {
  loom_desc d = desc;
  d.rule = rule, d.cluster = cluster;
  return loom_grid(&d, (const int64_t[]){m, n, 256}, 132);
}

static void grids(void) {
  ok(grid(LOOM_GRID_TILES, 1, 128, 64) == 2, "one tile, split in two, is two CTAs");
  ok(grid(LOOM_GRID_TILES, 1, 129, 65) == 8, "tiles that stick out count whole");
  ok(grid(LOOM_GRID_PERSISTENT, 1, 128, 64) == 2, "a persistent grid has no more CTAs than tiles");
  ok(grid(LOOM_GRID_PERSISTENT, 1, 8192, 8192) == 132, "nor more than SMs");
  ok(grid(LOOM_GRID_PERSISTENT, 8, 8192, 8192) == 128, "and whole clusters");
  ok(grid(LOOM_GRID_TILES, 1, INT32_MAX, INT32_MAX) == 0, "too many tiles have no grid");
}

int main(void) {
  const char *why = loom_desc_parse(line, &desc);
  if (!ok(!why, "the descriptor is read (%s)", why ? why : "no error")) return done();
  legality();
  grids();
  return done();
}
