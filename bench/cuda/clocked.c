/* clocked.c - one kernel against cublasGemmEx by the host's clock
**
** What is timed is verified: the kernel before, as for the other clocks, and the
** outputs of each of its sides' last segment, which meets a marked C. Buffer sets
** that were not reached in it are launched after it, so that all are there to look at.
*/
#include "clocked.h"

#include "baseline.h"
#include "hostclock.h"
#include "verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double look_s = 0.02, warm_up_s = 0.05;             /* of isolated calls */
static const double long_warm_up_s = 0.3, long_problem_us = 100; /* power limits bite late */

/* One side's calls */
struct part {
  struct clocked *c;
  bool ours, pdl;
  int layout;               /* cuBLAS's, an index of baseline_layout */
  struct problem_blas blas; /* what cublasGemmEx is called with */
  struct timer_tape *tapes; /* of the kind graph: one launch each, by buffer set */
  int recorded;             /* set of the tape that is being recorded */
  unsigned char *seen;      /* by set: launched since the mark */
};

struct clocked {
  struct problem *p;
  const struct clocked_job *job;
  struct clocked_result *out;
  struct bound bound;
  struct baseline_scalars scalars;
  struct hostclock clock;
  struct part part[CLOCK_SIDES];
  int sides, base; /* base: cuBLAS's index; ours come before */
};

/* Launches */

static bool launch_ours(void *context, int set, struct fault *f) {
  struct part *x = context;
  struct clocked *c = x->c;
  x->seen[set] = 1;
  return CUDA(f, loom_kernel_launch(&c->bound.launches[set], c->p->gpu->stream, x->pdl));
}

static bool launch_base(void *context, int set, struct fault *f) {
  struct part *x = context;
  struct clocked *c = x->c;
  struct problem *p = c->p;
  const struct problem_blas *b = &x->blas;
  cudaDataType_t type = p->dtype == LOOM_F16 ? CUDA_R_16F : CUDA_R_16BF;
  x->seen[set] = 1;
  return CUBLAS(f, cublasGemmEx(p->gpu->blas, b->op_b, b->op_a, b->n, b->m, b->k, c->scalars.one,
                                problem_set(&p->b, set), type, b->ldb, problem_set(&p->a, set),
                                type, b->lda, c->scalars.zero, problem_set(&p->base_c, set), type,
                                b->ldc, baseline_compute(p), CUBLAS_GEMM_DEFAULT));
}

static bool launch_graph(void *context, int set, struct fault *f) {
  struct part *x = context;
  x->seen[set] = 1;
  return CUDA(f, cudaGraphLaunch(x->tapes[set].exec, x->c->p->gpu->stream));
}

/* The tape of one set is a walk over a ring of one. */
static bool launch_recorded(void *context, int set, struct fault *f) {
  struct part *x = context;
  (void)set;
  return (x->ours ? launch_ours : launch_base)(x, x->recorded, f);
}

/* Sides */

static bool add_part(struct clocked *c, bool ours, bool pdl, struct fault *f) {
  struct problem *p = c->p;
  struct part *x = &c->part[c->sides];
  *x = (struct part){.c = c, .ours = ours, .pdl = pdl};
  c->clock.side[c->sides] =
      (struct hostclock_side){.launch = ours ? launch_ours : launch_base, .context = x};
  c->clock.sides = ++c->sides;
  x->seen = calloc((size_t)p->sets, 1);
  return x->seen || fault_set(f, "no memory for %d marks", p->sets);
}

static void close_part(struct part *x) {
  for (int i = 0; x->tapes && i < x->c->p->sets; i++) timer_free(&x->tapes[i]);
  free(x->tapes);
  free(x->seen);
}

static void set_layout(struct part *base, int layout) {
  base->layout = layout;
  base->blas = problem_blas(base->c->p, baseline_layout[layout]);
}

/* Where the ring does not fill L2, no walk may meet what one before left there: L2 is swept, and a
** segment is one walk at most (most_calls). */
static bool sweep(struct clocked *c, struct fault *f) {
  if (!c->p->sweep.base) return true;
  c->clock.set = 0;
  return problem_sweep(c->p, f) && gpu_await(c->p->gpu, "sweeping L2", c->clock.patience, f);
}

