/* verbs_clock.c - the job clock: a kernel and cuBLAS by the host's clock
**
** Needs a prepared problem, whose ring (cold or hot) is the one that is walked. Only the
** kind call has enqueue_us, the time until the call returns; only servers have a load.
** What the run finds wrong or refuses is answered as by the job time.
*/
#include "verbs.h"

#include "baseline.h"
#include "clocked.h"

#include <stdio.h>
#include <string.h>

enum { USUAL_LOAD = 50, MOST_LOAD = 95 }; /* per cent */
static const double least_seconds = 0.1, most_seconds = 120;

const char *const verbs_clock_names[] = {"cubin", "desc", "kind", "seconds", "?load", NULL};

/* Job */

static bool read_kind(const char *word, enum clocked_kind *out, struct fault *f) {
  static const enum clocked_kind kinds[] = {CLOCKED_CALL, CLOCKED_SERVER, CLOCKED_GRAPH};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    *out = kinds[i];
    if (strcmp(word, clocked_word(*out)) == 0) return true;
  }
  return fault_set(f, "unknown kind '%.40s'", word);
}

static bool read_job(const struct job *job, struct clocked_job *out, struct fault *f) {
  int64_t load = USUAL_LOAD;
  out->cubin = job_text(job, "cubin");
  out->desc = job_text(job, "desc");
  if (!read_kind(job_text(job, "kind"), &out->kind, f) ||
      !job_real(job, "seconds", least_seconds, most_seconds, &out->seconds, f))
    return false;
  if (job_has(job, "load")) {
    if (out->kind == CLOCKED_CALL) return fault_set(f, "calls have no load");
    if (!job_int(job, "load", 1, MOST_LOAD, &load, f)) return false;
  }
  out->load = (int)load;
  return true;
}

/* Answer */

static const struct name {
  enum clocked_side side;
  const char *us, *p99, *enqueue;
} names[] = {{CLOCKED_OURS, "us", "p99_us", "enqueue_us"},
             {CLOCKED_PDL, "us_pdl", "p99_us_pdl", "enqueue_us_pdl"},
             {CLOCKED_BASE, "cublas_us", "cublas_p99_us", "cublas_enqueue_us"}};

static const struct ratio_name {
  const char *mid, *lo, *hi, *verdict;
} ratio_names[] = {{"ratio", "ratio_lo", "ratio_hi", "verdict"},
                   {"ratio_pdl", "ratio_pdl_lo", "ratio_pdl_hi", "verdict_pdl"}};

static void print_families(const struct clocked_result *c, struct reply *r) {
  if (!c->proved) return; /* known from before */
  reply_int(r, "families", c->families);
  reply_int(r, "holes", c->holes);
  reply_real(r, "ms_families", c->ms_families);
}

static void print_wrong(const struct clocked_result *c, struct reply *r) {
  verbs_wrong(&c->verdict, r);
  print_families(c, r);
}

static void print_sides(const struct clocked_job *job, const struct clocked_result *c,
                        struct reply *r) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const struct name *n = &names[i];
    if (n->side == CLOCKED_PDL && !c->pdl) continue;
    reply_real(r, n->us, c->side[n->side].us);
    reply_real(r, n->p99, c->side[n->side].p99_us);
    if (job->kind == CLOCKED_CALL) reply_real(r, n->enqueue, c->side[n->side].enqueue_us);
  }
}

static void print_ratios(const struct clocked_result *c, struct reply *r) {
  for (int i = 0; i < 1 + c->pdl; i++) {
    const struct ratio_name *n = &ratio_names[i];
    reply_real(r, n->mid, c->ratio[i].ratio.mid);
    reply_real(r, n->lo, c->ratio[i].ratio.lo);
    reply_real(r, n->hi, c->ratio[i].ratio.hi);
    reply_text(r, n->verdict, stat_word(c->ratio[i].verdict));
  }
}

static void print_ok(const struct problem *p, const struct clocked_job *job,
                     const struct clocked_result *c, struct reply *r) {
  reply_begin(r, "ok");
  reply_text(r, "kind", clocked_word(job->kind));
  print_sides(job, c, r);
  reply_text(r, "cublas_layout", loom_layout_name(baseline_layout[c->layout]));
  print_ratios(c, r);
  reply_int(r, "segments", c->segments);
  reply_int(r, "calls", c->calls);
  if (job->kind != CLOCKED_CALL) {
    reply_int(r, "load", job->load);
    reply_int(r, "dropped", c->dropped);
  }
  reply_int(r, "sets", p->sets);
  reply_real(r, "err", c->verdict.err);
  reply_real(r, "rms", c->verdict.rms);
  reply_int(r, "checked", c->verdict.checked);
  print_families(c, r);
}

bool verbs_clock(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  struct problem *p = &w->problem;
  struct clocked_result c;
  struct clocked_job what;
  if (!p->ready) return fault_set(f, "no problem is prepared");
  if (!read_job(job, &what, f) || !clocked_run(p, &what, &c, f)) return false;
  if (c.refused) {
    reply_begin(r, "refused");
    reply_text(r, "why", c.why);
  } else if (c.verdict.wrong) {
    print_wrong(&c, r);
  } else {
    print_ok(p, &what, &c, r);
  }
  return true;
}
