/* verbs.c - the jobs: problem, time, baseline
**
** What each takes and answers is in the tables of field names and in the print
** functions. Fields with '?' may be missing.
*/
#include "verbs.h"

#include "baseline.h"
#include "cand.h"
#include "rivals.h"

#include <stdio.h>
#include <string.h>

static const double most_elements = 1e12; /* of an operand: keeps every byte count within 64 bits */
enum { LOOK_MS = 250, SWEEP_S = 20, NV_BLOCKS = 8 }; /* where the job does not say */

/* Job: problem */

static const char *const problem_names[] = {"M",   "N",    "K",          "layout",     "dtype",
                                            "acc", "seed", "?baselines", "?budget_ms", NULL};

static bool read_acc(const char *acc, struct problem *p, struct fault *f) {
  bool half = strcmp(acc, "f16") == 0;
  if (half && p->dtype == LOOM_BF16)
    return fault_set(f, "bf16 with f16 accumulation does not exist on tensor cores");
  if (!half && strcmp(acc, "f32") != 0) return fault_set(f, "unknown acc '%.40s'", acc);
  p->acc = half ? LOOM_ACC_F16 : LOOM_ACC_F32;
  return true;
}

/* Without a layout, where that is allowed, it is tn. */
static bool read_problem(const struct job *job, struct problem *p, struct fault *f) {
  for (int i = LOOM_M; i <= LOOM_K; i++)
    if (!job_int(job, problem_names[i], 1, INT32_MAX, &p->mnk[i], f)) return false;
  if (!job_int(job, "seed", 0, INT64_MAX, &p->seed, f)) return false;
  p->layout = job_has(job, "layout") ? loom_layout_of(job_text(job, "layout")) : LOOM_TN;
  p->dtype = loom_dtype_of(job_text(job, "dtype"));
  if (p->layout < 0) return fault_set(f, "unknown layout '%.40s'", job_text(job, "layout"));
  if (p->dtype < 0) return fault_set(f, "unknown dtype '%.40s'", job_text(job, "dtype"));
  if (!read_acc(job_text(job, "acc"), p, f)) return false;
  for (int i = LOOM_A; i <= LOOM_C; i++)
    if ((double)problem_elements(p, i) > most_elements)
      return fault_set(f, "an operand of %.3g elements does not fit",
                       (double)problem_elements(p, i));
  return true;
}

/* An integer field that may be missing */
static bool read_limit(const struct job *job, const char *name, int64_t least, int64_t most,
                       int64_t usual, int64_t *out, struct fault *f) {
  *out = usual;
  return !job_has(job, name) || job_int(job, name, least, most, out, f);
}

/* What the problem's candidates are measured against: nothing more, or all options' best. */
static bool read_rivals(const struct job *job, struct rivals *r, bool *all, struct fault *f) {
  static const char *const words[] = {"gemmex", "all", NULL};
  unsigned set = 1;
  int64_t ms;
  if (job_has(job, "baselines") && !job_set(job, "baselines", words, &set, f)) return false;
  if (!read_limit(job, "budget_ms", 1, 600000, LOOK_MS, &ms, f)) return false;
  *all = set & 2;
  r->want = RIVALS_AUTOTUNE | RIVALS_LT;
  r->look_seconds = (double)ms / 1000;
  return true;
}

static bool find_best(struct rivals *r, int blocks, struct fault *f) {
  return rivals_find(r, f) && rivals_time(r, blocks, f);
}

static void print_problem(const struct problem *p, struct reply *r) {
  reply_begin(r, "ok");
  reply_real(r, "cublas_nn_us", p->base_us[0]);
  reply_real(r, "cublas_tn_us", p->base_us[1]);
  reply_int(r, "sets", p->sets);
  reply_int(r, "reps", p->base[0].reps);
  reply_int(r, "checks", p->checks);
  reply_text(r, "references", p->kept ? "kept" : "recomputed");
  reply_text(r, "cublas_math", p->strict ? "strict" : "default");
}

