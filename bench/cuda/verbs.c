/* verbs.c - the jobs: problem, baseline, and the table of all
**
** What each takes and answers is in the tables of field names and in the print
** functions. Fields with '?' may be missing.
*/
#include "verbs.h"

#include "baseline.h"
#include "rivals.h"

#include <stdio.h>
#include <string.h>

static const double most_elements = 1e12; /* of an operand: keeps every byte count within 64 bits */
enum { LOOK_MS = 250, SWEEP_S = 20, NV_BLOCKS = 8 }; /* where the job does not say */

/* Job: problem */

static const char *const problem_names[] = {
    "M", "N", "K", "layout", "dtype", "acc", "seed", "?cache", "?baselines", "?budget_ms", NULL};

static bool read_acc(const char *acc, struct problem *p, struct fault *f) {
  bool half = strcmp(acc, "f16") == 0;
  if (half && p->dtype == LOOM_BF16)
    return fault_set(f, "bf16 with f16 accumulation does not exist on tensor cores");
  if (!half && strcmp(acc, "f32") != 0) return fault_set(f, "unknown acc '%.40s'", acc);
  p->acc = half ? LOOM_ACC_F16 : LOOM_ACC_F32;
  return true;
}

bool verbs_problem(const struct job *job, struct problem *p, struct fault *f) {
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

static bool read_cache(const struct job *job, struct problem *p, struct fault *f) {
  const char *cache = job_has(job, "cache") ? job_text(job, "cache") : "cold";
  p->hot = strcmp(cache, "hot") == 0;
  return p->hot || strcmp(cache, "cold") == 0 || fault_set(f, "unknown cache '%.40s'", cache);
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
  reply_text(r, "cache", p->hot ? "hot" : "cold");
  reply_int(r, "sets", p->sets);
  reply_int(r, "swept", p->sweep.base != NULL);
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
  p->ready = verbs_problem(job, p, f) && read_cache(job, p, f) && read_rivals(job, &r, &all, f) &&
             prepare(p, &r, all, out, f);
  if (f->hung) return false; /* freeing would wait for the kernel */
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
  reply_int(out, "swept", p->sweep.base != NULL);
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
  double start = gpu_now();
  problem_free(p);
  p->gpu = &w->gpu;
  p->lean = true;
  bool ok = verbs_problem(job, p, f) && read_baseline(job, &r, &blocks, f) &&
            problem_prepare(p, f) && baseline_prepare(p, f);
  r.seconds[0] = gpu_now() - start;
  ok = ok && find_best(&r, (int)blocks, f);
  if (ok) print_baseline(w, &r, gpu_now() - start, out);
  if (f->hung) return false; /* freeing would wait for the kernel */
  rivals_close(&r);
  problem_free(p);
  return ok;
}

/* A kernel that is wrong */

void verbs_wrong(const struct verdict *v, struct reply *r) {
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
}

/* Verbs */

static const struct verb {
  const char *name;
  const char *const *fields;
  bool (*run)(struct worker *w, const struct job *job, struct reply *r, struct fault *f);
} verbs[] = {{"problem", problem_names, do_problem},    {"time", verbs_time_names, verbs_time},
             {"baseline", baseline_names, do_baseline}, {"clock", verbs_clock_names, verbs_clock},
             {"probe", verbs_probe_names, verbs_probe}, {"vet", verbs_vet_names, verbs_vet}};

bool verbs_run(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  w->gpu.longest = 0;
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(verbs[i].name, job->verb) == 0)
      return job_fields(job, verbs[i].fields, f) && verbs[i].run(w, job, r, f);
  return fault_set(f, "unknown verb '%.80s'", job->verb);
}
