/* selftest.h - shows on the device that the checker can fail */
#ifndef BENCH_SELFTEST_H
#define BENCH_SELFTEST_H

#include "gpu.h"

/* Prints one line per test and the count; returns the exit code. */
int selftest_run(struct gpu *g);

#endif
