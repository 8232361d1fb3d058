/* selftest.c - shows on the device that the checker can fail
**
** A right output must pass and each planted fault must be refused, for f16 and
** bf16, and for fp16 accumulation where that is asked for. The outputs are
** cuBLAS's, so no candidate is needed; cuBLASLt's go the way of a baseline. The
** small products of verify.h are in selftest_small.c, timing in selftest_time.c.
*/
#include "selftest.h"

#include "baseline.h"
#include "change.h"
#include "check.h"
#include "kernels.h"
#include "option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512, COLUMNS = 384, DEPTH = 1024, TILE = 64 };

struct bench {
  struct problem p;
  int passed, failed;
  struct fault fault;
};

static void tell(struct bench *b, bool ok, const char *name, const char *why) {
  printf("%s %s%s: %s (%s)\n", ok ? "ok" : "not ok", loom_dtype_name(b->p.dtype),
         b->p.acc == LOOM_ACC_F16 ? " acc=f16" : "", name, why);
  if (ok)
    b->passed++;
  else
    b->failed++;
}

/* Faults: each spoils the right outputs in p->c; set is one of the checked sets */

static bool put(struct problem *p, int set, size_t at, uint16_t bits, struct fault *f) {
  char *c = problem_set(&p->c, set);
  return CUDA(f, cudaMemcpy(c + 2 * at, &bits, sizeof bits, cudaMemcpyHostToDevice));
}

static bool get(struct problem *p, int set, size_t at, uint16_t *bits, struct fault *f) {
  const char *c = problem_set(&p->c, set);
  return CUDA(f, cudaMemcpy(bits, c + 2 * at, sizeof *bits, cudaMemcpyDeviceToHost));
}

static bool nothing(struct problem *p, int set, struct fault *f) {
  (void)p, (void)set, (void)f;
  return true;
}

static bool one_nan(struct problem *p, int set, struct fault *f) {
  return put(p, set, 12345, p->dtype == LOOM_F16 ? 0x7e00 : 0x7fc0, f);
}

static bool one_infinity(struct problem *p, int set, struct fault *f) {
  return put(p, set, p->c.used - 1, p->dtype == LOOM_F16 ? 0x7c00 : 0x7f80, f);
}

/* Two units in the last place, the smallest error that no rounding explains, in an element above 4:
** near zero the bound is wider than that, because |A||B| rules there. */
static bool two_ulps(struct problem *p, int set, struct fault *f) {
  uint16_t bits, four = p->dtype == LOOM_F16 ? 0x4400 : 0x4080;
  size_t at = 776;
  do {
    if (!get(p, set, ++at, &bits, f)) return false;
  } while ((bits & 0x7fff) < four);
  return put(p, set, at, (uint16_t)(bits + 2), f);
}

static bool unwritten_tile(struct problem *p, int set, struct fault *f) {
  uint16_t marks[TILE];
  for (int i = 0; i < TILE; i++)
    marks[i] = p->dtype == LOOM_F16 ? KERNELS_MARK_F16 : KERNELS_MARK_BF16;
  for (size_t row = 0; row < TILE; row++) {
    char *at = (char *)problem_set(&p->c, set) + 2 * ((128 + row) * COLUMNS + 192);
    if (!CUDA(f, cudaMemcpy(at, marks, sizeof marks, cudaMemcpyHostToDevice))) return false;
  }
  return true;
}

static bool stale(struct problem *p, int set, struct fault *f) {
  int other = set == p->check_set[0] ? p->check_set[1] : p->check_set[0];
  return CUDA(f, cudaMemcpy(problem_set(&p->c, set), problem_set(&p->c, other), 2 * p->c.used,
                            cudaMemcpyDeviceToDevice));
}

static bool zeros(struct problem *p, int set, struct fault *f) {
  return CUDA(f, cudaMemset(problem_set(&p->c, set), 0, 2 * p->c.used));
}

static bool other_layout(struct problem *p, int set, struct fault *f) {
  return baseline_call(p, LOOM_TN, &p->c, set, baseline_compute(p), CUBLAS_GEMM_DEFAULT, f);
}

/* The product without its last 16 of 1024 slices of K: A and B keep their rows' lengths. */
static bool lost_slice(struct problem *p, int set, struct fault *f) {
  struct baseline_scalars scalar;
  cudaDataType_t type = baseline_type(p);
  struct problem_blas b = problem_blas(p, LOOM_NN);
  baseline_scalars(&scalar, baseline_compute(p));
  return CUBLAS(f, cublasGemmEx(p->gpu->blas, b.op_b, b.op_a, b.n, b.m, b.k - 16, scalar.one,
                                problem_set(&p->b, set), type, b.ldb, problem_set(&p->a, set), type,
                                b.lda, scalar.zero, problem_set(&p->c, set), type, b.ldc,
                                baseline_compute(p), CUBLAS_GEMM_DEFAULT));
}

