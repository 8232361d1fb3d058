/* baseline.c - cuBLAS, the mark to beat
**
** Its outputs meet the same check as a candidate's. By default cuBLAS may reduce
** split-K partials in fp16, which the check refuses as what it is: another, less
** exact product. Then both layouts are recorded again with
** CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, and the result line says so.
*/
#include "baseline.h"

#include "check.h"

#include <stdio.h>

const int baseline_layout[PROBLEM_BASES] = {LOOM_NN, LOOM_TN};

cublasComputeType_t baseline_compute(const struct problem *p) {
  return p->acc == LOOM_ACC_F16 ? CUBLAS_COMPUTE_16F : CUBLAS_COMPUTE_32F;
}

cudaDataType_t baseline_type(const struct problem *p) {
  return p->dtype == LOOM_F16 ? CUDA_R_16F : CUDA_R_16BF;
}

void baseline_scalars(struct baseline_scalars *s, cublasComputeType_t compute) {
  bool half = compute == CUBLAS_COMPUTE_16F;
  *s = (struct baseline_scalars){.f32 = {1, 0}, .f16 = {0x3c00, 0}};
  s->one = half ? (const void *)&s->f16[0] : &s->f32[0];
  s->zero = half ? (const void *)&s->f16[1] : &s->f32[1];
}

bool baseline_call(struct problem *p, int layout, struct ring *c, int set,
                   cublasComputeType_t compute, cublasGemmAlgo_t algo, struct fault *f) {
  struct problem_blas b = problem_blas(p, layout);
  struct baseline_scalars scalar;
  cudaDataType_t type = baseline_type(p);
  baseline_scalars(&scalar, compute);
  return CUBLAS(f,
                cublasGemmEx(p->gpu->blas, b.op_b, b.op_a, b.n, b.m, b.k, scalar.one,
                             problem_set(&p->b, set), type, b.ldb, problem_set(&p->a, set), type,
                             b.lda, scalar.zero, problem_set(c, set), type, b.ldc, compute, algo));
}

struct base_context {
  struct problem *p;
  int layout;
};

static bool launch(void *context, int set, struct fault *f) {
  struct base_context *c = context;
  return baseline_call(c->p, c->layout, &c->p->base_c, set, baseline_compute(c->p),
                       CUBLAS_GEMM_DEFAULT, f);
}

/* The first walk lets cuBLAS load its kernels, which must not happen under capture. */
static bool record(struct problem *p, int i, struct fault *f) {
  struct base_context c = {p, baseline_layout[i]};
  double *us = &p->base_us[i];
  timer_free(&p->base[i]);
  return timer_estimate(p->gpu, launch, &c, p->sets, us, f) &&
         timer_estimate(p->gpu, launch, &c, p->sets, us, f) &&
         timer_record(p->gpu, launch, &c, p->sets, problem_reps(p, *us), &p->base[i], f);
}

static bool record_and_check(struct problem *p, struct verdict *v, struct fault *f) {
  unsigned mode = CUBLAS_DEFAULT_MATH;
  if (p->strict) mode |= CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  check_begin(v);
  if (!CUBLAS(f, cublasSetMathMode(p->gpu->blas, (cublasMath_t)mode))) return false;
  bool tn_last = p->layout == LOOM_TN; /* whose references are then the ones that stay */
  for (int n = 0; n < PROBLEM_BASES && !v->wrong; n++) {
    int i = tn_last ? n : PROBLEM_BASES - 1 - n;
    char what[32];
    snprintf(what, sizeof what, "cuBLAS %s", loom_layout_name(baseline_layout[i]));
    if (!record(p, i, f) || !check_poison(p, &p->base_c, f) ||
        !timer_replay(p->gpu, &p->base[i], f) ||
        !check_outputs(p, &p->base_c, baseline_layout[i], what, v, f))
      return false;
  }
  return true;
}

bool baseline_prepare(struct problem *p, struct fault *f) {
  struct verdict v;
  p->strict = false;
  if (!record_and_check(p, &v, f)) return false;
  if (v.wrong) {
    fprintf(stderr, "loom-bench: %s; again without reduced-precision reductions\n", v.why);
    p->strict = true;
    if (!record_and_check(p, &v, f)) return false;
  }
  return !v.wrong || fault_set(f, "the baseline fails its own check: %s", v.why);
}
