// n_f16.cu -- wgmma_f16: every width, K-major with the 128-byte swizzle.
#include "table.h"
#include "wgmma.h"

#define CASE_N(n)                                                                                  \
  CASE(wgmma_f16__n##n) { run_wgmma_f16<n, k128, k128>(in, out, 1); }
CONFORM_EACH_N(CASE_N)
