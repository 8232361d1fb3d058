/* stat.h - medians and bootstrap intervals; plain C, no device */
#ifndef BENCH_STAT_H
#define BENCH_STAT_H

enum { STAT_MAX = 1024 }; /* most values a call takes */

struct stat_interval {
  double mid, lo, hi;
};

/* Median of n >= 1 values; even n: the mean of the middle two. Leaves v as it is. */
double stat_median(const double *v, int n);

/* The median and its 95 % percentile-bootstrap interval: 2,000 resamples of n out of n, from a
** fixed seed, so that equal values give equal intervals. */
struct stat_interval stat_bootstrap(const double *v, int n);

#endif
