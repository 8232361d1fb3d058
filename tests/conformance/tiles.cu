// tiles.cu -- wgmma with every layout of its two tiles.
#include "table.h"
#include "wgmma.h"

// Every swizzle and every pair of major indices; 96 is no whole number of 128-byte blocks.
#define CASE_TILES(a, b)                                                                           \
  CASE(wgmma__n96_##a##_##b) { run_wgmma<f16, 96, a, b>(in, out, 1); }                             \
  CASE(wgmma__n256_##a##_##b) { run_wgmma<f16, 256, a, b>(in, out, 1); }
CONFORM_EACH_TILES(CASE_TILES)

// Widths that end within a block of B.
CASE(wgmma__n8_k128_mn128) { run_wgmma<f16, 8, k128, mn128>(in, out, 1); }
CASE(wgmma__n24_k128_mn128) { run_wgmma<f16, 24, k128, mn128>(in, out, 1); }
CASE(wgmma__n200_k128_mn64) { run_wgmma<f16, 200, k128, mn64>(in, out, 1); }
