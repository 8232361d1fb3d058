/* probe.c - does the GPU still answer? A kernel known to be good on the small products */
#include "probe.h"

#include "planted.h"
#include "verify.h"

#include <string.h>

loom_kernel probe_kernel(const struct gpu *g, int fault, int dtype, int acc) {
  static const int args[] = {LOOM_ARG_A,   LOOM_ARG_B,     LOOM_ARG_C,    LOOM_ARG_M,
                             LOOM_ARG_N,   LOOM_ARG_K,     LOOM_ARG_LDA,  LOOM_ARG_LDB,
                             LOOM_ARG_LDC, LOOM_ARG_ALPHA, LOOM_ARG_BETA, LOOM_ARG_WS};
  bool remembers = fault == PLANTED_CACHE || fault == PLANTED_THIRD;
  loom_kernel k = {.sms = g->prop.multiProcessorCount, .ctas_per_sm = 1};
  k.desc = (loom_desc){.layout = LOOM_NN,
                       .dtype = dtype,
                       .acc = acc,
                       .nargs = sizeof args / sizeof args[0],
                       .rule = LOOM_GRID_TILES,
                       .tile = {PLANTED_TILE, PLANTED_TILE},
                       .split_k = 1,
                       .ctas_per_sm = 1,
                       .block = PLANTED_TILE * PLANTED_TILE,
                       .cluster = 1,
                       .pdl = g->prop.major >= 9,
                       .ws_bytes = remembers ? PLANTED_WORKSPACE : 0,
                       .ws_init = remembers ? LOOM_WS_ZERO : LOOM_WS_NONE,
                       .legal_mnk = {1, 1, 1},
                       .legal_ld = 1,
                       .legal_align = 2};
  memcpy(k.desc.arg, args, sizeof args);
  const void *symbol = planted_kernel(fault, dtype);
  memcpy(&k.function, &symbol, sizeof symbol); /* the runtime launches either */
  return k;
}

bool probe_run(struct gpu *g, double *ms, struct fault *f) {
  static const int64_t mnk[] = {64, 64, 64};
  loom_kernel k = probe_kernel(g, PLANTED_NONE, LOOM_F16, LOOM_ACC_F32);
  struct verify v = {.gpu = g, .kernel = &k, .mnk = mnk, .seed = 1, .patience = VERIFY_PATIENCE};
  struct verdict out;
  double start = gpu_now();
  check_begin(&out);
  bool ok = verify_run(&v, &out, f);
  *ms = (gpu_now() - start) * 1000;
  return ok && (!out.wrong || fault_set(f, "its result is wrong: %s", out.why));
}
