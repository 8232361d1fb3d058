/* option.c - one way to have NVIDIA's libraries do a problem */
#include "option.h"

#include "baseline.h"
#include "check.h"

#include <stdio.h>
#include <string.h>

void option_name(enum option_group group, int layout, char name[32]) {
  static const char *const words[OPTION_GROUPS] = {"gemmex", "gemmex_autotune", "lt_first",
                                                   "lt_best", "lt_exhaustive"};
  snprintf(name, 32, "%s_%s", words[group], loom_layout_name(layout));
}

bool option_survives(const char *what, struct fault *f) {
  return gpu_alive() || fault_set(f, "%s: the CUDA context is lost", what);
}

struct context {
  struct problem *p;
  struct option *o;
};

static bool launch(void *context, int set, struct fault *f) {
  struct context *c = context;
  struct problem *p = c->p;
  if (c->o->lt)
    return gpu_blas(f, lt_try(c->o->lt, &c->o->algo, &p->base_c, set), "cublasLtMatmul(", __FILE__,
                    __LINE__);
  return baseline_call(p, c->o->layout, &p->base_c, set, baseline_compute(p),
                       c->o->group == OPTION_AUTOTUNE ? CUBLAS_GEMM_AUTOTUNE : CUBLAS_GEMM_DEFAULT,
                       f);
}

static bool launch_and_wait(struct context *c, int set, struct fault *f) {
  return launch(c, set, f) && CUDA(f, cudaStreamSynchronize(c->p->gpu->stream));
}

/* The first call tunes, which takes long; the handle remembers the choice. One that does not would
** tune in every call of a tape. */
static bool tune(struct context *c, struct fault *f) {
  double most = 0.02 + 100e-6 * c->p->base_us[0], start;
  if (!launch_and_wait(c, 0, f)) return false;
  start = gpu_now();
  if (!launch_and_wait(c, 1 % c->p->sets, f)) return false;
  double took = gpu_now() - start;
  return took <= most || fault_set(f, "tunes again in every call (%.3g s)", took);
}

static bool record(struct context *c, struct fault *f) {
  struct problem *p = c->p;
  struct option *o = c->o;
  if (o->group == OPTION_AUTOTUNE && !tune(c, f)) return false;
  if (o->us == 0 && !timer_estimate(p->gpu, launch, c, p->sets, &o->us, f)) return false;
  return timer_record(p->gpu, launch, c, p->sets, problem_reps(p, o->us), &o->own, f);
}

static bool verify(struct context *c, const char *name, struct verdict *v, struct fault *f) {
  struct problem *p = c->p;
  check_begin(v);
  return check_poison(p, &p->base_c, f) && timer_replay(p->gpu, &c->o->own, f) &&
         check_outputs(p, &p->base_c, c->o->layout, name, v, f);
}

bool option_prepare(struct problem *p, struct option *o, struct fault *f) {
  struct context c = {p, o};
  struct fault mine = {.hung = false};
  struct verdict v;
  char name[32];
  option_name(o->group, o->layout, name);
  o->tape = &o->own;
  bool ok = record(&c, &mine) && verify(&c, name, &v, &mine);
  o->ready = ok && !v.wrong;
  if (o->ready) return true;
  snprintf(o->why, sizeof o->why, "%.255s", ok ? v.why : mine.text);
  timer_free(&o->own);
  return option_survives(name, f);
}

void option_free(struct option *o) { timer_free(&o->own); }
