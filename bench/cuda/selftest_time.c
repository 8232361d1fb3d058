/* selftest_time.c - shows that timing compares what it says, and what it may not believe
**
** Kernels are the slow one of planted.h, bound as if they had come from cubins: one
** beside itself must be as fast as itself. Then tapes and kernels are exchanged
** after they were verified, which must show after timing.
*/
#include "selftest.h"

#include "baseline.h"
#include "cand.h"
#include "kernels.h"
#include "planted.h"
#include "probe.h"

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 8 };

struct timing {
  struct problem p;
  int *passed, *failed;
  struct bound ours, rival;
  struct cand_result out;
  struct fault fault;
};

static void tell(struct timing *t, bool ok, const char *name, const char *why) {
  printf("%s timing: %s (%s)\n", ok ? "ok" : "not ok", name, why);
  (void)fflush(stdout);
  ++*(ok ? t->passed : t->failed);
}

/* A problem of f16, nn, with its baselines */
static bool open(struct timing *t, struct gpu *g, int64_t m, int64_t n, int64_t k, bool hot) {
  struct problem *p = &t->p;
  *p = (struct problem){
      .gpu = g, .layout = LOOM_NN, .acc = LOOM_ACC_F32, .mnk = {m, n, k}, .seed = 1, .hot = hot};
  p->dtype = LOOM_F16;
  return problem_prepare(p, &t->fault) && baseline_prepare(p, &t->fault) &&
         problem_settle(p, &t->fault);
}

/* What is planted between verification and timing */

static bool nothing(struct timing *t, struct fault *f) {
  (void)t, (void)f;
  return true;
}

static bool idle(void *context, int set, struct fault *f) {
  struct problem *p = context;
  (void)set;
  return CUDA(f, kernels_wait(0, p->gpu->stream));
}

static bool exchange(struct timing *t, struct timer_tape *tape, struct fault *f) {
  if (!tape->exec) return fault_set(f, "there is no such tape");
  int reps = tape->reps;
  timer_free(tape);
  return timer_record(t->p.gpu, idle, &t->p, t->p.sets, reps, tape, f);
}

static bool idle_ours(struct timing *t, struct fault *f) { return exchange(t, &t->ours.plain, f); }

static bool idle_pdl(struct timing *t, struct fault *f) {
  return exchange(t, &t->ours.with_pdl, f);
}

static bool idle_rival(struct timing *t, struct fault *f) {
  return exchange(t, &t->rival.plain, f);
}

/* The tapes stay; those of the chain, which come later, get another kernel. */
static bool other_kernel(struct timing *t, struct fault *f) {
  (void)f;
  t->ours.kernel = probe_kernel(t->p.gpu, PLANTED_EDGE, t->p.dtype, t->p.acc);
  return true;
}

enum { RIVAL = 1, CHAIN = 2, PDL = 4 }; /* asked for; only where there is pdl */

static const struct timed {
  const char *name, *why; /* why: how the refusal begins; NULL: it must pass */
  int rival;              /* fault of its kernel */
  bool (*plant)(struct timing *t, struct fault *f);
  int how;
} timed[] = {
    {"a kernel beside itself is no faster", NULL, PLANTED_NONE, nothing, RIVAL},
    {"a kernel passes in a chain", NULL, PLANTED_NONE, nothing, CHAIN},
    {"a wrong rival is refused", "rival: ", PLANTED_LAST_K, nothing, RIVAL},
    {"a tape that does nothing is refused", "", 0, idle_ours, 0}, /* by some check */
    {"it is refused beside a right rival", "after timing: ", 0, idle_ours, RIVAL},
    {"with pdl, too", "with pdl, after timing: ", 0, idle_pdl, RIVAL | PDL},
    {"a rival that does nothing is refused", "rival: after timing: ", 0, idle_rival, RIVAL},
    {"a kernel that is wrong in a chain is refused", "in a chain: ", 0, other_kernel, CHAIN},
};

static bool measure(struct timing *t, const struct timed *w, struct fault *f) {
  struct problem *p = &t->p;
  const struct cand_job job = {.blocks = BLOCKS, .chain = w->how & CHAIN};
  loom_kernel right = probe_kernel(p->gpu, PLANTED_NONE, p->dtype, p->acc),
              other = probe_kernel(p->gpu, w->rival, p->dtype, p->acc);
  struct bound *rival = w->how & RIVAL ? &t->rival : NULL;
  if (!bound_adopt(&t->ours, p, &right, 1, f) || (rival && !bound_adopt(rival, p, &other, 2, f)) ||
      !cand_verify(&t->ours, rival, &t->out, f))
    return false;
  return t->out.verdict.wrong || (w->plant(t, f) && cand_blocks(&t->ours, rival, &job, &t->out, f));
}

/* Is every figure there that was asked for, and can it be? */
static bool sane(const struct timing *t, const struct timed *w) {
  bool has_pdl = t->ours.kernel.desc.pdl;
  for (int pdl = 0; pdl <= has_pdl; pdl++) {
    const struct timer_pair *base = &t->out.pair[CAND_CUBLAS][pdl],
                            *rival = &t->out.pair[CAND_RIVAL][pdl],
                            *chain = &t->out.pair[CAND_CHAIN][pdl];
    if (!base->have || base->n != BLOCKS || base->us <= 0 || base->ratio.mid <= 0) return false;
    if (w->how & RIVAL && (!rival->have || rival->verdict == STAT_FASTER ||
                           rival->verdict == STAT_SLOWER || t->out.rival_us[pdl] <= 0))
      return false;
    if (w->how & CHAIN && (!chain->have || chain->us <= base->us || chain->base_us <= 0))
      return false;
  }
  return true;
}