static bool prepare(struct problem *p, struct rivals *r, bool all, struct reply *out,
                    struct fault *f) {
  if (!problem_prepare(p, f) || !baseline_prepare(p, f)) return false;
  if (all && !find_best(r, NV_BLOCKS, f)) return false;
  if (!problem_settle(p, f)) return false;
  print_problem(p, out);
  if (all) {
    rivals_reply(r, out);
    rivals_keep(r);
  }
  return true;
}

static bool do_problem(struct worker *w, const struct job *job, struct reply *out,
                       struct fault *f) {
  struct problem *p = &w->problem;
  struct rivals r = {.p = p};
  bool all = false;
  problem_free(p);
  p->gpu = &w->gpu;
  p->ready =
      read_problem(job, p, f) && read_rivals(job, &r, &all, f) && prepare(p, &r, all, out, f);
  rivals_close(&r);
  if (p->ready) return true;
  problem_free(p);
  return false;
}

/* Job: baseline */

static const char *const baseline_names[] = {"M",      "N",          "K",        "?layout",
                                             "dtype",  "acc",        "seed",     "options",
                                             "blocks", "?budget_ms", "?sweep_s", NULL};

static bool read_baseline(const struct job *job, struct rivals *r, int64_t *blocks,
                          struct fault *f) {
  static const char *const words[] = {"autotune", "lt", "exhaustive", "gemmex", NULL};
  unsigned set;
  int64_t ms, s;
  if (!job_set(job, "options", words, &set, f) ||
      !job_int(job, "blocks", 1, TIMER_BLOCKS, blocks, f) ||
      !read_limit(job, "budget_ms", 1, 600000, LOOK_MS, &ms, f) ||
      !read_limit(job, "sweep_s", 1, 600, SWEEP_S, &s, f))
    return false;
  r->want = (int)set & (RIVALS_AUTOTUNE | RIVALS_LT | RIVALS_EXHAUSTIVE);
  r->look_seconds = (double)ms / 1000;
  r->sweep_seconds = (double)s;
  return true;
}

static void print_baseline(const struct worker *w, const struct rivals *r, double seconds,
                           struct reply *out) {
  const struct problem *p = &w->problem;
  reply_begin(out, "ok");
  rivals_reply(r, out);
  reply_int(out, "sets", p->sets);
  reply_int(out, "reps", p->base[0].reps);
  reply_int(out, "checks", p->checks);
  reply_text(out, "cublas_math", p->strict ? "strict" : "default");
  reply_text(out, "cublas", w->gpu.cublas);
  reply_text(out, "cublaslt", w->gpu.cublaslt);
  reply_text(out, "cuda", w->gpu.cuda);
  reply_text(out, "driver", w->gpu.driver);
  reply_real(out, "ms_all", seconds * 1000);
}

/* The libraries alone: what was prepared before is gone afterwards. */
static bool do_baseline(struct worker *w, const struct job *job, struct reply *out,
                        struct fault *f) {
  struct problem *p = &w->problem;
  struct rivals r = {.p = p};
  int64_t blocks = 0;
  double start = rivals_now();
  problem_free(p);
  p->gpu = &w->gpu;
  p->lean = true;
  bool ok = read_problem(job, p, f) && read_baseline(job, &r, &blocks, f) &&
            problem_prepare(p, f) && baseline_prepare(p, f);
  r.seconds[0] = rivals_now() - start;
  ok = ok && find_best(&r, (int)blocks, f);
  if (ok) print_baseline(w, &r, rivals_now() - start, out);
  rivals_close(&r);
  problem_free(p);
  return ok;
}

/* Job: time */

static const char *const time_names[] = {"cubin", "desc", "blocks", NULL};

static void print_families(const struct cand_result *c, struct reply *r) {
  reply_int(r, "families", c->families);
  reply_int(r, "holes", c->holes);
  reply_real(r, "ms_families", c->ms_families);
}

static void print_wrong(const struct cand_result *c, struct reply *r) {
  const struct verdict *v = &c->verdict;
  reply_begin(r, "wrong");
  reply_text(r, "why", v->why);
  if (v->row >= 0) {
    reply_int(r, "row", v->row);
    reply_int(r, "col", v->col);
    reply_real(r, "got", v->got);
    reply_real(r, "want", v->want);
  }
  reply_real(r, "err", v->err);
  reply_real(r, "rms", v->rms);
  print_families(c, r);
}

