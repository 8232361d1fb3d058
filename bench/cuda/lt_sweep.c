/* lt_sweep.c - every algorithm of cuBLASLt, from its capabilities
**
** The product of what an algorithm says it can do runs to millions, nearly all of
** which AlgoCheck refuses. Its order is chosen so that a walk that is cut short
** has seen all algorithms: custom options, which select among kernels, and split-K
** go outermost and in rising order; ids, tiles, stages and clusters innermost.
*/
#include "lt.h"

#include <stdlib.h>
#include <string.h>

enum {
  MAX_IDS = 128,
  MAX_TILES = CUBLASLT_MATMUL_TILE_END,
  MAX_STAGES = CUBLASLT_MATMUL_STAGES_END
};

static const int splits[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64};
static const uint16_t clusters[] = {CUBLASLT_CLUSTER_SHAPE_AUTO,  CUBLASLT_CLUSTER_SHAPE_1x1x1,
                                    CUBLASLT_CLUSTER_SHAPE_2x1x1, CUBLASLT_CLUSTER_SHAPE_1x2x1,
                                    CUBLASLT_CLUSTER_SHAPE_2x2x1, CUBLASLT_CLUSTER_SHAPE_4x1x1,
                                    CUBLASLT_CLUSTER_SHAPE_1x4x1};

enum { SPLITS = sizeof splits / sizeof splits[0], CLUSTERS = sizeof clusters / sizeof clusters[0] };

/* One algorithm id and what it can do */
struct family {
  cublasLtMatmulAlgo_t algo;
  uint32_t tile[MAX_TILES], stages[MAX_STAGES], schemes, swizzle;
  int tiles, nstages;
  int32_t split, custom;
};

/* Capabilities */

static bool capability(const struct family *a, cublasLtMatmulAlgoCapAttributes_t what, void *out,
                       size_t size, size_t *written) {
  return cublasLtMatmulAlgoCapGetAttribute(&a->algo, what, out, size, written) ==
         CUBLAS_STATUS_SUCCESS;
}

/* A list of ids; an algorithm without any has the undefined one, 0. The list's own size is asked
** for first: the library wants it exactly. */
static int list(const struct family *a, cublasLtMatmulAlgoCapAttributes_t what, uint32_t *out,
                int most) {
  size_t need = 0, got = 0, room = (size_t)most * sizeof *out;
  out[0] = 0;
  if (!capability(a, what, NULL, 0, &need) || need == 0 || need > room) return 1;
  if (!capability(a, what, out, need, &got) || got < sizeof *out) return 1;
  return (int)(got / sizeof *out);
}

/* fp32 accumulation where it is asked for */
static bool wanted(const struct lt *l, const struct family *a) {
  uint64_t flags = 0;
  size_t written;
  if (l->compute != CUBLAS_COMPUTE_32F ||
      !capability(a, CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, &flags, sizeof flags, &written))
    return true;
  uint64_t accumulators = flags & CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_TYPE_MASK;
  return (accumulators & ~CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F) == 0;
}

static bool read_family(const struct lt *l, int id, struct family *a) {
  size_t written;
  memset(a, 0, sizeof *a);
  if (cublasLtMatmulAlgoInit(l->p->gpu->lt, l->compute, l->scale, l->type, l->type, l->type,
                             l->type, id, &a->algo) != CUBLAS_STATUS_SUCCESS ||
      !wanted(l, a))
    return false;
  a->tiles = list(a, CUBLASLT_ALGO_CAP_TILE_IDS, a->tile, MAX_TILES);
  a->nstages = list(a, CUBLASLT_ALGO_CAP_STAGES_IDS, a->stages, MAX_STAGES);
  (void)capability(a, CUBLASLT_ALGO_CAP_SPLITK_SUPPORT, &a->split, sizeof a->split, &written);
  (void)capability(a, CUBLASLT_ALGO_CAP_REDUCTION_SCHEME_MASK, &a->schemes, sizeof a->schemes,
                   &written);
  (void)capability(a, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT, &a->swizzle, sizeof a->swizzle,
                   &written);
  (void)capability(a, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX, &a->custom, sizeof a->custom, &written);
  if (l->compute == CUBLAS_COMPUTE_32F) a->schemes &= CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  return true;
}

/* One configuration */

struct config {
  uint32_t tile, stages, scheme, swizzle, custom;
  int32_t split;
  uint16_t cluster;
};