static void describe(const struct timing *t, char *why, size_t room) {
  const struct cand_result *o = &t->out;
  const struct timer_pair *rival = o->pair[CAND_RIVAL], *chain = o->pair[CAND_CHAIN];
  int n = snprintf(why, room, "%.2f us, cuBLAS %.2f", o->pair[CAND_CUBLAS][0].us,
                   o->pair[CAND_CUBLAS][0].base_us);
  for (int pdl = 0; pdl < 2 && n > 0; pdl++) {
    if (rival[pdl].have)
      n += snprintf(why + n, room - (size_t)n, "; beside itself %.4f [%.4f, %.4f] %s",
                    rival[pdl].ratio.mid, rival[pdl].ratio.lo, rival[pdl].ratio.hi,
                    stat_word(rival[pdl].verdict));
    if (chain[pdl].have)
      n += snprintf(why + n, room - (size_t)n, "; in a chain %.2f us, cuBLAS %.2f", chain[pdl].us,
                    chain[pdl].base_us);
  }
}

static bool one(struct timing *t, const struct timed *w) {
  char why[512];
  bool ok = measure(t, w, &t->fault);
  const struct verdict *v = &t->out.verdict;
  if (!ok)
    snprintf(why, sizeof why, "%.500s", t->fault.text);
  else if (v->wrong)
    snprintf(why, sizeof why, "%s", v->why);
  else
    describe(t, why, sizeof why);
  bool right =
      w->why ? v->wrong && strncmp(v->why, w->why, strlen(w->why)) == 0 : !v->wrong && sane(t, w);
  tell(t, ok && right, w->name, why);
  if (t->fault.hung) return false;
  bound_close(&t->ours, !ok || v->wrong);
  if (w->how & RIVAL) bound_close(&t->rival, !ok || v->wrong);
  return ok;
}

/* Caches */

struct reader {
  struct gpu *g;
  struct timer_sweep part;
};

static bool read_part(void *context, int set, struct fault *f) {
  struct reader *r = context;
  (void)set;
  return CUDA(f, kernels_sweep(r->part.base, r->part.bytes, r->g->stream));
}

/* us of a window that reads a part of L2's size once, with or without a sweep before it. */
static bool read_us(struct timing *t, const struct timer_tape *tape, bool swept, double *us) {
  struct gpu *g = t->p.gpu;
  struct timer timer;
  bool ok = problem_timer(&t->p, &timer, &t->fault);
  timer.lead = tape;
  timer.tape[timer.tapes++] = tape;
  if (!swept) timer.sweep.base = NULL;
  ok = ok && timer_warm_up(g, &timer, 2, 0, &t->fault) &&
       timer_run(g, &timer, 2 * BLOCKS, &t->fault);
  if (ok) *us = timer_median_us(&timer, 0);
  timer_close(&timer);
  return ok;
}

/* What still is in L2 is read faster. */
static bool sweeping(struct timing *t) {
  struct reader r = {.g = t->p.gpu};
  struct timer_tape tape = {.exec = NULL};
  double warm = 0, cold = 0;
  char why[64];
  r.part.bytes = (size_t)t->p.gpu->prop.l2CacheSize / 4;
  bool ok = gpu_take(r.g, &t->fault, &r.part.base, r.part.bytes, "a part of L2") &&
            timer_record(r.g, read_part, &r, 1, 1, &tape, &t->fault) &&
            read_us(t, &tape, false, &warm) && read_us(t, &tape, true, &cold);
  snprintf(why, sizeof why, "%.2f us; %.2f us without", cold, warm);
  if (ok) tell(t, cold > 1.1 * warm, "a sweep leaves nothing in L2", why);
  timer_free(&tape);
  gpu_give(r.g, &r.part.base);
  return ok;
}

/* A problem that no ring makes cold */
static bool tiny(struct timing *t, struct gpu *g) {
  struct problem *p = &t->p;
  char why[80];
  if (!open(t, g, 64, 64, 64, false)) return false;
  snprintf(why, sizeof why, "%d sets, %d launches a tape, swept=%d", p->sets, p->base[0].reps,
           p->sweep.base != NULL);
  tell(t, p->sweep.base && p->base[0].reps == p->sets,
       "a tiny problem is swept, its ring walked once", why);
  bool ok = one(t, &timed[0]) && one(t, &timed[1]) && (!p->sweep.base || sweeping(t));
  problem_free(p);
  return ok;
}

static bool hot(struct timing *t, struct gpu *g) {
  if (!open(t, g, 512, 384, 1024, true)) return false;
  bool ok = t->p.sets == 1 && !t->p.sweep.base && one(t, &timed[0]) && one(t, &timed[1]);
  problem_free(&t->p);
  return ok;
}

static bool cold(struct timing *t, struct gpu *g) {
  if (!open(t, g, 512, 384, 1024, false)) return false;
  for (size_t i = 0; i < sizeof timed / sizeof timed[0]; i++) {
    if (timed[i].how & PDL && g->prop.major < 9) continue;
    if (!one(t, &timed[i])) return false;
  }
  problem_free(&t->p);
  return true;
}

void selftest_time(struct gpu *g, int *passed, int *failed) {
  struct timing t = {.passed = passed, .failed = failed};
  if (cold(&t, g) && hot(&t, g) && tiny(&t, g)) return;
  tell(&t, false, "runs to its end", t.fault.text);
}
