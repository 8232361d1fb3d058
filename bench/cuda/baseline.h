/* baseline.h - cuBLAS, the mark to beat
**
** cublasGemmEx with its default choice of algorithm and fp32 accumulation, on
** the problem's own ring, in the layouts nn and tn.
*/
#ifndef BENCH_BASELINE_H
#define BENCH_BASELINE_H

#include "problem.h"

extern const int baseline_layout[PROBLEM_BASES];

/* One call on buffer set 'set'; output into 'c'. */
bool baseline_call(struct problem *p, int layout, struct ring *c, int set,
                   cublasComputeType_t compute, struct fault *f);

/* Records, verifies both baselines; fills p->base and p->base_us. */
bool baseline_prepare(struct problem *p, struct fault *f);

#endif