static bool isolated(struct clocked *c, int side, double seconds, double *s, struct fault *f) {
  return sweep(c, f) && hostclock_isolated(&c->clock, side, seconds, s, f);
}

/* cuBLAS's faster layout by isolated calls: nn tn tn nn. */
static bool find_layout(struct clocked *c, struct fault *f) {
  struct part *x = &c->part[c->base];
  double log_s[PROBLEM_BASES] = {0, 0}, s;
  for (int i = 0; i < 2 * PROBLEM_BASES; i++) {
    set_layout(x, clockplan_side(i, PROBLEM_BASES));
    if (!isolated(c, c->base, look_s, &s, f)) return false;
    log_s[x->layout] += log(s);
  }
  set_layout(x, log_s[1] < log_s[0]);
  c->out->layout = x->layout;
  return true;
}

static bool record(struct clocked *c, int side, struct fault *f) {
  struct problem *p = c->p;
  struct part *x = &c->part[side];
  x->tapes = calloc((size_t)p->sets, sizeof *x->tapes);
  if (!x->tapes) return fault_set(f, "no memory for %d graphs", p->sets);
  for (x->recorded = 0; x->recorded < p->sets; x->recorded++)
    if (!timer_record(p->gpu, launch_recorded, x, 1, 1, &x->tapes[x->recorded], f)) return false;
  c->clock.side[side].launch = launch_graph;
  return true;
}

static bool open_sides(struct clocked *c, struct fault *f) {
  baseline_scalars(&c->scalars, baseline_compute(c->p));
  c->out->pdl = c->bound.kernel.desc.pdl;
  if (!add_part(c, true, false, f) || (c->out->pdl && !add_part(c, true, true, f))) return false;
  c->base = c->sides;
  if (!add_part(c, false, false, f) || !find_layout(c, f)) return false;
  for (int i = 0; i < c->sides && c->job->kind == CLOCKED_GRAPH; i++)
    if (!record(c, i, f)) return false;
  return true;
}

/* Outputs */

/* Before a side's last segment: C is marked. */
static bool mark(struct clocked *c, struct part *x, struct fault *f) {
  struct problem *p = c->p;
  memset(x->seen, 0, (size_t)p->sets);
  return check_poison(p, &p->c, f) && gpu_await(p->gpu, "marking C", c->clock.patience, f);
}

static bool look_at(struct clocked *c, int side, struct fault *f) {
  struct problem *p = c->p;
  struct part *x = &c->part[side];
  struct verdict *v = &c->out->verdict;
  char what[48];
  snprintf(what, sizeof what, "%s%s", clocked_word(c->job->kind), x->pdl ? " with pdl" : "");
  for (int set = 0; set < p->sets; set++)
    if (!x->seen[set] && !c->clock.side[side].launch(x, set, f)) return false;
  return gpu_await(p->gpu, "the rest of the ring", c->clock.patience, f) &&
         check_outputs(p, &p->c, p->layout, what, v, f) &&
         check_inputs(p, &c->bound.sums, what, v, f);
}

/* A hostclock_between. cuBLAS's outputs were looked at when the problem was prepared. */
static bool between(void *context, int side, enum hostclock_when when, struct fault *f) {
  struct clocked *c = context;
  bool looked_at = c->part[side].ours && !c->out->verdict.wrong;
  if (when == HOSTCLOCK_AFTER_LAST) return !looked_at || look_at(c, side, f);
  if (when == HOSTCLOCK_BEFORE_LAST && looked_at && !mark(c, &c->part[side], f)) return false;
  return sweep(c, f);
}

/* Time */

