/* cand.h - one candidate, and perhaps a rival of our own beside it: verify, time
**
** The outcome is a result line's worth of facts; verbs_time.c prints it.
*/
#ifndef BENCH_CAND_H
#define BENCH_CAND_H

#include "bound.h"

/* What a candidate is compared with: the faster layout of cublasGemmEx, the fastest of NVIDIA's
** libraries (where the problem knows it), the rival, cuBLAS in a chain (chain.h). */
enum cand_base { CAND_CUBLAS, CAND_NV, CAND_RIVAL, CAND_CHAIN, CAND_BASES };

struct cand_job {
  const char *cubin, *desc, *rival_cubin, *rival_desc; /* rival: NULL for none */
  int blocks;                                          /* or TIMER_AUTO */
  bool chain;
};

struct cand_result {
  bool refused;
  char why[256]; /* of a refusal: the launcher's text; of a rival it begins with "rival: " */
  struct verdict verdict;
  struct timer_pair pair[CAND_BASES][2];                    /* without and with pdl */
  double base_us[PROBLEM_BASES], ratio_base[PROBLEM_BASES]; /* nn, tn; without pdl */
  bool rival;                                               /* there is one */
  double rival_us[2];                                       /* 0: it has no pdl */
  int families;                                             /* runs of verify.h that were right */
  bool holes;
  double ms_families, ms_changed; /* before and after timing */
  int reps, blocks, starved, drifted, unsteady;
  double mhz, drift;
  struct nvml_state health;
};

/* Returns false on a fault; refused and wrong candidates are results. */
bool cand_time(struct problem *p, const struct cand_job *job, struct cand_result *out,
               struct fault *f);

/* The same in two steps, for kernels that are bound already: out is begun, both are verified; then
** they are timed. rival: NULL for none. */
bool cand_verify(struct bound *ours, struct bound *rival, struct cand_result *out, struct fault *f);
bool cand_blocks(struct bound *ours, struct bound *rival, const struct cand_job *job,
                 struct cand_result *out, struct fault *f);

#endif
