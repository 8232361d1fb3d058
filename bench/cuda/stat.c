/* stat.c - medians and bootstrap intervals
**
** A block's value is a log ratio; blocks drift and have outliers, so the median
** stands for them and the spread of resampled medians is the interval. It covers
** the noise within one process only: other pages, clocks and seeds need another.
*/
#include "stat.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000 };

static int ascending(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* Sorts v. */
static double median_of(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, ascending);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double stat_median(const double *v, int n) {
  double copy[STAT_MAX];
  assert(n >= 1 && n <= STAT_MAX);
  memcpy(copy, v, (size_t)n * sizeof *v);
  return median_of(copy, n);
}

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Without modulo bias worth the name: n is at most 2^10, the draw has 2^32 values. */
static int below(uint64_t *state, int n) {
  return (int)(((next(state) >> 32) * (uint64_t)n) >> 32);
}

struct stat_interval stat_bootstrap(const double *v, int n) {
  double sample[STAT_MAX], medians[RESAMPLES];
  uint64_t state = 1;
  assert(n >= 1 && n <= STAT_MAX);
  for (int r = 0; r < RESAMPLES; r++) {
    for (int i = 0; i < n; i++) sample[i] = v[below(&state, n)];
    medians[r] = median_of(sample, n);
  }
  qsort(medians, RESAMPLES, sizeof *medians, ascending);
  return (struct stat_interval){stat_median(v, n), medians[RESAMPLES / 40],
                                medians[RESAMPLES - 1 - RESAMPLES / 40]};
}
