/* verbs_vet.c - the jobs probe and vet: small products without timing
**
** probe: a kernel known to be good. vet: a candidate, with nothing prepared and
** nothing timed, for compute-sanitizer and for a build whose waits give up.
*/
#include "verbs.h"

#include "bound.h"
#include "probe.h"
#include "stuck.h"
#include "verify.h"

#include <stdio.h>
#include <string.h>

/* Job: probe */

const char *const verbs_probe_names[] = {NULL};

bool verbs_probe(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  double ms;
  (void)job;
  if (!probe_run(&w->gpu, &ms, f)) return false;
  reply_begin(r, "ok");
  reply_real(r, "ms", ms);
  return true;
}

/* Job: vet */

const char *const verbs_vet_names[] = {"M",    "N",     "K",    "layout",    "dtype", "acc",
                                       "seed", "cubin", "desc", "?patience", NULL};

enum { PATIENCE = 2 }; /* seconds: more than a wait that gives up takes for that */

struct vet {
  struct problem p; /* its kind and extents alone: nothing of it is allocated */
  struct bound b;
  struct stuck stuck;
  struct verdict verdict;
  int families;
  bool holes;
};

/* Would the launcher take the problem? Any pointer does: nothing is launched there. */
static bool check_refusal(struct vet *v, struct fault *f) {
  const struct problem *p = &v->p;
  char err[LOOM_ERROR_TEXT] = "";
  void *somewhere = p->gpu->blas_ws;
  loom_launch launch;
  loom_call call = {.layout = p->layout,
                    .dtype = p->dtype,
                    .acc = p->acc,
                    .mnk = {p->mnk[0], p->mnk[1], p->mnk[2]},
                    .a = somewhere,
                    .b = somewhere,
                    .c = somewhere,
                    .ws = v->b.ws,
                    .alpha = 1};
  enum loom_status status = loom_kernel_bind(&v->b.kernel, &call, &launch, err);
  if (status == LOOM_FAILED) return fault_set(f, "%s", err);
  v->b.refused = status == LOOM_REFUSED;
  if (v->b.refused) snprintf(v->b.why, sizeof v->b.why, "%s", err);
  return true;
}

/* What a wait says that gave up stands behind what the device says, which is a trap. */
static bool name_wait(const struct vet *v, struct fault *f) {
  char where[160], run[64];
  if (!stuck_told(&v->stuck, v->b.ws, (size_t)v->b.kernel.desc.ws_bytes, where, sizeof where))
    return false;
  snprintf(run, sizeof run, "%.63s", f->text);
  char *colon = strchr(run, ':');
  if (colon) *colon = 0;
  snprintf(f->text, sizeof f->text, "%s: the kernel does not end: %s", run, where);
  return false;
}

static bool run(struct vet *v, double patience, struct fault *f) {
  struct verify small = {.gpu = v->p.gpu,
                         .kernel = &v->b.kernel,
                         .ws = v->b.ws,
                         .mnk = v->p.mnk,
                         .seed = v->b.seed,
                         .patience = patience,
                         .stuck = &v->stuck};
  if (!stuck_open(&v->stuck, &v->b.kernel, f)) return false;
  bool ok = verify_run(&small, &v->verdict, f) || name_wait(v, f);
  v->families = small.families;
  v->holes = small.holes;
  return ok;
}

static void print(const struct vet *v, struct reply *r) {
  const struct verdict *d = &v->verdict;
  reply_begin(r, v->b.refused ? "refused" : d->wrong ? "wrong" : "ok");
  if (v->b.refused || d->wrong) reply_text(r, "why", v->b.refused ? v->b.why : d->why);
  if (d->wrong && d->row >= 0) {
    reply_int(r, "row", d->row);
    reply_int(r, "col", d->col);
    reply_real(r, "got", d->got);
    reply_real(r, "want", d->want);
  }
  if (v->b.refused) return;
  reply_int(r, "families", v->families);
  reply_int(r, "holes", v->holes);
}

static bool read_patience(const struct job *job, int64_t *seconds, struct fault *f) {
  *seconds = PATIENCE;
  return !job_has(job, "patience") || job_int(job, "patience", 1, 600, seconds, f);
}

bool verbs_vet(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  struct vet v = {.p = {.gpu = &w->gpu}};
  int64_t patience;
  check_begin(&v.verdict);
  if (!verbs_problem(job, &v.p, f) || !read_patience(job, &patience, f)) return false;
  bool ok = bound_load(&v.b, &v.p, job_text(job, "cubin"), job_text(job, "desc"), f) &&
            (v.b.refused || check_refusal(&v, f)) && (v.b.refused || run(&v, (double)patience, f));
  if (f->hung) return false; /* freeing would wait for the kernel */
  if (ok) print(&v, r);
  bound_close(&v.b, false);
  stuck_close(&v.stuck);
  return ok;
}
