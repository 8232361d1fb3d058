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

bool baseline_call(struct problem *p, int layout, struct ring *c, int set,
                   cublasComputeType_t compute, struct fault *f) {
  const float one = 1, zero = 0;
  const unsigned short half_one = 0x3c00, half_zero = 0; /* scalars have the compute type */
  bool half = compute == CUBLAS_COMPUTE_16F;
  cudaDataType_t type = p->dtype == LOOM_F16 ? CUDA_R_16F : CUDA_R_16BF;
  struct problem_blas b = problem_blas(p, layout);
  return CUBLAS(f, cublasGemmEx(p->gpu->blas, b.op_b, b.op_a, b.n, b.m, b.k,
                                half ? (const void *)&half_one : &one, problem_set(&p->b, set),
                                type, b.ldb, problem_set(&p->a, set), type, b.lda,
                                half ? (const void *)&half_zero : &zero, problem_set(c, set), type,
                                b.ldc, compute, CUBLAS_GEMM_DEFAULT));
}

struct base_context {
  struct problem *p;
  int layout;
};

static bool launch(void *context, int set, struct fault *f) {
  struct base_context *c = context;
  return baseline_call(c->p, c->layout, &c->p->base_c, set, CUBLAS_COMPUTE_32F, f);
}

/* The first walk lets cuBLAS load its kernels, which must not happen under capture. */
static bool record(struct problem *p, int i, struct fault *f) {
  struct base_context c = {p, baseline_layout[i]};
  double *us = &p->base_us[i];
  timer_free(&p->base[i]);
  return timer_estimate(p->gpu, launch, &c, p->sets, us, f) &&
         timer_estimate(p->gpu, launch, &c, p->sets, us, f) &&
         timer_record(p->gpu, launch, &c, p->sets, timer_reps(*us, p->sets), &p->base[i], f);
}

static bool record_and_check(struct problem *p, struct verdict *v, struct fault *f) {
  unsigned mode = CUBLAS_DEFAULT_MATH;
  if (p->strict) mode |= CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  check_begin(v);
  if (!CUBLAS(f, cublasSetMathMode(p->gpu->blas, (cublasMath_t)mode))) return false;
  for (int i = 0; i < PROBLEM_BASES && !v->wrong; i++) {
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
