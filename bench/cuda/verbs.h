/* verbs.h - the jobs: problem, time, baseline */
#ifndef BENCH_VERBS_H
#define BENCH_VERBS_H

#include "job.h"
#include "problem.h"

struct worker {
  struct gpu gpu;
  struct problem problem;
};

/* Runs the job of a line and fills the answer; false: the fault says why there is none. */
bool verbs_run(struct worker *w, const struct job *job, struct reply *r, struct fault *f);

#endif
