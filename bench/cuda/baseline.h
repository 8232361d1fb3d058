/* baseline.h - cuBLAS, the mark to beat
**
** cublasGemmEx with its default choice of algorithm and the problem's accumulation,
** on the problem's own ring, in the layouts nn and tn. What else NVIDIA's
** libraries offer is in option.h.
*/
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include "problem.h"

extern const int baseline_layout[PROBLEM_BASES];

/* The accumulation of the problem, in cuBLAS's words. */
cublasComputeType_t baseline_compute(const struct problem *p);
cudaDataType_t baseline_type(const struct problem *p);

/* 1 and 0 in the scale type of a compute type. */
struct baseline_scalars {
  float f32[2];
  unsigned short f16[2];
  const void *one, *zero; /* into the struct itself: not to be copied */
};
void baseline_scalars(struct baseline_scalars *s, cublasComputeType_t compute);

/* One call on buffer set 'set'; output into 'c'. */
bool baseline_call(struct problem *p, int layout, struct ring *c, int set,
                   cublasComputeType_t compute, cublasGemmAlgo_t algo, struct fault *f);

/* Records, verifies both baselines; fills p->base and p->base_us. */
bool baseline_prepare(struct problem *p, struct fault *f);

#endif
