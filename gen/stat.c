/* stat.c - medians, bootstrap intervals, verdicts, drift
**
** A block's value is a log ratio; blocks drift and have outliers, so the median
** stands for them and the spread of resampled medians is the interval. Over one
** process it covers the noise within it only: other pages, clocks and seeds need
** another, and stat_bootstrap_groups.
**
** A resample is kept as counts over the sorted values: its median is a walk over
** the counts, which no sorting of every resample comes near.
*/
#include "stat.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000 };
static const double band = 0.005, sharp = 0.0025; /* around a ratio of 1; half an interval */

static int ascending(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

double stat_median(const double *v, int n) {
  double copy[STAT_MAX];
  assert(n >= 1 && n <= STAT_MAX);
  memcpy(copy, v, (size_t)n * sizeof *v);
  qsort(copy, (size_t)n, sizeof *copy, ascending);
  return n % 2 ? copy[n / 2] : (copy[n / 2 - 1] + copy[n / 2]) / 2;
}

/* Bootstrap */

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Without modulo bias worth the name: n is at most 2^12, the draw has 2^32 values. */
static int below(uint64_t *state, int n) {
  return (int)(((next(state) >> 32) * (uint64_t)n) >> 32);
}

struct sample {
  int n, groups, from[STAT_GROUPS], size[STAT_GROUPS];
  double sorted[STAT_MAX];
  int rank[STAT_MAX]; /* of the i-th value among the sorted */
};

struct ranked {
  double v;
  int i;
};

static int by_value(const void *a, const void *b) {
  struct ranked x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return x.v != y.v ? (x.v > y.v) - (x.v < y.v) : x.i - y.i;
}

static void sample_open(struct sample *s, const double *v, const int *size, int groups) {
  struct ranked r[STAT_MAX];
  assert(groups >= 1 && groups <= STAT_GROUPS);
  s->n = 0;
  s->groups = groups;
  for (int g = 0; g < groups; g++) {
    assert(size[g] >= 1 && size[g] <= STAT_MAX - s->n);
    s->from[g] = s->n;
    s->size[g] = size[g];
    s->n += size[g];
  }
  for (int i = 0; i < s->n; i++) r[i] = (struct ranked){v[i], i};
  qsort(r, (size_t)s->n, sizeof *r, by_value);
  for (int k = 0; k < s->n; k++) {
    s->sorted[k] = r[k].v;
    s->rank[r[k].i] = k;
  }
}

/* The value at place 'at' of a resample. */
static double value_at(const struct sample *s, const int *count, int at) {
  int k = 0;
  for (int seen = count[0]; seen <= at; seen += count[k]) k++;
  return s->sorted[k];
}

static double resampled_median(const struct sample *s, uint64_t *state) {
  int count[STAT_MAX], drawn = 0;
  memset(count, 0, (size_t)s->n * sizeof *count);
  for (int d = 0; d < s->groups; d++) {
    int g = s->groups == 1 ? 0 : below(state, s->groups);
    for (int i = 0; i < s->size[g]; i++) count[s->rank[s->from[g] + below(state, s->size[g])]]++;
    drawn += s->size[g];
  }
  double mid = value_at(s, count, drawn / 2);
  return drawn % 2 ? mid : (value_at(s, count, drawn / 2 - 1) + mid) / 2;
}

struct stat_interval stat_bootstrap_groups(const double *v, const int *size, int groups,
                                           double level) {
  double medians[RESAMPLES];
  struct sample s;
  uint64_t state = 1;
  int tail = (int)(RESAMPLES * (1 - level) / 2 + 0.5);
  sample_open(&s, v, size, groups);
  for (int r = 0; r < RESAMPLES; r++) medians[r] = resampled_median(&s, &state);
  qsort(medians, RESAMPLES, sizeof *medians, ascending);
  return (struct stat_interval){stat_median(v, s.n), medians[tail], medians[RESAMPLES - 1 - tail]};
}

struct stat_interval stat_bootstrap(const double *v, int n, double level) {
  return stat_bootstrap_groups(v, &n, 1, level);
}

/* Verdicts */

enum stat_verdict stat_judge(struct stat_interval s) {
  double up = log1p(band), down = log1p(-band);
  if (s.lo > up) return STAT_FASTER;
  if (s.hi < down) return STAT_SLOWER;
  return s.lo > down && s.hi < up ? STAT_SAME : STAT_UNDECIDED;
}

const char *stat_word(enum stat_verdict v) {
  static const char *const words[] = {"UNDECIDED", "FASTER", "SLOWER", "SAME"};
  return words[v];
}

struct stat_look stat_look(const double *d, int n) {
  struct stat_look l = {.log_ratio = stat_bootstrap(d, n, 0.99), .verdict = STAT_UNDECIDED};
  if (n < STAT_FIRST_LOOK) return l; /* so few have no interval worth the name */
  l.verdict = stat_judge(l.log_ratio);
  l.stop = l.verdict != STAT_UNDECIDED || n >= STAT_LAST_LOOK ||
           (l.log_ratio.hi - l.log_ratio.lo) / 2 <= sharp;
  return l;
}

int stat_next_look(int n) {
  int look = STAT_FIRST_LOOK;
  while (look <= n && look < STAT_LAST_LOOK) look *= 2;
  return look;
}

/* Drift */

double stat_drift(const double *v, int n) {
  double known[STAT_MAX];
  int k = 0;
  for (int i = 0; i < n && k < STAT_MAX; i++)
    if (v[i] > 0) known[k++] = v[i];
  int third = k / 3;
  if (third == 0) return 0;
  return stat_median(known + k - third, third) / stat_median(known, third) - 1;
}

double stat_mirror_spread(const double *v, int n) {
  double worst = 0;
  for (int w = 0; w < n / 2; w++) {
    double a = v[w], b = v[n - 1 - w];
    if (a > 0 && b > 0) worst = fmax(worst, fabs(a / b - 1));
  }
  return worst;
}
