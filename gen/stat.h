/* stat.h - medians, bootstrap intervals, verdicts, drift; plain C, for the worker and for loom */
#ifndef LOOM_STAT_H
#define LOOM_STAT_H

#include <stdbool.h>

enum {
  STAT_MAX = 4096,     /* most values a call takes: 16 processes of 256 blocks */
  STAT_GROUPS = 64,    /* most processes */
  STAT_FIRST_LOOK = 8, /* blocks at the first look at a series that may stop early */
  STAT_LAST_LOOK = 128 /* and at the last */
};

struct stat_interval {
  double mid, lo, hi;
};

/* Median of n >= 1 values; even n: the mean of the middle two. Leaves v as it is. */
double stat_median(const double *v, int n);

/* The median and its percentile-bootstrap interval of a level (0.95, 0.99): 2,000 resamples of n
** out of n, from a fixed seed, so that equal values give equal intervals. */
struct stat_interval stat_bootstrap(const double *v, int n, double level);

/* The same over several processes: group g has the next size[g] values of v. Groups are resampled
** first, then values within them: processes differ by more than the blocks of one. */
struct stat_interval stat_bootstrap_groups(const double *v, const int *size, int groups,
                                           double level);

/* Verdicts on ln(base / ours): which side of a band of 0.5 % around 1 is the interval on? */
enum stat_verdict { STAT_UNDECIDED, STAT_FASTER, STAT_SLOWER, STAT_SAME };
enum stat_verdict stat_judge(struct stat_interval log_ratio);
const char *stat_word(enum stat_verdict v);

/* One look at a growing series, with its 99 % interval: five looks leave about 95 %. Fewer than 8
** blocks decide nothing. */
struct stat_look {
  struct stat_interval log_ratio;
  enum stat_verdict verdict;
  bool stop; /* decided, or known to 0.25 %, or at the last look */
};
struct stat_look stat_look(const double *d, int n);
int stat_next_look(int n); /* 8 16 32 64 128: the smallest above n; 128 stays */

/* Relative change from the first to the last third of a series; 0 for fewer than 3 known values.
** Values <= 0 are unknown. */
double stat_drift(const double *v, int n);

/* Largest relative difference between the two windows of one tape in a palindrome of n windows.
** Values <= 0 are unknown. */
double stat_mirror_spread(const double *v, int n);

#endif
