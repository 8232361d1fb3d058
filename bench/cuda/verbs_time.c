/* verbs_time.c - the job time
**
** time     cubin desc blocks=N|auto [samples=1] [chain=1] [rival_cubin rival_desc]
**
** Answers are documented by what prints them. A field of a name with _pdl is there
** where pdl is; ratio_nv where the problem knows the libraries' fastest; rival and
** chain where they were asked for.
*/
#include "verbs.h"

#include "cand.h"
#include "rivals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const verbs_time_names[] = {"cubin",  "desc",         "blocks",      "?samples",
                                        "?chain", "?rival_cubin", "?rival_desc", NULL};

/* The names of ratios and verdicts; without one for NV, where "verdict" is its verdict. */
static const struct {
  const char *ratio[2], *verdict[2];
  bool samples; /* its blocks are among them */
} names[CAND_BASES] = {
    {{"ratio", "ratio_pdl"}, {NULL, NULL}, true},
    {{"ratio_nv", "ratio_nv_pdl"}, {NULL, NULL}, true},
    {{"ratio_rival", "ratio_rival_pdl"}, {"verdict_rival", "verdict_rival_pdl"}, true},
    {{"ratio_chain", "ratio_chain_pdl"}, {"verdict_chain", "verdict_chain_pdl"}, false}};

/* A kernel that is wrong */

static void print_families(const struct cand_result *c, struct reply *r) {
  reply_int(r, "families", c->families);
  reply_int(r, "holes", c->holes);
  reply_real(r, "ms_families", c->ms_families);
}

static void print_wrong(const struct cand_result *c, struct reply *r) {
  verbs_wrong(&c->verdict, r);
  print_families(c, r);
}

/* A right one */

static void print_interval(struct reply *r, const char *name, struct stat_interval s) {
  static const char *const ends[] = {"", "_lo", "_hi"};
  const double values[] = {s.mid, s.lo, s.hi};
  for (int i = 0; i < 3; i++) {
    char full[32];
    snprintf(full, sizeof full, "%s%s", name, ends[i]);
    reply_real(r, full, values[i]);
  }
}

/* Ratios of all comparisons, and verdicts of those that have one. */
static void print_pairs(const struct cand_result *c, struct reply *r) {
  for (int base = 0; base < CAND_BASES; base++)
    for (int pdl = 0; pdl < 2; pdl++) {
      const struct timer_pair *pair = &c->pair[base][pdl];
      const char *verdict = names[base].verdict[pdl];
      if (!pair->have) continue;
      print_interval(r, names[base].ratio[pdl], pair->ratio);
      if (verdict) reply_text(r, verdict, stat_word(pair->verdict));
    }
}

/* Against the fastest there is to beat: the libraries' best where it is known. */
static void print_verdict(const struct cand_result *c, struct reply *r) {
  const struct timer_pair *pair = c->pair[c->pair[CAND_NV][0].have ? CAND_NV : CAND_CUBLAS];
  reply_text(r, "verdict", stat_word(pair[0].verdict));
  if (pair[1].have) reply_text(r, "verdict_pdl", stat_word(pair[1].verdict));
}

static void print_us(const char *const name[2], const double us[2], struct reply *r) {
  for (int pdl = 0; pdl < 2; pdl++)
    if (us[pdl] > 0) reply_real(r, name[pdl], us[pdl]);
}

static void print_times(const struct cand_result *c, struct reply *r) {
  static const char *const ours[] = {"us", "us_pdl"}, *const rival[] = {"rival_us", "rival_us_pdl"},
                           *const chain[] = {"chain_us", "chain_us_pdl"},
                           *const base[] = {"chain_cublas_us", "chain_cublas_us_pdl"};
  const struct timer_pair *p = c->pair[CAND_CUBLAS], *x = c->pair[CAND_CHAIN];
  print_us(ours, (const double[]){p[0].us, p[1].us}, r);
  reply_real(r, "cublas_nn_us", c->base_us[0]);
  reply_real(r, "cublas_tn_us", c->base_us[1]);
  if (c->rival) print_us(rival, c->rival_us, r);
  print_us(chain, (const double[]){x[0].us, x[1].us}, r);
  print_us(base, (const double[]){x[0].base_us, x[1].base_us}, r);
}

