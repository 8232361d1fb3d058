// blocks.cu -- wgmma with MN-major tiles of blocks of 64: widths that end within a block, descriptors
// that begin within the tile.
#include "table.h"
#include "wgmma.h"

typedef blocks<64> mn;

// Of B; of A, whose rows are then what the product's columns were; of both.
#define CASE_BLOCKS(n)                                                                             \
  CASE(wgmma__n##n##_blocks_b) { run_wgmma<f16, n, k128, mn>(in, out, 1); }                        \
  CASE(wgmma__n##n##_blocks_a) { run_wgmma<f16, n, mn, k128>(in, out, 1); }                        \
  CASE(wgmma__n##n##_blocks_ab) { run_wgmma<f16, n, mn, mn>(in, out, 1); }                         \
  CASE(wgmma_rs__n##n##_blocks) { run_wgmma_rs<f16, n, mn>(in, out, 1); }                          \
  CASE(wgmma_f16__n##n##_blocks_b) { run_wgmma_f16<n, k128, mn>(in, out, 1); }                     \
  CASE(wgmma_f16__n##n##_blocks_a) { run_wgmma_f16<n, mn, k128>(in, out, 1); }                     \
  CASE(wgmma_f16__n##n##_blocks_ab) { run_wgmma_f16<n, mn, mn>(in, out, 1); }                      \
  CASE(wgmma_f16_rs__n##n##_blocks) { run_wgmma_f16_rs<n, mn>(in, out, 1); }
CONFORM_EACH_BLOCKS(CASE_BLOCKS)

// Longer and shorter blocks than 64 k.
CASE(wgmma__n248_blocks_k128) { run_wgmma<f16, 248, blocks<128>, blocks<128>>(in, out, 1); }
CASE(wgmma_f16__n200_blocks_k128) { run_wgmma_f16<200, blocks<128>, blocks<128>>(in, out, 1); }
CASE(wgmma__n136_blocks_k32) { run_wgmma<f16, 136, blocks<32>, blocks<32>>(in, out, 1); }
CASE(wgmma__bf16_n88_blocks) { run_wgmma<bf16, 88, mn, mn>(in, out, 1); }

// Those that begin at a later block, at a later k, at both: of B, of A.
CASE(wgmma__n88_from_block_2) { run_wgmma<f16, 88, k128, blocks<64, 2>>(in, out, 1); }
CASE(wgmma__n136_from_block_1) { run_wgmma<f16, 136, k128, blocks<64, 1>>(in, out, 1); }
CASE(wgmma__n248_from_k_2) { run_wgmma<f16, 248, mn, blocks<64, 0, 2>>(in, out, 1); }
CASE(wgmma__n40_from_block_3_k_3) { run_wgmma<f16, 40, k128, blocks<64, 3, 3>>(in, out, 1); }
CASE(wgmma__n176_from_a_block_1) { run_wgmma<f16, 176, blocks<64, 1>, k128>(in, out, 1); }
CASE(wgmma__n8_from_a_block_1_k_1) { run_wgmma<f16, 8, blocks<64, 1, 1>, k128>(in, out, 1); }
CASE(wgmma__n88_from_both) { run_wgmma<f16, 88, blocks<64, 1, 2>, blocks<64, 1, 2>>(in, out, 1); }
CASE(wgmma_rs__n88_from_block_1_k_1) { run_wgmma_rs<f16, 88, blocks<64, 1, 1>>(in, out, 1); }
CASE(wgmma_f16__n88_from_both) {
  run_wgmma_f16<88, blocks<64, 1, 1>, blocks<64, 2, 1>>(in, out, 1);
}
CASE(wgmma_f16_rs__n136_from_block_1_k_2) { run_wgmma_f16_rs<136, blocks<64, 1, 2>>(in, out, 1); }

// Two warpgroups, each with a block of A.
CASE(wgmma__two_warpgroups_blocks) {
  float d[44];
  tiles(in);
  u32 a = smem_base() + mn::leading * warpgroup_index(), b = smem_base() + 4 * A_WORDS;
  wgmma_fence();
  UNROLL
  for (int k = 0; k < mn::steps; k++)
    wgmma<f16, 88, MN_MAJOR, MN_MAJOR>(d, desc_of<mn>(a, k), desc_of<mn>(b, k), k != 0);
  wgmma_commit();
  wgmma_wait<0>();
  UNROLL
  for (int i = 0; i < 44; i++) stg<float>(gptr_at<float>(out, 0), 256 * i + thread(), d[i]);
}
