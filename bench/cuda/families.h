/* families.h - products whose every result is known exactly, whatever the order of the sums
**
** The same families as on the CPU device (bench/cpu/families.h). Operands are
** functions of (seed, row, column): the device computes them where it needs
** them, for the operands, for the right result and to see that the operands were
** left alone. C and CUDA read this file.
*/
#ifndef BENCH_FAMILIES_H
#define BENCH_FAMILIES_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum family_kind {
  FAMILY_TERNARY, /* A and B of -1, 0, 1: small integers all the way */
  FAMILY_CANCEL,  /* the same with pairs of large products that cancel */
  FAMILY_ONEHOT,  /* rows of A pick rows of B, which holds any numbers */
  FAMILY_SLICE,   /* each row of A lives in one sixteenth of K */
  FAMILY_SPECIAL, /* one NaN in A, one Inf in B, zeros around them */
  FAMILY_RANDOM   /* any numbers of a few exponents; what is right is not known */
};

/* What C holds before a launch, beside the mark that is around and between its rows. */
enum family_start {
  START_MARK,
  START_NUMBERS, /* small integers, for beta */
  START_HALF     /* the right result with a random half of it changed */
};

enum { FAMILY_PAIRS = 4, FAMILY_GUARD = 1024 }; /* marked elements before C */

struct family {
  int kind, dtype;
  bool narrow;     /* fp16 accumulation is asked for: smaller numbers cancel */
  bool swapped[2]; /* A and B as stored */
  int m, n, k, ld[3];
  uint64_t seed, change; /* change: 0, or another seed for one element of A and B in 64 */
  float alpha, beta;
  int pairs, k1[FAMILY_PAIRS], k2[FAMILY_PAIRS]; /* of cancel */
  int each, step, first;                         /* of onehot: k picked by a row, and their order */
  int width, slices;                             /* of slice, with first */
  int nan_m, nan_k, inf_k, inf_n;                /* of special */
};

/* Draws what the kind needs; the other fields are set before. */
void family_draw(struct family *f);

/* Elements from the first of A or B (LOOM_A, LOOM_B) to the last of its last row. C has the gap behind
** its last row too: what is written there should be counted, not be an illegal address. */
size_t family_extent(const struct family *f, int operand);

/* splitmix64, for draws on the host */
uint64_t family_random(uint64_t *state);
int family_below(uint64_t *state, int n);

/* On the device: everything is enqueued on 's'. 'want' is m x n, packed. */

struct family_diff {
  unsigned long long bad;       /* elements that are not the right ones */
  unsigned long long unwritten; /* of those, elements that hold the mark */
  unsigned long long beside;    /* marks lost before C and between its rows */
  unsigned long long last;      /* 1 + index of the last bad one */
  unsigned long long inputs[2]; /* elements of A and B that changed */
};

/* Writes A or B as stored, NaN between its rows. */
cudaError_t family_fill(const struct family *f, int operand, void *out, cudaStream_t s);
cudaError_t family_want(const struct family *f, void *want, cudaStream_t s);
cudaError_t family_start(const struct family *f, int start, const void *want, void *c,
                         cudaStream_t s);
/* Adds to *diff. NaN is right where the right result is one, zeros have no sign. */
cudaError_t family_compare(const struct family *f, const void *c, const void *want,
                           struct family_diff *diff, cudaStream_t s);
cudaError_t family_intact(const struct family *f, int operand, const void *in,
                          struct family_diff *diff, cudaStream_t s);
/* C becomes what is wanted: for what must repeat itself. */
cudaError_t family_keep(const struct family *f, const void *c, void *want, cudaStream_t s);
/* Allows the next grid of the stream to start, waits, and only then writes A and B. */
cudaError_t family_late(const struct family *f, void *a, void *b, unsigned us, cudaStream_t s);
/* Keeps about half of the SMs busy, others with each seed, for 10 to 40 us. */
cudaError_t family_noise(uint64_t seed, int sms, cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
