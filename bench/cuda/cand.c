/* cand.c - one candidate, and perhaps a rival of our own beside it: verify, time
**
** What is verified is what is timed (bound.h). The last timed block is checked
** again; the same launches under other conditions come after it (change.h).
**
** A rival is held to all of that. It writes the same C as the candidate, so that
** what a block leaves there may be the work of either: beside a rival, every tape
** is replayed once more by itself, over a marked C, before it is believed.
*/
#include "cand.h"

#include "chain.h"
#include "change.h"

#include <stdio.h>
#include <string.h>

static const double long_warm_up = 0.3, long_problem_us = 100; /* seconds; power limits bite late */

/* Tapes of the palindrome, in its order, and names for some of them. With pdl: the one behind. */
enum slot { OURS, OURS_PDL, RIVAL, RIVAL_PDL, NN, TN, NV, BEST, SLOTS };

struct cand {
  struct problem *p;
  struct bound *ours, *rival; /* rival: may be NULL */
  const struct cand_job *job;
  struct cand_result *out;
  int at[SLOTS]; /* the timer's tape; -1: none */
  struct timer timer;
};

/* Whose fault */

static void blame(char *text, size_t size) {
  char old[512];
  snprintf(old, sizeof old, "%.500s", text);
  snprintf(text, size, "rival: %.*s", (int)size - 8, old);
}

/* After a step of the rival's alone: what is told there is told as its own. */
static bool as_rival(bool ok, struct verdict *v, struct fault *f) {
  if (!ok) blame(f->text, sizeof f->text);
  if (ok && v->wrong) blame(v->why, sizeof v->why);
  return ok;
}

/* Time */

static void add(struct cand *c, enum slot slot, const struct timer_tape *tape) {
  struct timer *t = &c->timer;
  if (!tape->exec) return;
  c->at[slot] = t->tapes;
  t->tape[t->tapes++] = tape;
}

static bool open_timer(struct cand *c, struct fault *f) {
  struct problem *p = c->p;
  if (!problem_timer(p, &c->timer, f)) return false;
  for (int i = 0; i < SLOTS; i++) c->at[i] = -1;
  add(c, OURS, &c->ours->plain);
  add(c, OURS_PDL, &c->ours->with_pdl);
  if (c->rival) add(c, RIVAL, &c->rival->plain);
  if (c->rival) add(c, RIVAL_PDL, &c->rival->with_pdl);
  for (int i = 0; i < PROBLEM_BASES; i++) add(c, NN + i, &p->base[i]);
  if (p->nv.have && p->nv.base < 0) add(c, NV, &p->nv.tape);
  if (p->nv.have && p->nv.base >= 0) c->at[NV] = c->at[NN + p->nv.base];
  return true;
}

/* The tapes of a comparison; false where one of them is not there. */
static bool tapes_of(struct cand *c, enum cand_base base, int pdl, int *other, int *ours) {
  static const enum slot slots[][2] = {{BEST, BEST}, {NV, NV}, {RIVAL, RIVAL_PDL}};
  const struct timer *t = &c->timer;
  int nn = c->at[NN], tn = c->at[TN];
  c->at[BEST] = timer_median_us(t, tn) < timer_median_us(t, nn) ? tn : nn;
  *other = c->at[slots[base][pdl]];
  *ours = c->at[OURS + pdl];
  return *other >= 0 && *ours >= 0;
}

/* A timer_watch: C is marked before the last block; blocks come until what matters is known. */
static bool mark(void *context, struct fault *f) {
  struct cand *c = context;
  return check_poison(c->p, &c->p->c, f);
}

static bool decided(void *context) {
  struct cand *c = context;
  enum cand_base base = c->rival ? CAND_RIVAL : c->p->nv.have ? CAND_NV : CAND_CUBLAS;
  for (int pdl = 0; pdl < 2; pdl++) {
    int other, ours;
    if (tapes_of(c, base, pdl, &other, &ours) && !timer_look(&c->timer, other, ours).stop)
      return false;
  }
  return true;
}

/* After timing */

/* Each tape by itself. */
static bool replay_all(struct bound *b, struct verdict *v, struct fault *f) {
  return bound_replay(b, &b->plain, "after timing", v, f) &&
         (!b->with_pdl.exec || bound_replay(b, &b->with_pdl, "with pdl, after timing", v, f));
}

static bool other_conditions(struct bound *b, struct verdict *v, struct fault *f) {
  const struct timer_tape *last = b->with_pdl.exec ? &b->with_pdl : &b->plain;
  return change_results(b->p, last, &b->sums, b->seed, v, f) &&
         change_operands(b->p, &b->plain, &b->sums, b->seed + 1, v, f);
}

static bool check_all(struct cand *c, struct fault *f) {
  struct problem *p = c->p;
  struct verdict *v = &c->out->verdict;
  bool ok = true;
  if (c->rival) ok = replay_all(c->ours, v, f);
  if (ok && c->rival && !v->wrong) ok = as_rival(replay_all(c->rival, v, f), v, f);
  double start = gpu_now();
  ok = ok && other_conditions(c->ours, v, f);
  if (ok && c->rival && !v->wrong) ok = as_rival(other_conditions(c->rival, v, f), v, f);
  c->out->ms_changed = (gpu_now() - start) * 1000;
  return ok && (v->wrong || check_inputs(p, &c->ours->sums, "after timing", v, f));
}

