/* cand.h - one candidate: load, bind, verify, time
**
** The outcome is a result line's worth of facts; main.c prints it.
*/
#ifndef BENCH_CAND_H
#define BENCH_CAND_H

#include "check.h"

enum { CAND_AUTO = 0 }; /* blocks: as many as a verdict takes, see stat_look */

struct cand_result {
  bool refused;
  char why[256]; /* of a refusal: the launcher's text */
  struct verdict verdict;
  bool pdl; /* the pdl figures are there */
  double us, us_pdl, base_us[PROBLEM_BASES], mhz;
  struct stat_interval ratio, ratio_pdl; /* against the faster of cuBLAS's layouts */
  double ratio_base[PROBLEM_BASES];      /* without pdl, against nn and tn */
  bool nv;                               /* these three are there */
  double nv_us;
  struct stat_interval ratio_nv, ratio_nv_pdl;
  enum stat_verdict judged, judged_pdl; /* against the fastest there is: nv, else cuBLAS's */
  int families;                         /* runs of verify.h that were right */
  bool holes;
  double ms_families, ms_changed; /* before and after timing */
  int reps, blocks, starved, drifted, unsteady;
  double drift;
  struct nvml_state health;
};

/* Returns false on a fault; refused and wrong candidates are results. */
bool cand_time(struct problem *p, const char *cubin, const char *desc, int blocks,
               struct cand_result *out, struct fault *f);

#endif