static bool half_accumulation(struct problem *p, int set, struct fault *f) {
  return baseline_call(p, LOOM_NN, &p->c, set, CUBLAS_COMPUTE_16F, CUBLAS_GEMM_DEFAULT, f);
}

static bool beside(struct problem *p, int set, struct fault *f) {
  return put(p, set, p->c.used, 0, f);
}

static bool changed_input(struct problem *p, int set, struct fault *f) {
  uint16_t bits;
  char *a = problem_set(&p->a, set + 1); /* of a set whose output is not checked */
  if (!CUDA(f, cudaMemcpy(&bits, a, sizeof bits, cudaMemcpyDeviceToHost))) return false;
  bits ^= 1;
  return CUDA(f, cudaMemcpy(a, &bits, sizeof bits, cudaMemcpyHostToDevice));
}

/* Where a fault is one: fp16 accumulation has other bounds, and does not exist for bf16. */
enum { F16 = 1, BF16 = 2, HALF = 4, F32 = F16 | BF16, ALL = F32 | HALF };

static const struct planted {
  const char *name;
  bool (*plant)(struct problem *p, int set, struct fault *f);
  const char *why; /* a piece of the refusal's text; NULL: it must pass */
  int modes;
} faults[] = {
    {"the right output passes", nothing, NULL, ALL},
    {"a NaN is refused", one_nan, "1 of", ALL},
    {"an infinity is refused", one_infinity, "1 of", ALL},
    {"one element that is two ulps off is refused", two_ulps, "1 of", F32},
    {"an unwritten tile is refused", unwritten_tile, "4096 of 196608 elements not written", ALL},
    {"the output of another set is refused", stale, "out of bound", ALL},
    {"zeros are refused", zeros, "out of bound", ALL},
    {"the product in another layout is refused", other_layout, "out of bound", ALL},
    {"a lost slice of K is refused", lost_slice, "out of bound", F32},
    {"a lost slice of K is refused", lost_slice, "", HALF},
    {"fp16 accumulation is refused", half_accumulation, "", F16},
    {"a write beside C is refused", beside, "outside of C", ALL},
    {"a changed input is refused", changed_input, "changed A", ALL},
};

static bool right_outputs(struct problem *p, struct fault *f) {
  if (!check_poison(p, &p->c, f)) return false;
  for (int i = 0; i < p->sets; i++)
    if (!baseline_call(p, LOOM_NN, &p->c, i, baseline_compute(p), CUBLAS_GEMM_DEFAULT, f))
      return false;
  return CUDA(f, cudaStreamSynchronize(p->gpu->stream));
}

static bool one_fault(struct bench *b, const struct planted *t, int set) {
  struct fault *f = &b->fault;
  struct check_sums sums;
  struct verdict v;
  check_begin(&v);
  if (!right_outputs(&b->p, f) || !check_sum(&b->p, &sums, f) || !t->plant(&b->p, set, f) ||
      !CUDA(f, cudaDeviceSynchronize()) || !check_outputs(&b->p, &b->p.c, LOOM_NN, "set", &v, f) ||
      !check_inputs(&b->p, &sums, "set", &v, f))
    return false;
  char why[320];
  snprintf(why, sizeof why, "%s; err %.3g, rms %.4g", v.wrong ? v.why : "passed", v.err, v.rms);
  tell(b, t->why ? v.wrong && strstr(v.why, t->why) : !v.wrong, t->name, why);
  return true;
}

static int mode_of(const struct problem *p) {
  if (p->acc == LOOM_ACC_F16) return HALF;
  return p->dtype == LOOM_F16 ? F16 : BF16;
}

static bool all_faults(struct bench *b) {
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    int set = b->p.check_set[i % (size_t)b->p.checks];
    if (set == b->p.sets - 1 && faults[i].plant == changed_input) set = 0;
    if (!(faults[i].modes & mode_of(&b->p))) continue;
    if (!one_fault(b, &faults[i], set)) return false;
  }
  return true;
}