static void print_nv(const struct cand_result *c, const struct problem_nv *nv, struct reply *r) {
  if (!c->pair[CAND_NV][0].have) return;
  reply_text(r, "best_nv", nv->name);
  reply_real(r, "best_nv_us", c->pair[CAND_NV][0].base_us);
  if (nv->algo[0]) reply_text(r, "best_nv_algo", nv->algo);
}

static void print_run(const struct cand_result *c, struct reply *r) {
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
}

/* samples=ratio:1234,-56,...;ratio_pdl:...: ln(base / ours) of each block, in millionths. The largest
** are 8 digits: 6 * 256 of them fit. */
static void print_samples(const struct cand_result *c, struct reply *r) {
  char text[REPLY_SIZE / 2];
  size_t n = 0;
  for (int base = 0; base < CAND_BASES; base++)
    for (int pdl = 0; pdl < 2; pdl++) {
      const struct timer_pair *pair = &c->pair[base][pdl];
      if (!pair->have || !names[base].samples) continue;
      n +=
          (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ";" : "", names[base].ratio[pdl]);
      for (int i = 0; i < pair->n; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%c%ld", i ? ',' : ':',
                              lround(pair->log_ratio[i] * 1e6));
    }
  reply_text(r, "samples", text);
}

static void print_ok(const struct cand_result *c, const struct problem_nv *nv, bool samples,
                     struct reply *r) {
  reply_begin(r, "ok");
  print_times(c, r);
  print_pairs(c, r);
  reply_real(r, "ratio_nn", c->ratio_base[0]);
  reply_real(r, "ratio_tn", c->ratio_base[1]);
  print_run(c, r);
  print_verdict(c, r);
  print_nv(c, nv, r);
  if (samples) print_samples(c, r);
}

/* The job */

static bool read_blocks(const struct job *job, int *blocks, struct fault *f) {
  int64_t n = TIMER_AUTO;
  bool ok = strcmp(job_text(job, "blocks"), "auto") == 0 ||
            job_int(job, "blocks", 1, TIMER_BLOCKS, &n, f);
  *blocks = (int)n;
  return ok;
}

static bool read_switch(const struct job *job, const char *name, bool *on, struct fault *f) {
  int64_t n = 0;
  if (job_has(job, name) && !job_int(job, name, 0, 1, &n, f)) return false;
  *on = n != 0;
  return true;
}

static bool read_time(const struct job *job, struct cand_job *c, bool *samples, struct fault *f) {
  bool rival = job_has(job, "rival_cubin");
  if (rival != job_has(job, "rival_desc"))
    return fault_set(f, "rival_cubin and rival_desc come together");
  c->cubin = job_text(job, "cubin");
  c->desc = job_text(job, "desc");
  c->rival_cubin = rival ? job_text(job, "rival_cubin") : NULL;
  c->rival_desc = rival ? job_text(job, "rival_desc") : NULL;
  return read_blocks(job, &c->blocks, f) && read_switch(job, "samples", samples, f) &&
         read_switch(job, "chain", &c->chain, f);
}

bool verbs_time(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  struct cand_job wanted;
  struct cand_result c;
  bool samples = false;
  if (!w->problem.ready) return fault_set(f, "no problem is prepared");
  if (!read_time(job, &wanted, &samples, f) || !cand_time(&w->problem, &wanted, &c, f))
    return false;
  if (c.refused) {
    reply_begin(r, "refused");
    reply_text(r, "why", c.why);
  } else if (c.verdict.wrong) {
    print_wrong(&c, r);
  } else {
    print_ok(&c, &w->problem.nv, samples, r);
  }
  return true;
}
