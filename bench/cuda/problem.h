/* problem.h - one prepared problem: the ring, the references, the baselines
**
** Buffers are rings of S sets that together exceed every cache, so that each
** launch finds its operands in DRAM. All layouts read the same bytes; A is
** M*K elements whether it is stored [M][K] or [K][M].
**
** Candidates and cuBLAS write different rings of C, so that nothing cuBLAS
** wrote can pass for a candidate's output.
*/
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include "desc.h"
#include "timer.h"

#include <stdint.h>

enum { PROBLEM_CHECKS = 3, PROBLEM_BASES = 2 };

/* guard | set 0 | gap | set 1 | gap ... | guard, in 16-bit elements */
struct ring {
  void *base;
  size_t used, stride, lead, total;
};

struct problem {
  bool ready;
  struct gpu *gpu;
  int layout, dtype, acc;
  int64_t mnk[3], seed;
  int sets;
  struct ring a, b, c, base_c;           /* c: the candidates'; base_c: cuBLAS's */
  int checks, check_set[PROBLEM_CHECKS]; /* which sets are verified: first, middle, last */
  double *wide_a, *wide_b;               /* operands as doubles; freed once references are kept */
  double *scratch_ref, *scratch_abs;     /* one reference; likewise */
  bool kept;                             /* ref and abs of the problem's layout stay in memory */
  double *ref[PROBLEM_CHECKS], *abs[PROBLEM_CHECKS];
  bool strict; /* cuBLAS without reduced-precision reductions, see baseline.c */
  struct timer_tape base[PROBLEM_BASES]; /* nn, tn */
  double base_us[PROBLEM_BASES];         /* estimates */
  bool warm;                             /* the long warm-up was done */
};

/* Fills *p, which is all zero or freed, up to and with the references. */
bool problem_prepare(struct problem *p, struct fault *f);
void problem_free(struct problem *p);

/* Frees what only the checks of the baselines needed. */
void problem_settle(struct problem *p);

void *problem_set(const struct ring *r, int set);
int64_t problem_elements(const struct problem *p, int operand);

/* C* and |A||B| of the i-th checked set in a layout; valid until the next call. */
bool problem_reference(struct problem *p, int layout, int i, const double **ref, const double **abs,
                       struct fault *f);

/* The BLAS call behind a row-major layout: C^T = B^T A^T in column-major words. */
struct problem_blas {
  cublasOperation_t op_b, op_a;
  int n, m, k, ldb, lda, ldc;
};
struct problem_blas problem_blas(const struct problem *p, int layout);

#endif
