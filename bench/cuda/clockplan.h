/* clockplan.h - a clock run in plain numbers: lengths, order, arrivals, queue, ratios; no device
**
** A run is blocks of segments. A block is a palindrome over the sides (ours, ours with
** pdl, cuBLAS, and back), so that each side has two segments in it and even drift falls
** out. Segments of one half of a block have the same schedule.
*/
#ifndef BENCH_CLOCKPLAN_H
#define BENCH_CLOCKPLAN_H

#include "stat.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  CLOCK_SIDES = 3,
  CLOCK_LEAST_BLOCKS = STAT_FIRST_LOOK, /* fewer have no verdict */
  CLOCK_EXTRA = 30,                     /* seconds */
  CLOCK_MOST_BLOCKS = 256,
  CLOCK_SEGMENTS = 2 * CLOCK_MOST_BLOCKS /* of one side */
};

struct clockplan {
  int sides, blocks;
  double length, gap; /* seconds of a segment; from one call's start to the next */
  int calls;          /* of a segment: exact for a server, expected for calls */
};

/* Cuts so many seconds up: less where segments have at most so many calls (0: any number), and up to
** CLOCK_EXTRA more where they are too few for 'gap'. False where even those are: *least would do. */
bool clockplan_cut(double seconds, int sides, double gap, int most_calls, struct clockplan *out,
                   double *least);

/* The side of the w-th segment of a block, 0 <= w < 2 * sides. */
int clockplan_side(int w, int sides);

/* Fills due[0..n-1] with the arrivals, in seconds from the start, of a Poisson process with 'gap'
** seconds between two on average. Equal seeds give equal arrivals. */
void clockplan_arrivals(double *due, int n, double gap, uint64_t seed);

/* A seed for each schedule of a run. */
uint64_t clockplan_seed(int64_t seed, int schedule);

/* Requests that arrive when they are due, whether or not those before are done. */
struct clockqueue {
  const double *due;
  int n, most; /* most: sent and not done, at once */
  int sent, done;
};
bool clockqueue_may_send(const struct clockqueue *q, double now);
/* So many are done: us[i] is the time from the i-th arrival until now. */
void clockqueue_done(struct clockqueue *q, int done, double now, float *us);
/* No more are sent. What has arrived counts as if it were done now, which is too early: it waits
** behind the samples of those that were sent; returns how many. */
int clockqueue_give_up(struct clockqueue *q, double now, float *us);

/* The value that a part q of the n >= 1 values does not exceed. Sorts them. */
double clockplan_percentile(float *v, int n, double q);

/* From the medians of each block's two segments, of cuBLAS's side and of ours: their ratio with its
** 95 % interval, and the verdict. */
struct clockratio {
  struct stat_interval ratio;
  enum stat_verdict verdict;
};
struct clockratio clockplan_ratio(const double *base, const double *ours, int blocks);

#endif
