/* selftest_small.c - shows that the small products and the late replays can fail
**
** A right kernel must pass; each fault must be refused, and by the run that is
** there for it. Kernels that do not end or read where nothing is mapped come
** last: after them the device is lost to this process.
*/
#include "selftest.h"

#include "planted.h"
#include "probe.h"
#include "verify.h"

#include <stdio.h>
#include <string.h>

struct small {
  struct gpu *g;
  int dtype, acc, *passed, *failed;
};

static bool run(const struct small *s, int fault, double patience, struct verify *v,
                struct verdict *out, struct fault *f) {
  static const int64_t mnk[] = {64, 64, 64};
  loom_kernel k = probe_kernel(s->g, fault, s->dtype, s->acc);
  *v = (struct verify){
      .gpu = s->g, .kernel = &k, .mnk = mnk, .seed = (uint64_t)fault + 1, .patience = patience};
  check_begin(out);
  bool ok = (k.desc.ws_bytes == 0 || gpu_alloc(f, &v->ws, PLANTED_WORKSPACE, "a workspace")) &&
            verify_run(v, out, f);
  if (!f->hung) gpu_free(&v->ws);
  return ok;
}

static void tell(const struct small *s, bool ok, const char *name, const char *why) {
  printf("%s small %s%s: %s (%s)\n", ok ? "ok" : "not ok", loom_dtype_name(s->dtype),
         s->acc == LOOM_ACC_F16 ? " acc=f16" : "", name, why);
  (void)fflush(stdout);
  ++*(ok ? s->passed : s->failed);
}

enum { HOPPER = 1, FULL = 2 }; /* only where grids overlap; only where fp32 sums are asked for */

static const struct wanted {
  int fault;
  const char *name, *why; /* why: how the refusal begins; NULL: it must pass */
  int only;
} wanted[] = {
    {PLANTED_NONE, "a right kernel passes", NULL, 0},
    {PLANTED_LAST_K, "a lost k is refused", "", 0},
    {PLANTED_EDGE, "a column that is not written is refused", "ternary:", 0},
    {PLANTED_LD, "a leading dimension ignored is refused", "ternary:", 0},
    {PLANTED_GAPS, "writes between the rows are refused", "ternary: wrote", 0},
    {PLANTED_BEFORE, "a write before C is refused", "ternary: wrote", 0},
    {PLANTED_INPUT, "a changed input is refused", "ternary:", 0},
    {PLANTED_NARROW, "sums in fp16 are refused", "cancel", FULL},
    {PLANTED_NAN, "a NaN swallowed is refused", "special:", 0},
    {PLANTED_INFINITY, "an infinity clamped is refused", "special:", 0},
    {PLANTED_ZEROS, "zeros skipped are refused", "special:", 0},
    {PLANTED_NUMBERS, "numbers in C taken for right are refused", "rewrite:", 0},
    {PLANTED_CACHE, "a result cached by its operands is refused", "changed:", 0},
    {PLANTED_ALPHA, "alpha ignored is refused", "factors:", 0},
    {PLANTED_BETA, "beta ignored is refused", "factors:", 0},
    {PLANTED_EARLY, "not to wait for the grid before is refused", "late:", HOPPER},
    {PLANTED_THIRD, "right in two launches is refused", "repeats:", 0},
};

static bool one(const struct small *s, const struct wanted *w) {
  struct fault f = {.hung = false};
  struct verify v;
  struct verdict out;
  char why[640];
  double start = gpu_now();
  bool ran = run(s, w->fault, VERIFY_PATIENCE, &v, &out, &f);
  snprintf(why, sizeof why, "%.500s; %d families, holes=%d, %.1f ms",
           !ran        ? f.text
           : out.wrong ? out.why
                       : "passed",
           v.families, v.holes, (gpu_now() - start) * 1000);
  bool ok = w->why ? out.wrong && strncmp(out.why, w->why, strlen(w->why)) == 0 : !out.wrong;
  tell(s, ran && ok, w->name, why);
  return ran;
}

static bool with(struct small *s, int dtype, int acc) {
  s->dtype = dtype;
  s->acc = acc;
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    if ((wanted[i].only & HOPPER) && s->g->prop.major < 9) continue;
    if ((wanted[i].only & FULL) && acc == LOOM_ACC_F16) continue;
    if (!one(s, &wanted[i])) return false;
  }
  return true;
}

/* A fault of the device: what it is called, and what stays of it. */
static bool fatal(const struct small *s, int fault, double patience, const char *name,
                  const char *piece) {
  struct fault f = {.hung = false};
  struct verify v;
  struct verdict out;
  bool ran = run(s, fault, patience, &v, &out, &f);
  if (fault == PLANTED_BEYOND && !v.holes) {
    printf("skipped: %s (the driver maps no memory for us)\n", name);
    return true;
  }
  tell(s, !ran && strstr(f.text, piece), name, ran ? "nothing happened" : f.text);
  return cudaDeviceSynchronize() == cudaSuccess; /* what does not end, ends in the end */
}

void selftest_small(struct gpu *g, int *passed, int *failed) {
  struct small s = {.g = g, .passed = passed, .failed = failed};
  (void)(with(&s, LOOM_F16, LOOM_ACC_F32) && with(&s, LOOM_BF16, LOOM_ACC_F32) &&
         with(&s, LOOM_F16, LOOM_ACC_F16) &&
         fatal(&s, PLANTED_ENDLESS, 0.1, "a kernel that does not end is told", "does not end") &&
         fatal(&s, PLANTED_BEYOND, VERIFY_PATIENCE, "a read behind the last row is an error",
               "illegal memory access"));
}
