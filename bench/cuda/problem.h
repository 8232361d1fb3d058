/* problem.h - one prepared problem: the ring, the references, the baselines
**
** Buffers are rings of S sets that together exceed every cache, so that each
** launch finds its operands in DRAM. Problems too tiny for that are swept: a tape
** walks the ring once, and before each window a buffer larger than L2 is read.
** A hot problem has one set, whose operands stay in L2 where they fit.
** All layouts read the same bytes; A is M*K elements whether it is stored [M][K]
** or [K][M].
**
** Candidates and cuBLAS write different rings of C, so that nothing cuBLAS
** wrote can pass for a candidate's output. The buffers outlive the problem: the
** next one takes them over (gpu_take), filled and marked anew.
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

/* The fastest verified option of the libraries, as a tape of the palindrome. */
struct problem_nv {
  bool have;
  int base; /* it is that one of 'base'; -1: 'tape' is its own */
  struct timer_tape tape;
  double us;
  char name[32], algo[128];
};

struct problem {
  bool ready;
  bool lean; /* for baselines alone: no ring for candidates, fewer checks of the largest */
  struct gpu *gpu;
  int layout, dtype, acc;
  int64_t mnk[3], seed;
  bool hot;
  int sets;
  struct timer_sweep sweep;              /* where the ring does not fill L2 */
  struct ring a, b, c, base_c;           /* c: the candidates'; base_c: cuBLAS's */
  int checks, check_set[PROBLEM_CHECKS]; /* which sets are verified: first, middle, last */
  double *wide_a, *wide_b;               /* operands as doubles; freed once references are kept */
  bool kept;      /* there is room for the references of a layout: else [0] */
  int ref_layout; /* of those in ref and abs; -1: none are kept */
  double *ref[PROBLEM_CHECKS], *abs[PROBLEM_CHECKS];
  bool strict; /* cuBLAS without reduced-precision reductions, see baseline.c */
  struct timer_tape base[PROBLEM_BASES]; /* nn, tn */
  double base_us[PROBLEM_BASES];         /* estimates */
  struct problem_nv nv;                  /* where it was asked for */
  bool warm;                             /* the long warm-up was done */
};

/* Fills *p, which is all zero or freed, up to the room for references. */
bool problem_prepare(struct problem *p, struct fault *f);
void problem_free(struct problem *p);

/* Keeps the references of the problem's layout, frees what only other layouts need. */
bool problem_settle(struct problem *p, struct fault *f);

/* Writes A and B anew, where a kernel or an error left others. */
bool problem_refill(struct problem *p, struct fault *f);

/* Launches of a tape, where one takes about so long: whole walks, but one where L2 is swept, or the
** second walk would find what the first one left there. */
int problem_reps(const struct problem *p, double us);
/* Enqueues a sweep where the problem is swept. */
bool problem_sweep(const struct problem *p, struct fault *f);
/* A timer with the problem's sweep and lead, no tapes yet; timer_close is due also after a failure. */
bool problem_timer(const struct problem *p, struct timer *t, struct fault *f);

void *problem_set(const struct ring *r, int set);
int64_t problem_elements(const struct problem *p, int operand);

/* C* and |A||B| of the i-th checked set in a layout; valid until the next call. */
bool problem_reference(struct problem *p, int layout, int i, const double **ref, const double **abs,
                       struct fault *f);

/* The same in the problem's layout for some rows of any set, into buffers of the caller, between
** problem_widen and problem_unwiden. */
bool problem_widen(struct problem *p, struct fault *f);
bool problem_rows(struct problem *p, int set, int64_t row, int64_t rows, double *ref, double *abs,
                  struct fault *f);
void problem_unwiden(struct problem *p);

/* The BLAS call behind a row-major layout: C^T = B^T A^T in column-major words. */
struct problem_blas {
  cublasOperation_t op_b, op_a;
  int n, m, k, ldb, lda, ldc;
};
struct problem_blas problem_blas(const struct problem *p, int layout);

#endif
