// n_f32.cu -- wgmma with A and B in shared memory, fp32 sums: every width, K-major with the 128-byte swizzle.
#include "table.h"
#include "wgmma.h"

#define CASE_N(n)                                                                                  \
  CASE(wgmma__n##n) { run_wgmma<f16, n, k128, k128>(in, out, 1); }
CONFORM_EACH_N(CASE_N)