/* The first answer of cuBLASLt for one layout, prepared as an option that claims to be nn. */
static bool lt_option(struct bench *b, int layout, const char *name, const char *piece) {
  struct fault *f = &b->fault;
  struct option o = {.group = OPTION_FIRST, .layout = LOOM_NN, .same = -1};
  struct lt lt;
  char why[320] = "no answer", algo[LT_TEXT] = "";
  int n = 0;
  bool ok = lt_open(&lt, &b->p, layout, f) && lt_answers(&lt, 1, &o.algo, &n, f);
  o.lt = &lt;
  if (ok && n) {
    ok = option_prepare(&b->p, &o, f);
    lt_text(&o.algo, algo);
    snprintf(why, sizeof why, "%s", o.ready ? algo : o.why);
  }
  if (ok) tell(b, n && (piece ? !o.ready && strstr(o.why, piece) : o.ready), name, why);
  option_free(&o);
  lt_close(&lt);
  return ok;
}

static bool lt_options(struct bench *b) {
  return lt_option(b, LOOM_NN, "cuBLASLt's output passes", NULL) &&
         lt_option(b, LOOM_TN, "cuBLASLt's output in another layout is refused", "out of bound");
}

/* Replays after timing: by cuBLAS, by nobody, by one that gives what it gave before. */

static bool honest(void *context, int set, struct fault *f) {
  struct problem *p = context;
  return baseline_call(p, LOOM_NN, &p->c, set, baseline_compute(p), CUBLAS_GEMM_DEFAULT, f);
}

static bool idle(void *context, int set, struct fault *f) {
  struct problem *p = context;
  (void)set;
  return CUDA(f, kernels_wait(0, p->gpu->stream));
}

static bool same_again(void *context, int set, struct fault *f) {
  struct problem *p = context;
  return CUDA(f, cudaMemcpyAsync(problem_set(&p->c, set), problem_set(&p->base_c, set),
                                 2 * p->c.used, cudaMemcpyDeviceToDevice, p->gpu->stream));
}

static const struct replayed {
  const char *name;
  timer_launch *launch;
  const char *why; /* NULL: it must pass */
} replayed[] = {{"replays over numbers and with changed operands pass", honest, NULL},
                {"C left as it was is refused", idle, "over other numbers"},
                {"results of the operands before are refused", same_again, "changed operands"}};

static bool one_replay(struct bench *b, const struct replayed *t) {
  struct problem *p = &b->p;
  struct fault *f = &b->fault;
  struct timer_tape tape;
  struct check_sums sums;
  struct verdict v;
  check_begin(&v);
  if (!check_sum(p, &sums, f) || !timer_record(p->gpu, t->launch, p, p->sets, p->sets, &tape, f))
    return false;
  bool ok = change_results(p, &tape, &sums, 1, &v, f) && change_operands(p, &tape, &sums, 2, &v, f);
  timer_free(&tape);
  char why[320];
  snprintf(why, sizeof why, "%s; err %.3g, rms %.4g", v.wrong ? v.why : "passed", v.err, v.rms);
  if (ok) tell(b, t->why ? v.wrong && strstr(v.why, t->why) : !v.wrong, t->name, why);
  return ok;
}

static bool all_replays(struct bench *b) {
  struct problem *p = &b->p;
  struct fault *f = &b->fault;
  if (!problem_refill(p, f) || !right_outputs(p, f) || /* a fault before has changed an input */
      !CUDA(f, cudaMemcpy(p->base_c.base, p->c.base, 2 * p->c.total, cudaMemcpyDeviceToDevice)))
    return false;
  p->ref_layout = -1;
  for (size_t i = 0; i < sizeof replayed / sizeof replayed[0]; i++)
    if (!one_replay(b, &replayed[i])) return false;
  return true;
}

static bool with(struct bench *b, struct gpu *g, int dtype, int acc) {
  b->p = (struct problem){.gpu = g,
                          .layout = LOOM_NN,
                          .dtype = dtype,
                          .acc = acc,
                          .mnk = {ROWS, COLUMNS, DEPTH},
                          .seed = 1};
  bool ok = problem_prepare(&b->p, &b->fault) && all_faults(b) && lt_options(b) && all_replays(b);
  if (!ok) tell(b, false, "runs to its end", b->fault.text);
  problem_free(&b->p);
  return ok;
}

int selftest_run(struct gpu *g) {
  struct bench b = {.passed = 0};
  (void)(with(&b, g, LOOM_F16, LOOM_ACC_F32) && with(&b, g, LOOM_BF16, LOOM_ACC_F32) &&
         with(&b, g, LOOM_F16, LOOM_ACC_F16));
  selftest_time(g, &b.passed, &b.failed);
  selftest_clock(g, &b.passed, &b.failed);
  selftest_small(g, &b.passed, &b.failed); /* last: it loses the device */
  printf("%d passed, %d failed\n", b.passed, b.failed);
  return b.failed || !b.passed || fflush(stdout) != 0;
}
