/* planted.h - a slow, right kernel, and the same with one fault each: for the selftest */
#ifndef BENCH_PLANTED_H
#define BENCH_PLANTED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum planted_fault {
  PLANTED_NONE,
  PLANTED_LAST_K,   /* the last k is left out */
  PLANTED_EDGE,     /* the last column is not written */
  PLANTED_LD,       /* lda taken for K */
  PLANTED_GAPS,     /* zeros between the rows of C */
  PLANTED_BEFORE,   /* a zero before C */
  PLANTED_NARROW,   /* sums in fp16 */
  PLANTED_NAN,      /* NaN swallowed */
  PLANTED_INFINITY, /* infinity clamped */
  PLANTED_ZEROS,    /* zeros of A skipped */
  PLANTED_NUMBERS,  /* C taken for right where it holds a number */
  PLANTED_CACHE,    /* result cached by four operands, in the workspace */
  PLANTED_INPUT,    /* A overwritten */
  PLANTED_ALPHA,    /* alpha ignored */
  PLANTED_BETA,     /* beta ignored */
  PLANTED_EARLY,    /* does not wait for the grid before it */
  PLANTED_THIRD,    /* right in two launches */
  PLANTED_ENDLESS,  /* does not end (for a second) */
  PLANTED_BEYOND,   /* reads rows beyond the last of B */
  PLANTED_COUNT
};

enum { PLANTED_TILE = 16, PLANTED_WORKSPACE = 1 << 20 };

/* A kernel's host symbol; arguments A B C M N K lda ldb ldc alpha beta ws, a block of 16 * 16 threads
** for each tile of C, layout nn. */
const void *planted_kernel(int fault, int dtype);

#ifdef __cplusplus
}
#endif
#endif
