/* cand.c - one candidate: load, bind, verify, time
**
** What is verified is what is timed: the very graphs, on the very buffers. The
** outputs are marked as unwritten before each check, the inputs are summed
** before and after, and the last timed block is checked again. Small, awkward
** products come before that (verify.h), the same launches under other conditions
** after it (change.h).
**
** A kernel that does not end shows at its first launches, which have a deadline
** and end the worker; later ones are left to the parent's deadline.
*/
#include "cand.h"

#include "baseline.h"
#include "change.h"
#include "families.h"
#include "launch.h"
#include "verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 64 << 20 };
static const double long_warm_up = 0.3, long_problem_us = 100; /* seconds; power limits bite late */

struct cand {
  struct problem *p;
  loom_kernel kernel;
  loom_launch *launches; /* one a buffer set */
  void *ws;
  uint64_t seed; /* of its draws: of its code and the problem's seed, to have them again */
  bool pdl;      /* how the tape being recorded is launched */
  struct timer_tape plain, with_pdl;
  struct check_sums sums;
  struct timer timer;
};

/* Files */

/* *out is the caller's to free, also after a failure. */
static bool read_stream(FILE *in, const char *path, char **out, size_t *size, struct fault *f) {
  if (fseek(in, 0, SEEK_END) != 0) return fault_set(f, "cannot read '%s'", path);
  long n = ftell(in);
  if (n < 0 || n > MAX_FILE || fseek(in, 0, SEEK_SET) != 0)
    return fault_set(f, "cannot read '%s': no plain file of at most 64 MiB", path);
  *size = (size_t)n;
  *out = malloc(*size + 1);
  if (!*out) return fault_set(f, "no memory for '%s'", path);
  (*out)[*size] = 0;
  if (fread(*out, 1, *size, in) == *size) return true;
  return fault_set(f, "cannot read '%s'", path);
}

static bool read_file(const char *path, char **out, size_t *size, struct fault *f) {
  FILE *in = fopen(path, "rb");
  if (!in) return fault_set(f, "cannot open '%s': %s", path, strerror(errno));
  bool ok = read_stream(in, path, out, size, f);
  return fclose(in) == 0 ? ok : fault_set(f, "cannot close '%s'", path);
}

/* Load and bind; both may refuse */

/* A launcher's answer: false on a fault, and a refusal ends the candidate quietly. */
static bool answer(enum loom_status status, const char *err, struct cand_result *out,
                   struct fault *f) {
  if (status == LOOM_FAILED) return fault_set(f, "%s", err);
  out->refused = status == LOOM_REFUSED;
  if (out->refused) snprintf(out->why, sizeof out->why, "%s", err);
  return true;
}

/* FNV-1a, stirred */
static uint64_t seed_of(const char *code, size_t size, int64_t seed) {
  uint64_t h = 0xcbf29ce484222325u ^ (uint64_t)seed;
  for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)code[i]) * 0x100000001b3u;
  return family_random(&h);
}

static bool load(struct cand *c, const char *cubin, const char *desc, struct cand_result *out,
                 struct fault *f) {
  char *text = NULL, *code = NULL, err[LOOM_ERROR_TEXT] = "";
  size_t text_size = 0, code_size = 0;
  loom_desc d;
  bool ok = read_file(desc, &text, &text_size, f) && read_file(cubin, &code, &code_size, f);
  const char *why = ok ? loom_desc_parse(text, &d) : NULL;
  if (ok && memchr(text, 0, text_size)) why = "descriptor holds a zero byte";
  if (why) ok = fault_set(f, "%s", why);
  if (ok) c->seed = seed_of(code, code_size, c->p->seed);
  if (ok) ok = answer(loom_kernel_load(code, code_size, &d, &c->kernel, err), err, out, f);
  free(text);
  free(code);
  return ok;
}

static bool open_workspace(struct cand *c, struct fault *f) {
  size_t n = (size_t)c->kernel.desc.ws_bytes;
  return n == 0 || gpu_alloc(f, &c->ws, n, "the kernel's workspace");
}

static bool bind(struct cand *c, struct cand_result *out, struct fault *f) {
  struct problem *p = c->p;
  char err[LOOM_ERROR_TEXT] = "";
  c->launches = aligned_alloc(_Alignof(loom_launch), sizeof(loom_launch) * (size_t)p->sets);
  if (!c->launches) return fault_set(f, "no memory for %d launches", p->sets);
  for (int i = 0; i < p->sets && !out->refused; i++) {
    loom_call call = {.layout = p->layout,
                      .dtype = p->dtype,
                      .acc = p->acc,
                      .mnk = {p->mnk[0], p->mnk[1], p->mnk[2]},
                      .a = problem_set(&p->a, i),
                      .b = problem_set(&p->b, i),
                      .c = problem_set(&p->c, i),
                      .ws = c->ws,
                      .alpha = 1};
    if (!answer(loom_kernel_bind(&c->kernel, &call, &c->launches[i], err), err, out, f))
      return false;
  }
  return true;
}

