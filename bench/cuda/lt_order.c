/* lt_order.c - in which order the configurations of a sweep are raced
**
** Tens of thousands are more than a race has time for. The library's own answers
** are a good guess: what differs from one of them only in split-K, swizzle or
** cluster comes first, then what shares its tile. The rest is shuffled from a
** fixed seed, so that a race that is cut short has met a fair sample of it.
*/
#include "families.h"
#include "lt.h"

#include <stdlib.h>
#include <string.h>

/* What makes two configurations the same kernel but for split-K, swizzle and cluster */
struct kind {
  uint32_t id, tile, stages, custom;
};

struct ranked {
  cublasLtMatmulAlgo_t algo;
  int near; /* 0: a kernel of the answers, 1: a tile of theirs, 2: neither */
  uint64_t lot;
};

static uint32_t part(const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t what) {
  uint32_t v = 0;
  size_t written;
  if (cublasLtMatmulAlgoConfigGetAttribute(algo, what, &v, sizeof v, &written) !=
      CUBLAS_STATUS_SUCCESS)
    return 0;
  return v;
}

static struct kind kind_of(const cublasLtMatmulAlgo_t *algo) {
  return (struct kind){.id = part(algo, CUBLASLT_ALGO_CONFIG_ID),
                       .tile = part(algo, CUBLASLT_ALGO_CONFIG_TILE_ID),
                       .stages = part(algo, CUBLASLT_ALGO_CONFIG_STAGES_ID),
                       .custom = part(algo, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION)};
}

static int near_to(const struct kind *k, const struct kind *answer, int answers) {
  int near = 2;
  for (int i = 0; i < answers; i++) {
    if (k->id != answer[i].id || k->tile != answer[i].tile) continue;
    near = 1;
    if (k->stages == answer[i].stages && k->custom == answer[i].custom) return 0;
  }
  return near;
}

static int in_order(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->near != y->near) return x->near - y->near;
  return (x->lot > y->lot) - (x->lot < y->lot);
}

bool lt_order(const struct lt *l, cublasLtMatmulAlgo_t *algo, int n, struct fault *f) {
  cublasLtMatmulAlgo_t answer[LT_ANSWERS];
  struct kind kinds[LT_ANSWERS];
  int answers;
  if (!lt_answers(l, LT_ANSWERS, answer, &answers, f)) return false;
  for (int i = 0; i < answers; i++) kinds[i] = kind_of(&answer[i]);
  struct ranked *r = malloc(((size_t)n + 1) * sizeof *r);
  if (!r) return fault_set(f, "no memory for %d algorithms", n);
  uint64_t lots = 0;
  for (int i = 0; i < n; i++) {
    struct kind k = kind_of(&algo[i]);
    r[i] = (struct ranked){
        .algo = algo[i], .near = near_to(&k, kinds, answers), .lot = family_random(&lots)};
  }
  qsort(r, (size_t)n, sizeof *r, in_order);
  for (int i = 0; i < n; i++) algo[i] = r[i].algo;
  free(r);
  return true;
}
