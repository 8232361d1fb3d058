// wgmma.cu -- all kinds of wgmma: every layout of B, bf16, cleared sums, groups in flight.
#include "table.h"
#include "wgmma.h"

#define CASE_B(b)                                                                                  \
  CASE(wgmma_rs__n64_##b) { run_wgmma_rs<f16, 64, b>(in, out, 1); }                                \
  CASE(wgmma_f16__n64_k128_##b) { run_wgmma_f16<64, k128, b>(in, out, 1); }                        \
  CASE(wgmma_f16__n64_mn128_##b) { run_wgmma_f16<64, mn128, b>(in, out, 1); }                      \
  CASE(wgmma_f16_rs__n64_##b) { run_wgmma_f16_rs<64, b>(in, out, 1); }
CONFORM_EACH_B(CASE_B)

#define CASE_BF16(n)                                                                               \
  CASE(wgmma__bf16_n##n) { run_wgmma<bf16, n, k128, k128>(in, out, 1); }                           \
  CASE(wgmma_rs__bf16_n##n) { run_wgmma_rs<bf16, n, k128>(in, out, 1); }
CONFORM_EACH_BF16(CASE_BF16)
CASE(wgmma__bf16_mn128_mn128) { run_wgmma<bf16, 128, mn128, mn128>(in, out, 1); }
CASE(wgmma_rs__bf16_mn128) { run_wgmma_rs<bf16, 128, mn128>(in, out, 1); }

CASE(wgmma__cleared) { run_wgmma<f16, 64, k128, k128>(in, out, 0); }
CASE(wgmma_rs__cleared) { run_wgmma_rs<f16, 64, k128>(in, out, 0); }
CASE(wgmma_f16__cleared) { run_wgmma_f16<64, k128, k128>(in, out, 0); }
CASE(wgmma_f16_rs__cleared) { run_wgmma_f16_rs<64, k128>(in, out, 0); }

// A row of 8-row groups further apart than they are long.
struct sparse : tile<128, K_MAJOR> {
  static constexpr u32 stride = 2048;
};
CASE(wgmma__stride_2048) { run_wgmma<f16, 64, sparse, sparse>(in, out, 1); }

// Two groups; the sums of the first are read while the second may still run.
CASE(wgmma_wait__one_pending) {
  float d[32], e[32];
  tiles(in);
  begin_floats<f16>(d, in);
  begin_floats<f16>(e, in);
  u32 a = smem_base(), b = a + 4 * A_WORDS;
  wgmma_fence();
  wgmma<f16, 64, K_MAJOR, K_MAJOR>(d, desc_of<k128>(a, 0), desc_of<k128>(b, 0), 1);
  wgmma_commit();
  wgmma<f16, 64, K_MAJOR, K_MAJOR>(e, desc_of<k128>(a, 1), desc_of<k128>(b, 1), 1);
  wgmma_commit();
  wgmma_wait<1>();
  end_floats(out, 0, d);
  wgmma_wait<0>();
  end_floats(out, 4096, e);
}

// Two warpgroups, each with half of A.
CASE(wgmma__two_warpgroups) {
  float d[32];
  tiles(in);
  int group = warpgroup_index();
  u32 a = smem_base() + 8192 * group, b = smem_base() + 4 * A_WORDS;
  wgmma_fence();
  UNROLL
  for (int k = 0; k < 4; k++)
    wgmma<f16, 64, K_MAJOR, K_MAJOR>(d, desc_of<k128>(a, k), desc_of<k128>(b, k), k != 0);
  wgmma_commit();
  wgmma_wait<0>();
  UNROLL
  for (int i = 0; i < 32; i++) stg<float>(gptr_at<float>(out, 0), 256 * i + thread(), d[i]);
}
