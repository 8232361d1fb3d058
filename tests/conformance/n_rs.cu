// n_rs.cu -- wgmma_rs, fp32 sums: every width, K-major with the 128-byte swizzle.
#include "table.h"
#include "wgmma.h"

#define CASE_N(n)                                                                                  \
  CASE(wgmma_rs__n##n) { run_wgmma_rs<f16, n, k128>(in, out, 1); }
CONFORM_EACH_N(CASE_N)
