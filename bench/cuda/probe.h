/* probe.h - does the GPU still answer? A kernel known to be good on the small products
**
** After a candidate has killed its worker, a fresh worker is asked this before it
** gets the next one: what fails then is the GPU, not the candidate.
*/
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include "gpu.h"
#include "launch.h"

/* A kernel of planted.h as if it had come from a cubin; fault: of enum planted_fault. */
loom_kernel probe_kernel(const struct gpu *g, int fault, int dtype, int acc);

/* Its products must be exact. */
bool probe_run(struct gpu *g, double *ms, struct fault *f);

#endif
