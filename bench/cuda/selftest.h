/* selftest.h - shows on the device that the checker can fail */
#ifndef BENCH_SELFTEST_H
#define BENCH_SELFTEST_H

#include "gpu.h"

/* The part of it about timing, on a slow kernel of our own. Adds to the counts. */
void selftest_time(struct gpu *g, int *passed, int *failed);

/* The part of it about verify.h, on kernels of our own (planted.h). Adds to the counts. */
void selftest_small(struct gpu *g, int *passed, int *failed);

/* The part about hostclock.h. */
void selftest_clock(struct gpu *g, int *passed, int *failed);

/* Prints one line per test and the count; returns the exit code. */
int selftest_run(struct gpu *g);

#endif
