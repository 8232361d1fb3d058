/* chain.c - a kernel in a chain of dependent launches
**
** The tapes are their own, in a palindrome of their own, so that the figures of
** back-to-back launches stay what they are. The small kernel leaves every value of A
** as it was; a product that does not wait for it can not be told by its values here,
** but was by verify.h, where operands come late.
*/
#include "chain.h"

#include "baseline.h"
#include "kernels.h"

#include <string.h>

enum part_name { OURS, OURS_PDL, NN, TN, NN_PDL, TN_PDL, PARTS }; /* NN + i: of baseline_layout */
enum { WARM_UP = 2 };

struct part {
  struct problem *p;
  struct bound *b; /* NULL: cuBLAS */
  int layout;      /* of cuBLAS */
  bool pdl;
  struct timer_tape tape;
  int at; /* in the palindrome; -1: it is not there */
};

struct chain {
  struct bound *b;
  struct part part[PARTS];
  int reps;
  struct timer timer;
};

/* The small kernel, then the product. */
static bool launch(void *context, int set, struct fault *f) {
  struct part *x = context;
  struct problem *p = x->p;
  struct ring *c = x->b ? &p->c : &p->base_c;
  const void *before = problem_set(c, (set + p->sets - 1) % p->sets);
  if (!CUDA(f, kernels_link(before, c->used, problem_set(&p->a, set), p->a.used, 0,
                            p->gpu->prop.multiProcessorCount, x->pdl, p->gpu->stream)))
    return false;
  if (!x->b)
    return baseline_call(p, x->layout, c, set, baseline_compute(p), CUBLAS_GEMM_DEFAULT, f);
  x->b->pdl = x->pdl;
  return bound_launch(x->b, set, f);
}

/* Tapes */

static bool record(struct chain *c, enum part_name name, struct fault *f) {
  struct part *x = &c->part[name];
  return timer_record(x->p->gpu, launch, x, x->p->sets, c->reps, &x->tape, f);
}

static const char *word(enum part_name name) {
  return name == OURS_PDL ? "in a chain with pdl" : "in a chain";
}

static bool record_ours(struct chain *c, enum part_name name, struct verdict *v, struct fault *f) {
  return v->wrong ||
         (record(c, name, f) && bound_replay(c->b, &c->part[name].tape, word(name), v, f));
}

/* A library that cannot follow a small kernel with pdl goes without: that chain is an offer to it. */
static bool offer(struct chain *c, enum part_name name, struct fault *f) {
  struct fault mine = {.hung = false};
  return record(c, name, &mine) || gpu_alive() || fault_set(f, "%s", mine.text);
}

static bool record_all(struct chain *c, struct verdict *v, struct fault *f) {
  struct problem *p = c->b->p;
  bool pdl = c->b->kernel.desc.pdl;
  double us;
  if (!timer_estimate(p->gpu, launch, &c->part[OURS], p->sets, &us, f)) return false;
  c->reps = problem_reps(p, us);
  return record_ours(c, OURS, v, f) && (!pdl || record_ours(c, OURS_PDL, v, f)) &&
         record(c, NN, f) && record(c, TN, f) &&
         (!pdl || (offer(c, NN_PDL, f) && offer(c, TN_PDL, f)));
}

/* Time */

static bool open_timer(struct chain *c, struct fault *f) {
  struct timer *t = &c->timer;
  if (!problem_timer(c->b->p, t, f)) return false;
  for (struct part *x = c->part; x < c->part + PARTS; x++) {
    if (!x->tape.exec) continue;
    x->at = t->tapes;
    t->tape[t->tapes++] = &x->tape;
  }
  return true;
}

/* The fastest of cuBLAS's parts from NN up to, not including, 'end' */
static int best(const struct chain *c, enum part_name end) {
  int at = c->part[NN].at;
  for (const struct part *x = &c->part[TN]; x < c->part + end; x++)
    if (x->at >= 0 && timer_median_us(&c->timer, x->at) < timer_median_us(&c->timer, at))
      at = x->at;
  return at;
}

static bool mark(void *context, struct fault *f) {
  struct chain *c = context;
  return check_poison(c->b->p, &c->b->p->c, f);
}

static bool stop(void *context) {
  const struct chain *c = context;
  const struct timer *t = &c->timer;
  int ours = c->part[OURS].at, pdl = c->part[OURS_PDL].at;
  return timer_look(t, best(c, NN_PDL), ours).stop &&
         (pdl < 0 || timer_look(t, best(c, PARTS), pdl).stop);
}

/* What the last block left is of the part without pdl; the other gives its outputs once more. */
static bool check_again(struct chain *c, struct verdict *v, struct fault *f) {
  static const char what[] = "in a chain, after timing";
  struct problem *p = c->b->p;
  return check_outputs(p, &p->c, p->layout, what, v, f) &&
         check_inputs(p, &c->b->sums, what, v, f) &&
         (c->part[OURS_PDL].at < 0 ||
          bound_replay(c->b, &c->part[OURS_PDL].tape, "in a chain with pdl, after timing", v, f));
}

static bool run(struct chain *c, int blocks, struct verdict *v, struct fault *f) {
  struct gpu *g = c->b->p->gpu;
  const struct timer_watch watch = {mark, stop, c};
  if (!record_all(c, v, f)) return false;
  return v->wrong || (open_timer(c, f) && timer_warm_up(g, &c->timer, WARM_UP, 0, f) &&
                      timer_run_to(g, &c->timer, blocks, &watch, f) && check_again(c, v, f));
}

bool chain_time(struct bound *b, int blocks, struct timer_pair pair[2], struct verdict *v,
                struct fault *f) {
  struct chain c = {.b = b};
  for (int i = 0; i < PARTS; i++) {
    c.part[i] = (struct part){.p = b->p, .b = i < NN ? b : NULL, .at = -1};
    c.part[i].pdl = i == OURS_PDL || i >= NN_PDL;
    if (i >= NN) c.part[i].layout = baseline_layout[(i - NN) % PROBLEM_BASES];
  }
  bool ok = run(&c, blocks, v, f);
  if (f->hung) return false;
  if (ok && !v->wrong) {
    timer_compare(&c.timer, best(&c, NN_PDL), c.part[OURS].at, &pair[0]);
    if (c.part[OURS_PDL].at >= 0)
      timer_compare(&c.timer, best(&c, PARTS), c.part[OURS_PDL].at, &pair[1]);
  }
  for (int i = 0; i < PARTS; i++) timer_free(&c.part[i].tape);
  timer_close(&c.timer);
  return ok;
}
