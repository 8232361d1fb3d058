/* cand.h - one candidate: load, bind, verify, time
**
** The outcome is a result line's worth of facts; main.c prints it.
*/
#ifndef BENCH_CAND_H
#define BENCH_CAND_H

#include "check.h"

struct cand_result {
  bool refused;
  char why[256]; /* of a refusal: the launcher's text */
  struct verdict verdict;
  bool pdl; /* the pdl figures are there */
  double us, us_pdl, base_us[PROBLEM_BASES], mhz;
  struct stat_interval ratio, ratio_pdl; /* against the faster of cuBLAS's layouts */
  double ratio_base[PROBLEM_BASES];      /* without pdl, against nn and tn */
  int reps, blocks, starved;
};

/* Returns false on a fault; refused and wrong candidates are results. */
bool cand_time(struct problem *p, const char *cubin, const char *desc, int blocks,
               struct cand_result *out, struct fault *f);

#endif