static bool set(cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t what,
                const void *value, size_t size) {
  return cublasLtMatmulAlgoConfigSetAttribute(algo, what, value, size) == CUBLAS_STATUS_SUCCESS;
}

static bool configured(cublasLtMatmulAlgo_t *algo, const struct config *c) {
  return set(algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &c->tile, sizeof c->tile) &&
         set(algo, CUBLASLT_ALGO_CONFIG_STAGES_ID, &c->stages, sizeof c->stages) &&
         set(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &c->split, sizeof c->split) &&
         set(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &c->scheme, sizeof c->scheme) &&
         set(algo, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, &c->swizzle, sizeof c->swizzle) &&
         set(algo, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION, &c->custom, sizeof c->custom) &&
         (c->cluster == CUBLASLT_CLUSTER_SHAPE_AUTO ||
          set(algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, &c->cluster, sizeof c->cluster));
}

/* Keeps it where it is accepted. */
static void consider(const struct lt *l, const struct family *a, const struct config *c,
                     struct lt_sweep *s) {
  cublasLtMatmulAlgo_t algo = a->algo;
  cublasLtMatmulHeuristicResult_t r;
  memset(&r, 0, sizeof r);
  s->checked++;
  if (configured(&algo, c) &&
      cublasLtMatmulAlgoCheck(l->p->gpu->lt, l->op, l->b, l->a, l->c, l->c, &algo, &r) ==
          CUBLAS_STATUS_SUCCESS &&
      r.workspaceSize <= GPU_WORKSPACE)
    s->algo[s->accepted++] = algo;
}

/* All configurations of a family for one custom option, split and scheme; false: time or room is
** up. */
static bool walk(const struct lt *l, const struct family *a, struct config c, double end,
                 struct lt_sweep *s) {
  for (int t = 0; t < a->tiles; t++) {
    if (gpu_now() > end) return false;
    for (int g = 0; g < a->nstages; g++)
      for (c.swizzle = 0; c.swizzle <= (a->swizzle ? 1u : 0u); c.swizzle++)
        for (int k = 0; k < CLUSTERS; k++) {
          c.tile = a->tile[t];
          c.stages = a->stages[g];
          c.cluster = clusters[k];
          if (s->accepted == s->most) return false;
          consider(l, a, &c, s);
        }
  }
  return true;
}

/* Split-K 1 has no scheme; more has every one that the family knows, and that is wanted. */
static bool walk_schemes(const struct lt *l, const struct family *a, struct config c, double end,
                         struct lt_sweep *s) {
  if (c.split == 1) return walk(l, a, c, end, s);
  if (!a->split) return true;
  for (c.scheme = 1; c.scheme < CUBLASLT_REDUCTION_SCHEME_MASK; c.scheme *= 2)
    if ((a->schemes & c.scheme) && !walk(l, a, c, end, s)) return false;
  return true;
}

static bool walk_all(const struct lt *l, const struct family *a, double end, struct lt_sweep *s) {
  int32_t most_custom = 0;
  for (int i = 0; i < s->ids; i++)
    if (a[i].custom > most_custom) most_custom = a[i].custom;
  for (int32_t custom = 0; custom <= most_custom; custom++)
    for (int k = 0; k < SPLITS; k++)
      for (int i = 0; i < s->ids; i++) {
        struct config c = {.custom = (uint32_t)custom, .split = splits[k]};
        if (custom <= a[i].custom && !walk_schemes(l, &a[i], c, end, s)) return false;
      }
  return true;
}

bool lt_sweep(const struct lt *l, struct lt_sweep *s, struct fault *f) {
  int id[MAX_IDS], ids = 0;
  s->accepted = s->ids = 0;
  s->checked = 0;
  s->whole = false;
  if (!CUBLAS(f, cublasLtMatmulAlgoGetIds(l->p->gpu->lt, l->compute, l->scale, l->type, l->type,
                                          l->type, l->type, MAX_IDS, id, &ids)))
    return false;
  struct family *a = calloc(MAX_IDS, sizeof *a);
  if (!a) return fault_set(f, "no memory for %d algorithms", ids);
  for (int i = 0; i < ids && i < MAX_IDS; i++)
    if (read_family(l, id[i], &a[s->ids])) s->ids++;
  s->whole = walk_all(l, a, gpu_now() + s->seconds, s);
  free(a);
  return true;
}
