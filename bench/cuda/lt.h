/* lt.h - cuBLASLt on a problem in one layout: its answers, every algorithm, a call
**
** Compute type and scale type agree (fp32 with R_32F, fp16 with R_16F), the
** workspace has 64 MiB, and pointers are told to be as aligned as the ring's are.
*/
#ifndef BENCH_LT_H
#define BENCH_LT_H

#include "problem.h"

enum { LT_ANSWERS = 200, LT_TEXT = 128 };

/* A problem in one layout, in column-major words: the product of b and a. */
struct lt {
  struct problem *p;
  int layout;
  cublasComputeType_t compute;
  cudaDataType_t scale, type;
  cublasLtMatmulDesc_t op;
  cublasLtMatrixLayout_t b, a, c;
};

/* lt_close is due also after a failure. */
bool lt_open(struct lt *l, struct problem *p, int layout, struct fault *f);
void lt_close(struct lt *l);

/* Enqueues one call on buffer set 'set'; output into 'ring'. The library's own answer: an algorithm
** that does not run is no fault of the job. */
cublasStatus_t lt_try(const struct lt *l, const cublasLtMatmulAlgo_t *algo, struct ring *ring,
                      int set);

/* Up to 'most' answers of the heuristics, the best guess first; *n may come out as 0. */
bool lt_answers(const struct lt *l, int most, cublasLtMatmulAlgo_t *out, int *n, struct fault *f);

/* Every configuration that AlgoCheck accepts, from AlgoGetIds and the capabilities. Stops early
** (whole = false) after 'seconds' or at 'most' accepted ones. */
struct lt_sweep {
  int most, accepted;
  cublasLtMatmulAlgo_t *algo; /* room for 'most' */
  double seconds;
  long long checked;
  int ids;
  bool whole;
};
bool lt_sweep(const struct lt *l, struct lt_sweep *s, struct fault *f);

/* Puts the n configurations of a sweep into the order to race them in: those like the heuristics'
** answers first, the others shuffled, always alike. */
bool lt_order(const struct lt *l, cublasLtMatmulAlgo_t *algo, int n, struct fault *f);

/* "id=66 tile=20 stages=8 split=1 red=0 swizzle=0 custom=3 inner=0 cluster=5" */
void lt_text(const cublasLtMatmulAlgo_t *algo, char text[LT_TEXT]);

#endif
