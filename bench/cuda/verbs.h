/* verbs.h - the jobs that a line may ask for */
#ifndef BENCH_VERBS_H
#define BENCH_VERBS_H

#include "check.h"
#include "job.h"
#include "problem.h"

struct worker {
  struct gpu gpu;
  struct problem problem;
};

/* M N K layout dtype acc seed of a job; without a layout, where that is allowed, it is tn. */
bool verbs_problem(const struct job *job, struct problem *p, struct fault *f);

/* The answer about a kernel that is wrong: why, and an element of it. */
void verbs_wrong(const struct verdict *v, struct reply *r);

/* verbs_time.c: time */
extern const char *const verbs_time_names[];
bool verbs_time(struct worker *w, const struct job *job, struct reply *r, struct fault *f);

/* verbs_vet.c: the field names and the functions of probe and vet */
extern const char *const verbs_probe_names[], *const verbs_vet_names[];
bool verbs_probe(struct worker *w, const struct job *job, struct reply *r, struct fault *f);
bool verbs_vet(struct worker *w, const struct job *job, struct reply *r, struct fault *f);

/* verbs_clock.c: the same of clock */
extern const char *const verbs_clock_names[];
bool verbs_clock(struct worker *w, const struct job *job, struct reply *r, struct fault *f);

/* Runs the job of a line and fills the answer; false: the fault says why there is none. */
bool verbs_run(struct worker *w, const struct job *job, struct reply *r, struct fault *f);

#endif
