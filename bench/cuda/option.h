/* option.h - one way to have NVIDIA's libraries do a problem
**
** cublasGemmEx by default or auto-tuned, or one algorithm of cuBLASLt, in one
** layout. Only what was recorded and whose outputs were verified is ready.
*/
#ifndef BENCH_OPTION_H
#define BENCH_OPTION_H

#include "lt.h"

enum option_group {
  OPTION_GEMMEX,
  OPTION_AUTOTUNE,
  OPTION_FIRST,      /* the first answer of cuBLASLt's heuristics */
  OPTION_BEST,       /* a finalist among all its answers */
  OPTION_EXHAUSTIVE, /* a finalist among all configurations */
  OPTION_GROUPS
};

struct option {
  enum option_group group;
  int layout;
  const struct lt *lt; /* of the last three groups */
  cublasLtMatmulAlgo_t algo;
  int place; /* among the answers, from 1 on; 0: none */
  int same;  /* index of the option that is the same algorithm and has the tape; -1 */
  double us; /* an estimate, then the median of its windows; 0: not known yet */
  struct timer_tape own;
  const struct timer_tape *tape; /* &own, or the problem's */
  bool ready;
  char why[256]; /* it is not ready */
};

/* "lt_best_tn" */
void option_name(enum option_group group, int layout, char name[32]);

/* Records the tape and verifies its outputs. An option that fails, or is wrong, says why and stays
** unready; false is for a lost device. */
bool option_prepare(struct problem *p, struct option *o, struct fault *f);

void option_free(struct option *o);

/* After a library call that failed: true where the device can go on. Else the fault names 'what'. */
bool option_survives(const char *what, struct fault *f);

#endif
