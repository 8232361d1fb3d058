/* change.h - the timed launches once more, after timing, under other conditions
**
** The graph is the timed one, on the timed buffers; what differs is what C holds
** before, and then a few elements of A and B. A kernel that tells a verified
** launch from a timed one by what it finds there is wrong in one of the two.
*/
#ifndef BENCH_CHANGE_H
#define BENCH_CHANGE_H

#include "check.h"

/* Over other numbers: N(0,1) in every set of C, in the checked ones the right result with a random
** half of it changed. */
bool change_results(struct problem *p, const struct timer_tape *tape,
                    const struct check_sums *before, uint64_t seed, struct verdict *v,
                    struct fault *f);

/* One element in 64 of A and of B of up to three sets, drawn from the seed, changes where it lies;
** then new references of as many rows as a few milliseconds suffice for. The operands are put back,
** but where the outcome is a fault. */
bool change_operands(struct problem *p, const struct timer_tape *tape,
                     const struct check_sums *before, uint64_t seed, struct verdict *v,
                     struct fault *f);

#endif