static void print_interval(struct reply *r, const char *name, struct stat_interval s) {
  static const char *const ends[] = {"", "_lo", "_hi"};
  const double values[] = {s.mid, s.lo, s.hi};
  for (int i = 0; i < 3; i++) {
    char full[32];
    snprintf(full, sizeof full, "%s%s", name, ends[i]);
    reply_real(r, full, values[i]);
  }
}

static void print_nv(const struct cand_result *c, const struct problem_nv *nv, struct reply *r) {
  print_interval(r, "ratio_nv", c->ratio_nv);
  if (c->pdl) print_interval(r, "ratio_nv_pdl", c->ratio_nv_pdl);
  reply_text(r, "best_nv", nv->name);
  reply_real(r, "best_nv_us", c->nv_us);
  if (nv->algo[0]) reply_text(r, "best_nv_algo", nv->algo);
}

static void print_ok(const struct cand_result *c, const struct problem_nv *nv, struct reply *r) {
  reply_begin(r, "ok");
  reply_real(r, "us", c->us);
  if (c->pdl) reply_real(r, "us_pdl", c->us_pdl);
  reply_real(r, "cublas_nn_us", c->base_us[0]);
  reply_real(r, "cublas_tn_us", c->base_us[1]);
  print_interval(r, "ratio", c->ratio);
  if (c->pdl) print_interval(r, "ratio_pdl", c->ratio_pdl);
  reply_real(r, "ratio_nn", c->ratio_base[0]);
  reply_real(r, "ratio_tn", c->ratio_base[1]);
  reply_real(r, "err", c->verdict.err);
  reply_real(r, "rms", c->verdict.rms);
  reply_int(r, "blocks", c->blocks);
  reply_int(r, "starved", c->starved);
  reply_int(r, "reps", c->reps);
  reply_int(r, "checked", c->verdict.checked);
  print_families(c, r);
  reply_real(r, "ms_changed", c->ms_changed);
  reply_real(r, "clock_mhz", c->mhz);
  reply_real(r, "drift", c->drift);
  reply_int(r, "drifted", c->drifted);
  reply_int(r, "unsteady", c->unsteady);
  rivals_health(&c->health, r);
  reply_text(r, "verdict", stat_word(c->judged));
  if (c->pdl) reply_text(r, "verdict_pdl", stat_word(c->judged_pdl));
  if (c->nv) print_nv(c, nv, r);
}

static bool read_blocks(const struct job *job, int64_t *blocks, struct fault *f) {
  *blocks = CAND_AUTO;
  return strcmp(job_text(job, "blocks"), "auto") == 0 ||
         job_int(job, "blocks", 1, TIMER_BLOCKS, blocks, f);
}

static bool do_time(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  struct cand_result c;
  int64_t blocks;
  if (!w->problem.ready) return fault_set(f, "no problem is prepared");
  if (!read_blocks(job, &blocks, f) ||
      !cand_time(&w->problem, job_text(job, "cubin"), job_text(job, "desc"), (int)blocks, &c, f))
    return false;
  if (c.refused) {
    reply_begin(r, "refused");
    reply_text(r, "why", c.why);
  } else if (c.verdict.wrong) {
    print_wrong(&c, r);
  } else {
    print_ok(&c, &w->problem.nv, r);
  }
  return true;
}

/* Verbs */

static const struct verb {
  const char *name;
  const char *const *fields;
  bool (*run)(struct worker *w, const struct job *job, struct reply *r, struct fault *f);
} verbs[] = {{"problem", problem_names, do_problem},
             {"time", time_names, do_time},
             {"baseline", baseline_names, do_baseline}};

bool verbs_run(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(verbs[i].name, job->verb) == 0)
      return job_fields(job, verbs[i].fields, f) && verbs[i].run(w, job, r, f);
  return fault_set(f, "unknown verb '%.80s'", job->verb);
}