/* Warms up, and finds out how often calls are to come. What cuBLAS can serve is one request per
** isolated call. */
static bool plan(struct clocked *c, struct clockplan *out, struct fault *f) {
  struct problem *p = c->p;
  bool long_one = p->base_us[0] >= long_problem_us && !p->warm, call = c->job->kind == CLOCKED_CALL;
  double s, slowest = 0, base = 0, least;
  for (int i = 0; i < c->sides; i++) {
    double seconds = long_one && i == 0 ? long_warm_up_s : warm_up_s;
    if (!isolated(c, i, seconds, &s, f)) return false;
    slowest = fmax(slowest, s);
    if (i == c->base) base = s;
  }
  p->warm = true;
  double gap = call ? slowest : base * 100 / c->job->load;
  return clockplan_cut(c->job->seconds, c->sides, gap, c->clock.most_calls, out, &least) ||
         fault_set(f, "%g seconds are too few for a call every %.3g ms: %.3g or more are needed",
                   c->job->seconds, gap * 1000, least - CLOCK_EXTRA);
}

static void figures(struct clocked *c, struct clocked_result *out) {
  double medians[CLOCK_SIDES][CLOCK_SEGMENTS];
  struct hostclock *h = &c->clock;
  out->calls = h->side[0].calls;
  for (int i = 0; i < c->sides; i++) {
    int at = i == c->base ? CLOCKED_BASE : i;
    hostclock_medians(h, i, medians[i]); /* before the samples are sorted as a whole */
    out->side[at].us = hostclock_latency(h, i, 0.5);
    out->side[at].p99_us = hostclock_latency(h, i, 0.99);
    out->side[at].enqueue_us = hostclock_enqueue(h, i);
    out->segments += h->side[i].segments;
    if (h->side[i].calls < out->calls) out->calls = h->side[i].calls;
  }
  for (int i = 0; i < c->base; i++)
    out->ratio[i] = clockplan_ratio(medians[c->base], medians[i], h->side[i].segments / 2);
  out->dropped = h->dropped;
}

/* Whole */

const char *clocked_word(enum clocked_kind kind) {
  static const char *const words[] = {"call", "server", "server-graph"};
  return words[kind];
}

static bool verify(struct clocked *c, struct fault *f) {
  struct clocked_result *out = c->out;
  out->proved = !bound_passed(&c->bound);
  bool ok = out->proved ? bound_verify(&c->bound, &out->verdict, f)
                        : bound_record(&c->bound, &out->verdict, f);
  out->families = c->bound.families;
  out->holes = c->bound.holes;
  out->ms_families = c->bound.ms_families;
  return ok;
}

static bool run(struct clocked *c, struct fault *f) {
  struct problem *p = c->p;
  struct clockplan cut;
  if (!verify(c, f)) return false;
  if (c->out->verdict.wrong) return true;
  c->clock = (struct hostclock){.gpu = p->gpu,
                                .sets = p->sets,
                                .most_calls = p->sweep.base ? p->sets : 0,
                                .server = c->job->kind != CLOCKED_CALL,
                                .patience = VERIFY_PATIENCE + p->base_us[0] * 1e-3,
                                .seed = p->seed};
  if (!hostclock_open(&c->clock, f) || !open_sides(c, f) || !plan(c, &cut, f) ||
      !hostclock_run(&c->clock, &cut, between, c, f))
    return false;
  if (!c->out->verdict.wrong) bound_remember(&c->bound);
  figures(c, c->out);
  return true;
}

bool clocked_run(struct problem *p, const struct clocked_job *job, struct clocked_result *out,
                 struct fault *f) {
  struct clocked c = {.p = p, .job = job, .out = out};
  memset(out, 0, sizeof *out);
  check_begin(&out->verdict);
  bool ok = bound_open(&c.bound, p, job->cubin, job->desc, f);
  out->refused = c.bound.refused;
  snprintf(out->why, sizeof out->why, "%s", c.bound.why);
  ok = ok && (out->refused || run(&c, f));
  if (!ok && c.clock.flag) /* calls on their way write there */
    (void)(f->hung || gpu_await(p->gpu, "what was under way", c.clock.patience, f));
  if (f->hung) return false; /* freeing would wait for the kernel */
  for (int i = 0; i < c.sides; i++) close_part(&c.part[i]);
  hostclock_close(&c.clock);
  bound_close(&c.bound, !ok || out->verdict.wrong);
  return ok;
}
