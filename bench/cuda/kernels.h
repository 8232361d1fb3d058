/* kernels.h - the worker's own device code, called from C
**
** Everything is enqueued on 's' and returns the launch's error. dtype is enum
** loom_dtype; elements are 16 bits wide. 'out' pointers are device memory.
*/
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NaNs that no arithmetic produces: an element that still holds one was not written. */
enum { KERNELS_MARK_F16 = 0x7e5a, KERNELS_MARK_BF16 = 0x7fda };

struct kernels_diff {
  unsigned long long bad;       /* elements out of bound; NaN is out of bound */
  unsigned long long unwritten; /* of those, elements that hold the mark */
  unsigned long long first;     /* index of the first bad one; ~0 for none */
  unsigned long long worst;     /* bits of the largest |C - C*| / bound as a double */
  double err2, round2;          /* sums of (C - C*)^2 and (round(C*) - C*)^2 */
};

/* n values of N(0,1); the i-th depends on (seed, i) alone. */
cudaError_t kernels_fill(void *out, int dtype, size_t n, uint64_t seed, cudaStream_t s);
cudaError_t kernels_poison(void *out, int dtype, size_t n, cudaStream_t s);
/* A 64-bit sum that every bit and its place enter; bytes is a multiple of 8. */
cudaError_t kernels_checksum(const void *in, size_t bytes, unsigned long long *out, cudaStream_t s);
cudaError_t kernels_widen(double *out, const void *in, int dtype, bool absolute, size_t n,
                          cudaStream_t s);
/* C against C* and |A||B|; see kernels.cu for the bound and slack. Sets *out up itself. */
cudaError_t kernels_compare(const void *c, int dtype, const double *ref, const double *abs,
                            size_t n, double slack, struct kernels_diff *out, cudaStream_t s);
/* Counts elements outside of the sets (set i: stride*i + lead, 'used' long) that lost their mark.
 */
cudaError_t kernels_gaps(const void *ring, int dtype, size_t total, size_t lead, size_t stride,
                         size_t used, unsigned long long *out, cudaStream_t s);
/* Changes one element in 64, for good or, with the same seed, back. */
cudaError_t kernels_touch(void *x, int dtype, size_t n, uint64_t seed, cudaStream_t s);
/* N(0,1) in the sets of a ring, the mark outside of them. */
cudaError_t kernels_litter(void *ring, int dtype, size_t total, size_t lead, size_t stride,
                           size_t used, uint64_t seed, cudaStream_t s);
/* C* rounded, and a random half of its elements changed. */
cudaError_t kernels_half_right(void *c, int dtype, const double *ref, size_t n, uint64_t seed,
                               cudaStream_t s);
/* Reads every byte of a buffer and keeps nothing: what a cache held before gives way to it. */
cudaError_t kernels_sweep(const void *in, size_t bytes, cudaStream_t s);
/* out[0] = cycles of SM 0, out[1] = nanoseconds, both counters' present values. */
cudaError_t kernels_clock(unsigned long long out[2], int sms, cudaStream_t s);
/* What stands between two products of a chain: one wave of CTAs reads a little of a C, all over it, and
** writes as much of the A of the next, xor c & bits: with 0 what was there. pdl: it may start before
** its predecessor ends, and lets its successor start at once. It waits before it touches memory. */
cudaError_t kernels_link(const void *c, size_t c_n, void *a, size_t a_n, unsigned bits, int sms,
                         bool pdl, cudaStream_t s);
/* Keeps the stream busy for about 'us' microseconds, so that the host can enqueue what follows. It
** ends by itself, also where the timer stands still. */
cudaError_t kernels_wait(unsigned us, cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
