/* clockplan.c - a clock run in plain numbers: lengths, order, arrivals, queue, ratios; no device */
#include "clockplan.h"

#include <math.h>
#include <stdlib.h>

/* Lengths and order */

enum { USUAL_CALLS = 32, LEAST_CALLS = 4 }; /* of a segment; LEAST: a median of fewer is noise */
static const double usual_length = 0.1;     /* seconds */

bool clockplan_cut(double seconds, int sides, double gap, int most_calls, struct clockplan *out,
                   double *least) {
  int per_block = 2 * sides;
  *least = (double)CLOCK_LEAST_BLOCKS * per_block * LEAST_CALLS * gap;
  bool enough = *least <= seconds + CLOCK_EXTRA;
  seconds = fmax(seconds, *least);
  double most = most_calls ? most_calls : 1e7;
  double length = fmin(fmax(usual_length, USUAL_CALLS * gap), most * gap);
  double blocks = floor(seconds / (per_block * length));
  blocks = fmax(CLOCK_LEAST_BLOCKS, fmin(CLOCK_MOST_BLOCKS, blocks));
  *out = (struct clockplan){.sides = sides, .blocks = (int)blocks, .gap = gap};
  out->length = fmin(seconds / (per_block * blocks), most * gap);
  out->calls = (int)lround(out->length / gap);
  return enough;
}

int clockplan_side(int w, int sides) { return w < sides ? w : 2 * sides - 1 - w; }

/* Arrivals */

/* splitmix64 */
static uint64_t next(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t clockplan_seed(int64_t seed, int schedule) {
  uint64_t state = (uint64_t)seed;
  uint64_t mixed = next(&state) + (uint64_t)schedule;
  return next(&mixed);
}

void clockplan_arrivals(double *due, int n, double gap, uint64_t seed) {
  double at = 0;
  for (int i = 0; i < n; i++) {
    double u = ((double)(next(&seed) >> 12) + 0.5) * 0x1p-52; /* within 0 .. 1, never either */
    at -= gap * log(u);
    due[i] = at;
  }
}

/* Queue */

bool clockqueue_may_send(const struct clockqueue *q, double now) {
  return q->sent < q->n && q->due[q->sent] <= now && q->sent - q->done < q->most;
}

void clockqueue_done(struct clockqueue *q, int done, double now, float *us) {
  for (; q->done < done; q->done++) us[q->done] = (float)((now - q->due[q->done]) * 1e6);
}

int clockqueue_give_up(struct clockqueue *q, double now, float *us) {
  int i = q->sent;
  for (; i < q->n && q->due[i] <= now; i++) us[i] = (float)((now - q->due[i]) * 1e6);
  q->n = q->sent;
  return i - q->sent;
}

/* Figures */

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

double clockplan_percentile(float *v, int n, double q) {
  int rank = (int)ceil(q * n);
  qsort(v, (size_t)n, sizeof *v, ascending);
  return (double)v[rank < 1 ? 0 : rank > n ? n - 1 : rank - 1];
}

struct clockratio clockplan_ratio(const double *base, const double *ours, int blocks) {
  double d[CLOCK_MOST_BLOCKS];
  for (int b = 0; b < blocks; b++)
    d[b] = (log(base[2 * b]) + log(base[2 * b + 1]) - log(ours[2 * b]) - log(ours[2 * b + 1])) / 2;
  struct stat_interval s = stat_bootstrap(d, blocks, 0.95);
  return (struct clockratio){{exp(s.mid), exp(s.lo), exp(s.hi)}, stat_look(d, blocks).verdict};
}
