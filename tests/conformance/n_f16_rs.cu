// n_f16_rs.cu -- wgmma_f16_rs: every width, K-major with the 128-byte swizzle.
#include "table.h"
#include "wgmma.h"

#define CASE_N(n)                                                                                  \
  CASE(wgmma_f16_rs__n##n) { run_wgmma_f16_rs<n, k128>(in, out, 1); }
CONFORM_EACH_N(CASE_N)
