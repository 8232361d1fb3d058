/* rivals.h - all options of NVIDIA's libraries on one problem, and the fastest of them
**
** Both layouts always. cublasGemmEx by default is always among them: it is the
** problem's own baseline (baseline.h).
*/
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include "job.h"
#include "option.h"
#include "race.h"

enum {
  RIVALS_AUTOTUNE = 1,
  RIVALS_LT = 2,
  RIVALS_EXHAUSTIVE = 4,
  RIVALS_MOST = TIMER_TAPES,
  RIVALS_SWEEP = 20000 /* most configurations of an exhaustive sweep that are raced, per layout */
};

struct rivals_count {
  int answers, looked, failed; /* of the heuristics */
  int accepted, raced;         /* of the exhaustive sweep */
  long long checked;
  bool whole;
};

struct rivals {
  struct problem *p;
  int want;                    /* RIVALS_AUTOTUNE ... */
  double look_seconds;         /* for the first looks of a layout's race */
  double sweep_seconds;        /* for the checks of a layout's sweep, and again for its race */
  struct lt lt[PROBLEM_BASES]; /* nn, tn */
  struct option option[RIVALS_MOST];
  int n, best;
  struct rivals_count count[PROBLEM_BASES];
  double mhz, drift;
  int blocks, starved, drifted, unsteady;
  struct nvml_state health;
  double seconds[4]; /* baseline, heuristics with races, verification, timing */
};

/* After baseline_prepare: finds the finalists and verifies them. rivals_close is due also after a
** failure. */
bool rivals_find(struct rivals *r, struct fault *f);
/* Times all that are ready in blocks; those that stay close to the best for longer. */
bool rivals_time(struct rivals *r, int blocks, struct fault *f);
/* Makes the best one the problem's. */
void rivals_keep(struct rivals *r);
void rivals_close(struct rivals *r);

/* The fields of an answer: NAME_us, NAME_why, best_nv ... */
void rivals_reply(const struct rivals *r, struct reply *out);

/* Power, temperature and throttling, where they are known. */
void rivals_health(const struct nvml_state *s, struct reply *out);

#endif