/* Verify */

static bool launch(void *context, int set, struct fault *f) {
  struct cand *c = context;
  return CUDA(f, loom_kernel_launch(&c->launches[set], c->p->gpu->stream, c->pdl));
}

/* A thousand times cuBLAS's time is the most that large ones get beyond the usual deadline. */
static bool first_launch(struct cand *c, struct fault *f) {
  double patience = VERIFY_PATIENCE + c->p->base_us[0] * 1e-3;
  return launch(c, 0, f) && gpu_await(c->p->gpu, "the first launch", patience, f);
}

static bool small_products(struct cand *c, struct cand_result *out, struct fault *f) {
  struct gpu *g = c->p->gpu;
  struct verify v = {.gpu = g,
                     .kernel = &c->kernel,
                     .ws = c->ws,
                     .mnk = c->p->mnk,
                     .seed = c->seed,
                     .patience = VERIFY_PATIENCE};
  double start = gpu_now();
  bool ok =
      verify_run(&v, &out->verdict, f) && verify_clear_workspace(g, &c->kernel.desc, c->ws, f);
  out->families = v.families;
  out->holes = v.holes;
  out->ms_families = (gpu_now() - start) * 1000;
  return ok;
}

static bool replay_and_check(struct cand *c, const struct timer_tape *tape, const char *what,
                             struct verdict *v, struct fault *f) {
  struct problem *p = c->p;
  return v->wrong ||
         (check_poison(p, &p->c, f) && timer_replay(p->gpu, tape, f) &&
          check_outputs(p, &p->c, p->layout, what, v, f) && check_inputs(p, &c->sums, what, v, f));
}

static bool record_and_check(struct cand *c, bool pdl, int reps, struct timer_tape *tape,
                             struct verdict *v, struct fault *f) {
  c->pdl = pdl;
  return v->wrong || (timer_record(c->p->gpu, launch, c, c->p->sets, reps, tape, f) &&
                      replay_and_check(c, tape, pdl ? "with pdl" : "without pdl", v, f));
}

static bool verify(struct cand *c, struct cand_result *out, struct fault *f) {
  struct problem *p = c->p;
  double us;
  out->pdl = c->kernel.desc.pdl;
  if (!small_products(c, out, f)) return false;
  if (out->verdict.wrong) return true;
  if (!check_sum(p, &c->sums, f) || !first_launch(c, f) ||
      !timer_estimate(p->gpu, launch, c, p->sets, &us, f))
    return false;
  out->reps = timer_reps(us, p->sets);
  return record_and_check(c, false, out->reps, &c->plain, &out->verdict, f) &&
         (!out->pdl || record_and_check(c, true, out->reps, &c->with_pdl, &out->verdict, f));
}

/* Time */

enum { OURS, OURS_PDL }; /* tapes of the palindrome; nn and tn follow, then nv if it is neither */

static bool has_pdl(const struct cand *c) { return c->with_pdl.exec != NULL; }

/* Index of the first of cuBLAS's tapes */
static int first_base(const struct cand *c) { return has_pdl(c) ? 2 : 1; }

static int best_base(const struct cand *c) {
  int nn = first_base(c);
  return nn + (timer_median_us(&c->timer, nn) > timer_median_us(&c->timer, nn + 1));
}

/* The fastest there is to beat */
static int best_rival(const struct cand *c) {
  const struct problem_nv *nv = &c->p->nv;
  if (!nv->have) return best_base(c);
  return first_base(c) + (nv->base >= 0 ? nv->base : PROBLEM_BASES);
}

static bool open_timer(struct cand *c, struct fault *f) {
  struct problem *p = c->p;
  struct timer *t = &c->timer;
  if (!timer_open(t, f)) return false;
  t->lead = &p->base[0];
  t->tape[t->tapes++] = &c->plain;
  if (has_pdl(c)) t->tape[t->tapes++] = &c->with_pdl;
  for (int i = 0; i < PROBLEM_BASES; i++) t->tape[t->tapes++] = &p->base[i];
  if (p->nv.have && p->nv.base < 0) t->tape[t->tapes++] = &p->nv.tape;
  return true;
}

/* On to so many blocks. C is marked before the last of them, whose outputs may be checked. */
static bool run_to(struct cand *c, int blocks, struct fault *f) {
  struct problem *p = c->p;
  struct timer *t = &c->timer;
  return timer_run(p->gpu, t, blocks - 1 - t->blocks, f) && check_poison(p, &p->c, f) &&
         timer_run(p->gpu, t, 1, f);
}

