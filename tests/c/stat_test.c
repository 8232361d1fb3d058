/* stat_test.c - the worker's statistics on known values */
#include "../../bench/cuda/stat.h"
#include "ok.h"

#include <math.h>
#include <string.h>

static double noise(unsigned *state) { /* uniform in -1 .. 1 */
  *state = *state * 1664525u + 1013904223u;
  return (double)*state / 2147483648.0 - 1.0;
}

static void medians(void) {
  const double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, wild[] = {1, 1, 1, 1e30, -1e30};
  double kept[5];
  memcpy(kept, odd, sizeof kept);
  ok(stat_median(odd, 5) == 3, "the median of five values is the third");
  ok(stat_median(even, 4) == 2.5, "the median of four is the mean of the middle two");
  ok(stat_median(odd, 1) == 5, "the median of one value is that value");
  ok(stat_median(wild, 5) == 1, "outliers do not move the median");
  ok(memcmp(kept, odd, sizeof kept) == 0, "the values are left in place");
}

static void intervals(void) {
  double v[STAT_MAX];
  unsigned state = 7;
  v[0] = 3;
  struct stat_interval one = stat_bootstrap(v, 1);
  ok(one.lo == 3 && one.mid == 3 && one.hi == 3, "one value is its own interval");
  for (int i = 0; i < 32; i++) v[i] = 2;
  struct stat_interval same = stat_bootstrap(v, 32);
  ok(same.lo == 2 && same.hi == 2, "equal values have an interval of width 0");
  for (int i = 0; i < STAT_MAX; i++) v[i] = 0.1 + 0.01 * noise(&state);
  struct stat_interval few = stat_bootstrap(v, 16), many = stat_bootstrap(v, 256);
  ok(few.lo <= few.mid && few.mid <= few.hi, "the interval holds the median");
  ok(few.lo > 0.09 && few.hi < 0.11, "the interval stays within the values");
  ok(many.hi - many.lo < (few.hi - few.lo) * 0.6, "more blocks narrow it (%g to %g)",
     few.hi - few.lo, many.hi - many.lo);
  struct stat_interval again = stat_bootstrap(v, 16);
  ok(memcmp(&few, &again, sizeof few) == 0, "equal values give equal intervals");
  struct stat_interval most = stat_bootstrap(v, STAT_MAX);
  ok(fabs(most.mid - 0.1) < 0.001, "the largest sample is taken");
}

/* The interval must hold the true median in about 95 of 100 experiments. */
static void coverage(void) {
  unsigned state = 12345;
  int held = 0, experiments = 400;
  for (int e = 0; e < experiments; e++) {
    double v[32];
    for (int i = 0; i < 32; i++) v[i] = noise(&state) + noise(&state) + noise(&state);
    struct stat_interval s = stat_bootstrap(v, 32);
    held += s.lo <= 0 && s.hi >= 0;
  }
  ok(held >= experiments * 90 / 100 && held <= experiments * 99 / 100,
     "the interval holds the truth in %d of %d experiments", held, experiments);
}

int main(void) {
  medians();
  intervals();
  coverage();
  return done();
}
