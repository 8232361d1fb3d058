/* bound.c - one kernel on the prepared problem: loaded, bound to every buffer set, verified
**
** What is verified is what is timed: the very launches and graphs, on the very
** buffers. The outputs are marked as unwritten before each check, the inputs are
** summed before and after. Small, awkward products come before that (verify.h).
**
** A kernel that does not end shows at its first launches or in a replay: each wait
** has a deadline, and one that is missed ends the worker.
*/
#include "bound.h"

#include "families.h"
#include "verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILE = 64 << 20, MEMORY = 256 };

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
static bool answer(struct bound *b, enum loom_status status, const char *err, struct fault *f) {
  if (status == LOOM_FAILED) return fault_set(f, "%s", err);
  b->refused = status == LOOM_REFUSED;
  if (b->refused) snprintf(b->why, sizeof b->why, "%s", err);
  return true;
}

/* FNV-1a */
static uint64_t hash(uint64_t h, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < size; i++) h = (h ^ at[i]) * 0x100000001b3u;
  return h;
}

static uint64_t seed_of(const char *code, size_t size, int64_t seed) {
  uint64_t h = hash(0xcbf29ce484222325u ^ (uint64_t)seed, code, size);
  return family_random(&h);
}

static uint64_t digest_of(const struct bound *b, const char *code, size_t code_size,
                          const char *text, size_t text_size) {
  uint64_t h = hash(hash(0x84222325cbf29ce4u, code, code_size), text, text_size);
  h = hash(h, b->p->mnk, sizeof b->p->mnk);
  return family_random(&h);
}

static bool load(struct bound *b, const char *cubin, const char *desc, struct fault *f) {
  char *text = NULL, *code = NULL, err[LOOM_ERROR_TEXT] = "";
  size_t text_size = 0, code_size = 0;
  loom_desc d;
  bool ok = read_file(desc, &text, &text_size, f) && read_file(cubin, &code, &code_size, f);
  const char *why = ok ? loom_desc_parse(text, &d) : NULL;
  if (ok && memchr(text, 0, text_size)) why = "descriptor holds a zero byte";
  if (why) ok = fault_set(f, "%s", why);
  if (ok) b->seed = seed_of(code, code_size, b->p->seed);
  if (ok) b->digest = digest_of(b, code, code_size, text, text_size);
  if (ok) ok = answer(b, loom_kernel_load(code, code_size, &d, &b->kernel, err), err, f);
  free(text);
  free(code);
  return ok;
}

static bool open_workspace(struct bound *b, struct fault *f) {
  size_t n = b->refused ? 0 : (size_t)b->kernel.desc.ws_bytes;
  return n == 0 || gpu_alloc(f, &b->ws, n, "the kernel's workspace");
}

bool bound_load(struct bound *b, struct problem *p, const char *cubin, const char *desc,
                struct fault *f) {
  *b = (struct bound){.p = p};
  return load(b, cubin, desc, f) && open_workspace(b, f);
}

static bool bind(struct bound *b, struct fault *f) {
  struct problem *p = b->p;
  char err[LOOM_ERROR_TEXT] = "";
  b->launches = aligned_alloc(_Alignof(loom_launch), sizeof(loom_launch) * (size_t)p->sets);
  if (!b->launches) return fault_set(f, "no memory for %d launches", p->sets);
  for (int i = 0; i < p->sets && !b->refused; i++) {
    loom_call call = {.layout = p->layout,
                      .dtype = p->dtype,
                      .acc = p->acc,
                      .mnk = {p->mnk[0], p->mnk[1], p->mnk[2]},
                      .a = problem_set(&p->a, i),
                      .b = problem_set(&p->b, i),
                      .c = problem_set(&p->c, i),
                      .ws = b->ws,
                      .alpha = 1};
    if (!answer(b, loom_kernel_bind(&b->kernel, &call, &b->launches[i], err), err, f)) return false;
  }
  return true;
}

bool bound_open(struct bound *b, struct problem *p, const char *cubin, const char *desc,
                struct fault *f) {
  return bound_load(b, p, cubin, desc, f) && (b->refused || bind(b, f));
}

