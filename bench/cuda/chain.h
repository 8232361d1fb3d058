/* chain.h - a kernel in a chain of dependent launches
**
** Between two products stands a small kernel (kernels_link) that reads the C of the
** one before and writes into the A of the next: no product can begin before the one
** before it has ended. What is timed is the period of such a pair.
*/
#ifndef BENCH_CHAIN_H
#define BENCH_CHAIN_H

#include "bound.h"

/* Times a verified kernel, which has passed bound_record, against cublasGemmEx in the same chain: the
** faster of nn and tn. pair[0]: without pdl, on both sides. pair[1], where the kernel has pdl: both
** its launches and the small ones with pdl; cuBLAS's chain is then the fastest of those with plain
** and with pdl small ones. blocks: see timer_run_to. Outputs are checked before and after. */
bool chain_time(struct bound *b, int blocks, struct timer_pair pair[2], struct verdict *v,
                struct fault *f);

#endif
