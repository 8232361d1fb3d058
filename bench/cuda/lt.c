/* lt.c - cuBLASLt on a problem in one layout
**
** With fp32 accumulation the answers are limited to those that keep it: fp32
** accumulators, and split-K partials in the compute type. The other two schemes
** add partials in the output's type, which the check would refuse anyway.
*/
#include "lt.h"

#include "baseline.h"

#include <stdio.h>
#include <string.h>

/* Open, close */

static bool set_op(struct lt *l, cublasLtMatmulDescAttributes_t what, cublasOperation_t op,
                   struct fault *f) {
  int32_t v = op;
  return CUBLAS(f, cublasLtMatmulDescSetAttribute(l->op, what, &v, sizeof v));
}

static bool new_matrix(cublasLtMatrixLayout_t *out, cudaDataType_t type, bool turned, int rows,
                       int columns, int ld, struct fault *f) {
  return CUBLAS(f, cublasLtMatrixLayoutCreate(out, type, (uint64_t)(turned ? columns : rows),
                                              (uint64_t)(turned ? rows : columns), ld));
}

bool lt_open(struct lt *l, struct problem *p, int layout, struct fault *f) {
  struct problem_blas b = problem_blas(p, layout);
  memset(l, 0, sizeof *l);
  l->p = p;
  l->layout = layout;
  l->compute = baseline_compute(p);
  l->scale = l->compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F : CUDA_R_32F;
  l->type = baseline_type(p);
  return CUBLAS(f, cublasLtMatmulDescCreate(&l->op, l->compute, l->scale)) &&
         set_op(l, CUBLASLT_MATMUL_DESC_TRANSA, b.op_b, f) &&
         set_op(l, CUBLASLT_MATMUL_DESC_TRANSB, b.op_a, f) &&
         new_matrix(&l->b, l->type, b.op_b != CUBLAS_OP_N, b.n, b.k, b.ldb, f) &&
         new_matrix(&l->a, l->type, b.op_a != CUBLAS_OP_N, b.k, b.m, b.lda, f) &&
         new_matrix(&l->c, l->type, false, b.n, b.m, b.ldc, f);
}

void lt_close(struct lt *l) {
  if (l->c) (void)cublasLtMatrixLayoutDestroy(l->c);
  if (l->a) (void)cublasLtMatrixLayoutDestroy(l->a);
  if (l->b) (void)cublasLtMatrixLayoutDestroy(l->b);
  if (l->op) (void)cublasLtMatmulDescDestroy(l->op);
  memset(l, 0, sizeof *l);
}

/* Call */

cublasStatus_t lt_try(const struct lt *l, const cublasLtMatmulAlgo_t *algo, struct ring *ring,
                      int set) {
  struct problem *p = l->p;
  struct baseline_scalars scalar;
  void *c = problem_set(ring, set);
  baseline_scalars(&scalar, l->compute);
  return cublasLtMatmul(p->gpu->lt, l->op, scalar.one, problem_set(&p->b, set), l->b,
                        problem_set(&p->a, set), l->a, scalar.zero, c, l->c, c, l->c, algo,
                        p->gpu->blas_ws, GPU_WORKSPACE, p->gpu->stream);
}

/* Heuristics */

static bool prefer(cublasLtMatmulPreference_t pref, cublasLtMatmulPreferenceAttributes_t what,
                   const void *value, size_t size, struct fault *f) {
  return CUBLAS(f, cublasLtMatmulPreferenceSetAttribute(pref, what, value, size));
}

static bool fill_preference(const struct lt *l, cublasLtMatmulPreference_t pref, struct fault *f) {
  const uint64_t workspace = GPU_WORKSPACE,
                 fp32 = ~CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_TYPE_MASK |
                        CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F;
  const uint32_t align = 256, schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
      CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
  for (int i = 0; i < 4; i++)
    if (!prefer(pref, aligned[i], &align, sizeof align, f)) return false;
  if (!prefer(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace, f))
    return false;
  return l->compute != CUBLAS_COMPUTE_32F ||
         (prefer(pref, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes, f) &&
          prefer(pref, CUBLASLT_MATMUL_PREF_IMPL_MASK, &fp32, sizeof fp32, f));
}

/* No answer at all is one: the problem may be none for this library. */
static bool ask(const struct lt *l, cublasLtMatmulPreference_t pref, int most,
                cublasLtMatmulHeuristicResult_t *r, int *n, struct fault *f) {
  cublasStatus_t e = cublasLtMatmulAlgoGetHeuristic(l->p->gpu->lt, l->op, l->b, l->a, l->c, l->c,
                                                    pref, most, r, n);
  if (e == CUBLAS_STATUS_NOT_SUPPORTED) *n = 0;
  return e == CUBLAS_STATUS_NOT_SUPPORTED ||
         gpu_blas(f, e, "cublasLtMatmulAlgoGetHeuristic(", __FILE__, __LINE__);
}

bool lt_answers(const struct lt *l, int most, cublasLtMatmulAlgo_t *out, int *n, struct fault *f) {
  cublasLtMatmulHeuristicResult_t r[LT_ANSWERS];
  cublasLtMatmulPreference_t pref = NULL;
  int got = 0;
  *n = 0;
  memset(r, 0, sizeof r);
  bool ok = CUBLAS(f, cublasLtMatmulPreferenceCreate(&pref)) && fill_preference(l, pref, f) &&
            ask(l, pref, most < LT_ANSWERS ? most : LT_ANSWERS, r, &got, f);
  for (int i = 0; ok && i < got; i++)
    if (r[i].state == CUBLAS_STATUS_SUCCESS && r[i].workspaceSize <= GPU_WORKSPACE)
      out[(*n)++] = r[i].algo;
  if (pref) (void)cublasLtMatmulPreferenceDestroy(pref);
  return ok;
}

/* Text */

static unsigned config_of(const cublasLtMatmulAlgo_t *algo,
                          cublasLtMatmulAlgoConfigAttributes_t what, size_t size) {
  uint32_t wide = 0;
  uint16_t narrow = 0;
  size_t written;
  void *to = size == sizeof wide ? (void *)&wide : &narrow;
  if (cublasLtMatmulAlgoConfigGetAttribute(algo, what, to, size, &written) != CUBLAS_STATUS_SUCCESS)
    return 0;
  return size == sizeof wide ? wide : narrow;
}

void lt_text(const cublasLtMatmulAlgo_t *algo, char text[LT_TEXT]) {
  static const struct {
    const char *name;
    cublasLtMatmulAlgoConfigAttributes_t what;
    size_t size;
  } parts[] = {
      {"id", CUBLASLT_ALGO_CONFIG_ID, 4},
      {"tile", CUBLASLT_ALGO_CONFIG_TILE_ID, 4},
      {"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID, 4},
      {"split", CUBLASLT_ALGO_CONFIG_SPLITK_NUM, 4},
      {"red", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, 4},
      {"swizzle", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, 4},
      {"custom", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, 4},
      {"inner", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID, 2},
      {"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, 2},
  };
  size_t used = 0;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && used < LT_TEXT; i++) {
    int n = snprintf(text + used, LT_TEXT - used, "%s%s=%u", i ? " " : "", parts[i].name,
                     config_of(algo, parts[i].what, parts[i].size));
    if (n > 0) used += (size_t)n;
  }
}