static bool decided(const struct cand *c) {
  int rival = best_rival(c);
  return timer_look(&c->timer, rival, OURS).stop &&
         (!has_pdl(c) || timer_look(&c->timer, rival, OURS_PDL).stop);
}

static bool run_all(struct cand *c, int blocks, struct fault *f) {
  if (blocks != CAND_AUTO) return run_to(c, blocks, f);
  do {
    if (!run_to(c, stat_next_look(c->timer.blocks), f)) return false;
  } while (!decided(c));
  return true;
}

static bool other_conditions(struct cand *c, struct cand_result *out, struct fault *f) {
  const struct timer_tape *last = has_pdl(c) ? &c->with_pdl : &c->plain;
  double start = gpu_now();
  bool ok = change_results(c->p, last, &c->sums, c->seed, &out->verdict, f) &&
            change_operands(c->p, &c->plain, &c->sums, c->seed + 1, &out->verdict, f);
  out->ms_changed = (gpu_now() - start) * 1000;
  return ok;
}

static bool run_blocks(struct cand *c, int blocks, struct cand_result *out, struct fault *f) {
  struct problem *p = c->p;
  bool long_one = p->base_us[0] >= long_problem_us && !p->warm;
  if (!open_timer(c, f) || !timer_warm_up(p->gpu, &c->timer, 2, long_one ? long_warm_up : 0, f))
    return false;
  p->warm = true;
  return run_all(c, blocks, f) &&
         check_outputs(p, &p->c, p->layout, "after timing", &out->verdict, f) &&
         check_inputs(p, &c->sums, "after timing", &out->verdict, f) && other_conditions(c, out, f);
}

static void figures_nv(const struct cand *c, struct cand_result *out) {
  const struct timer *t = &c->timer;
  int rival = best_rival(c);
  out->judged = timer_look(t, rival, OURS).verdict;
  if (out->pdl) out->judged_pdl = timer_look(t, rival, OURS_PDL).verdict;
  out->nv = c->p->nv.have;
  if (!out->nv) return;
  out->nv_us = timer_median_us(t, rival);
  out->ratio_nv = timer_ratio(t, rival, OURS);
  if (out->pdl) out->ratio_nv_pdl = timer_ratio(t, rival, OURS_PDL);
}

static void figures(const struct cand *c, struct cand_result *out) {
  const struct timer *t = &c->timer;
  int best = best_base(c);
  for (int i = 0; i < PROBLEM_BASES; i++) {
    out->base_us[i] = timer_median_us(t, first_base(c) + i);
    out->ratio_base[i] = timer_ratio(t, first_base(c) + i, OURS).mid;
  }
  out->us = timer_median_us(t, OURS);
  out->ratio = timer_ratio(t, best, OURS);
  if (out->pdl) {
    out->us_pdl = timer_median_us(t, OURS_PDL);
    out->ratio_pdl = timer_ratio(t, best, OURS_PDL);
  }
  out->mhz = timer_median_mhz(t);
  out->drift = timer_drift(t);
  out->blocks = t->blocks;
  out->starved = t->starved;
  out->drifted = t->drifted;
  out->unsteady = t->unsteady;
  out->health = t->health;
  figures_nv(c, out);
}

/* Whole */

/* A kernel that is wrong may have written into A and B, and an error may have left them changed. */
static void restore(struct problem *p) {
  struct fault f = {.hung = false};
  if (!problem_refill(p, &f)) p->ready = false; /* the next job of this problem says so */
}

static bool run(struct cand *c, const char *cubin, const char *desc, int blocks,
                struct cand_result *out, struct fault *f) {
  if (!load(c, cubin, desc, out, f)) return false;
  if (out->refused) return true;
  if (!open_workspace(c, f) || !bind(c, out, f)) return false;
  if (out->refused) return true;
  if (!verify(c, out, f)) return false;
  if (out->verdict.wrong) return true;
  if (!run_blocks(c, blocks, out, f)) return false;
  figures(c, out);
  return true;
}

bool cand_time(struct problem *p, const char *cubin, const char *desc, int blocks,
               struct cand_result *out, struct fault *f) {
  struct cand c = {.p = p};
  memset(out, 0, sizeof *out);
  check_begin(&out->verdict);
  bool ok = run(&c, cubin, desc, blocks, out, f);
  if (f->hung) return false; /* freeing would wait for the kernel */
  if (!ok || out->verdict.wrong) restore(p);
  timer_close(&c.timer);
  timer_free(&c.plain);
  timer_free(&c.with_pdl);
  free(c.launches);
  gpu_free(&c.ws);
  (void)loom_kernel_unload(&c.kernel); /* a lost device shows in the fault already */
  return ok;
}