static bool run_blocks(struct cand *c, struct fault *f) {
  struct problem *p = c->p;
  struct verdict *v = &c->out->verdict;
  const struct timer_watch watch = {mark, decided, c};
  bool long_one = p->base_us[0] >= long_problem_us && !p->warm;
  if (!open_timer(c, f) || !timer_warm_up(p->gpu, &c->timer, 2, long_one ? long_warm_up : 0, f))
    return false;
  p->warm = true;
  return timer_run_to(p->gpu, &c->timer, c->job->blocks, &watch, f) &&
         check_outputs(p, &p->c, p->layout, "after timing", v, f) &&
         check_inputs(p, &c->ours->sums, "after timing", v, f) && check_all(c, f);
}

static void figures(struct cand *c) {
  const struct timer *t = &c->timer;
  struct cand_result *out = c->out;
  for (int base = CAND_CUBLAS; base <= CAND_RIVAL; base++)
    for (int pdl = 0; pdl < 2; pdl++) {
      int other, ours;
      if (tapes_of(c, base, pdl, &other, &ours))
        timer_compare(t, other, ours, &out->pair[base][pdl]);
    }
  for (int i = 0; i < PROBLEM_BASES; i++) {
    struct timer_pair pair;
    timer_compare(t, c->at[NN + i], c->at[OURS], &pair);
    out->base_us[i] = pair.base_us;
    out->ratio_base[i] = pair.ratio.mid;
  }
  for (int pdl = 0; pdl < 2; pdl++)
    if (c->at[RIVAL + pdl] >= 0) out->rival_us[pdl] = timer_median_us(t, c->at[RIVAL + pdl]);
  out->mhz = timer_median_mhz(t);
  out->drift = timer_drift(t);
  out->blocks = t->blocks;
  out->starved = t->starved;
  out->drifted = t->drifted;
  out->unsteady = t->unsteady;
  out->health = t->health;
}

/* Steps */

bool cand_blocks(struct bound *ours, struct bound *rival, const struct cand_job *job,
                 struct cand_result *out, struct fault *f) {
  struct cand c = {.p = ours->p, .ours = ours, .rival = rival, .job = job, .out = out};
  bool ok = run_blocks(&c, f);
  if (ok && !out->verdict.wrong) figures(&c);
  if (!f->hung) timer_close(&c.timer);
  if (!ok || out->verdict.wrong || !job->chain) return ok;
  return chain_time(ours, job->blocks, out->pair[CAND_CHAIN], &out->verdict, f);
}

/* What was found before timing, also of one that is wrong */
static void facts(const struct bound *b, struct cand_result *out) {
  out->families = b->families;
  out->holes = b->holes;
  out->ms_families = b->ms_families;
  out->reps = b->reps;
}

bool cand_verify(struct bound *ours, struct bound *rival, struct cand_result *out,
                 struct fault *f) {
  struct verdict *v = &out->verdict;
  memset(out, 0, sizeof *out);
  check_begin(v);
  out->rival = rival != NULL;
  bool ok = bound_verify(ours, v, f);
  facts(ours, out);
  if (!ok || v->wrong || !rival) return ok;
  return as_rival(bound_verify(rival, v, f), v, f);
}

static bool run(struct bound *ours, struct bound *rival, const struct cand_job *job,
                struct cand_result *out, struct fault *f) {
  if (!cand_verify(ours, rival, out, f)) return false;
  if (out->verdict.wrong) return true;
  if (!cand_blocks(ours, rival, job, out, f)) return false;
  if (!out->verdict.wrong) bound_remember(ours);
  return true;
}

/* Opens one; *refused says that its launcher refuses. */
static bool open_one(struct bound *b, struct problem *p, const char *cubin, const char *desc,
                     struct cand_result *out, struct fault *f) {
  if (!bound_open(b, p, cubin, desc, f)) return false;
  out->refused = b->refused;
  snprintf(out->why, sizeof out->why, "%s", b->why);
  return true;
}

static bool open_both(struct bound *ours, struct bound *rival, const struct cand_job *job,
                      struct problem *p, struct cand_result *out, struct fault *f) {
  if (!open_one(ours, p, job->cubin, job->desc, out, f)) return false;
  if (out->refused || !job->rival_cubin) return true;
  if (!open_one(rival, p, job->rival_cubin, job->rival_desc, out, f)) {
    blame(f->text, sizeof f->text);
    return false;
  }
  if (out->refused) blame(out->why, sizeof out->why);
  return true;
}

bool cand_time(struct problem *p, const struct cand_job *job, struct cand_result *out,
               struct fault *f) {
  struct bound ours = {.p = p}, rival = {.p = p};
  memset(out, 0, sizeof *out);
  bool ok = open_both(&ours, &rival, job, p, out, f);
  if (ok && !out->refused) ok = run(&ours, job->rival_cubin ? &rival : NULL, job, out, f);
  if (f->hung) return false; /* freeing would wait for the kernel */
  bound_close(&ours, !ok || out->verdict.wrong);
  bound_close(&rival, !ok || out->verdict.wrong);
  return ok;
}
