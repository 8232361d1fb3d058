/* race.h - from many algorithms of cuBLASLt to a few, by time
**
** All get a first look, the best 16 two short windows, the best 8 of those two
** more, the best 4 another four. Nothing is verified here and no figure leaves
** here: finalists are verified and timed anew, so that the luck that brought
** them to the front is not part of their time.
*/
#ifndef BENCH_RACE_H
#define BENCH_RACE_H

#include "lt.h"

enum { RACE_WINDOWS = 8, RACE_FINALISTS = 4 };

struct racer {
  cublasLtMatmulAlgo_t algo;
  int place;                   /* among the entries, from 1 on */
  double us;                   /* infinite: not looked at, or does not run */
  double window[RACE_WINDOWS]; /* us per launch */
  int windows;
};

struct race {
  const struct lt *lt;
  struct racer *racer; /* after race_run by time, those with most windows in front */
  int entries, looked, failed, finalists;
  double seconds; /* for the first looks: entries that time does not suffice for stay out */
  int set;
  cudaEvent_t begin, end;
};

/* Takes a copy of the algorithms; race_close is due also after a failure. */
bool race_open(struct race *r, const struct lt *lt, const cublasLtMatmulAlgo_t *algo, int n,
               double seconds, struct fault *f);
bool race_run(struct race *r, struct fault *f);
void race_close(struct race *r);

#endif