bool bound_adopt(struct bound *b, struct problem *p, const loom_kernel *kernel, uint64_t seed,
                 struct fault *f) {
  *b = (struct bound){.p = p, .kernel = *kernel, .seed = seed};
  return open_workspace(b, f) && bind(b, f);
}

/* A kernel that is wrong may have written into A and B, and an error may have left them changed. */
static void restore(struct problem *p) {
  struct fault f = {.hung = false};
  if (!problem_refill(p, &f)) p->ready = false; /* the next job of this problem says so */
}

void bound_close(struct bound *b, bool bad) {
  if (bad && b->launches) restore(b->p);
  timer_free(&b->plain);
  timer_free(&b->with_pdl);
  free(b->launches);
  gpu_free(&b->ws);
  (void)loom_kernel_unload(&b->kernel); /* a lost device shows in the fault already */
}

/* Verify */

bool bound_launch(void *bound, int set, struct fault *f) {
  struct bound *b = bound;
  return CUDA(f, loom_kernel_launch(&b->launches[set], b->p->gpu->stream, b->pdl));
}

/* A thousand times cuBLAS's time is the most that large ones get beyond the usual deadline. */
bool bound_first_launch(struct bound *b, struct fault *f) {
  double patience = VERIFY_PATIENCE + b->p->base_us[0] * 1e-3;
  return bound_launch(b, 0, f) && gpu_await(b->p->gpu, "the first launch", patience, f);
}

bool bound_prove(struct bound *b, struct verdict *out, struct fault *f) {
  struct verify v = {.gpu = b->p->gpu,
                     .kernel = &b->kernel,
                     .ws = b->ws,
                     .mnk = b->p->mnk,
                     .seed = b->seed,
                     .patience = VERIFY_PATIENCE};
  double start = gpu_now();
  bool ok = verify_run(&v, out, f);
  b->families = v.families;
  b->holes = v.holes;
  b->ms_families = (gpu_now() - start) * 1000;
  return ok;
}

bool bound_replay(struct bound *b, const struct timer_tape *tape, const char *what,
                  struct verdict *v, struct fault *f) {
  struct problem *p = b->p;
  return v->wrong ||
         (check_poison(p, &p->c, f) && timer_replay(p->gpu, tape, f) &&
          check_outputs(p, &p->c, p->layout, what, v, f) && check_inputs(p, &b->sums, what, v, f));
}

static bool record_and_check(struct bound *b, bool pdl, struct timer_tape *tape, struct verdict *v,
                             struct fault *f) {
  b->pdl = pdl;
  return v->wrong || (timer_record(b->p->gpu, bound_launch, b, b->p->sets, b->reps, tape, f) &&
                      bound_replay(b, tape, pdl ? "with pdl" : "without pdl", v, f));
}

bool bound_record(struct bound *b, struct verdict *v, struct fault *f) {
  struct problem *p = b->p;
  double us;
  b->pdl = false;
  if (!verify_clear_workspace(p->gpu, &b->kernel.desc, b->ws, f) || !check_sum(p, &b->sums, f) ||
      !bound_first_launch(b, f) || !timer_estimate(p->gpu, bound_launch, b, p->sets, &us, f))
    return false;
  b->reps = problem_reps(p, us);
  return record_and_check(b, false, &b->plain, v, f) &&
         (!b->kernel.desc.pdl || record_and_check(b, true, &b->with_pdl, v, f));
}

bool bound_verify(struct bound *b, struct verdict *v, struct fault *f) {
  return bound_prove(b, v, f) && (v->wrong || bound_record(b, v, f));
}

/* What has passed */

static uint64_t passed[MEMORY];
static int passed_next;

bool bound_passed(const struct bound *b) {
  for (int i = 0; i < MEMORY; i++)
    if (passed[i] == b->digest) return b->digest != 0;
  return false;
}

void bound_remember(const struct bound *b) {
  if (bound_passed(b)) return;
  passed[passed_next] = b->digest;
  passed_next = (passed_next + 1) % MEMORY;
}
