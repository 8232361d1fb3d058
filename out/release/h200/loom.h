/* loom.h - matrix products by measured kernels, else by cuBLAS
**
** C = alpha*A*B + beta*C with 16-bit elements, row-major. A problem of INDEX.tsv
** (exactly its M, N, K, layout and type, with alpha = 1 and beta = 0) runs a
** kernel of this release; everything else is one cublasGemmEx. Both are
** enqueued on the caller's stream; loom_gemm itself neither allocates nor waits,
** and may be captured into a graph.
**
** Functions return a loom_status_id, LOOM_STATUS_OK or not; loom_last_error() has
** the reason in words. Nothing is thrown, printed (but see LOOM_VERBOSE) or
** retried. Environment, read by loom_create: LOOM_VERBOSE=1 says on stderr, once
** a shape, why a call went to cuBLAS; LOOM_PDL=1 is loom_set_pdl(handle, 1).
*/
#ifndef LOOM_H
#define LOOM_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LOOM_API __attribute__((visibility("default")))

typedef struct loom_handle loom_handle;

typedef enum loom_status_id {
  LOOM_STATUS_OK,
  LOOM_STATUS_INVALID, /* an argument is out of its range */
  LOOM_STATUS_DEVICE,  /* the current device is not the one the handle was made on */
  LOOM_STATUS_MEMORY,  /* host or device memory is used up */
  LOOM_STATUS_CUDA,    /* the CUDA runtime said no */
  LOOM_STATUS_CUBLAS   /* cuBLAS said no */
} loom_status_id;

/* How A and B are stored. C is M x N. The first letter is A's, the second B's:
**   NN  A[M][K]  B[K][N]      TN  A[M][K]  B[N][K]
**   NT  A[K][M]  B[K][N]      TT  A[K][M]  B[N][K] */
typedef enum loom_layout_id {
  LOOM_LAYOUT_NN,
  LOOM_LAYOUT_TN,
  LOOM_LAYOUT_NT,
  LOOM_LAYOUT_TT
} loom_layout_id;

/* Type of A, B and C, and of the sums. cuBLAS, where it serves F16_SUM16, sums in f32. */
typedef enum loom_type {
  LOOM_TYPE_F16,      /* IEEE half, sums in f32 */
  LOOM_TYPE_BF16,     /* bfloat16, sums in f32 */
  LOOM_TYPE_F16_SUM16 /* IEEE half, sums in half */
} loom_type;

typedef enum loom_path {
  LOOM_PATH_NONE,   /* nothing was started: an error, or M or N is 0 */
  LOOM_PATH_KERNEL, /* a kernel of this release */
  LOOM_PATH_CUBLAS
} loom_path;

/* Makes a handle for the current device. A kernel that the device cannot run is left out, and its
** problems go to cuBLAS. *out is NULL unless the result is LOOM_STATUS_OK.
**
** Takes at least 128 MiB of device memory: four workspaces, one for each of the first four streams
** with a call that needs one: those to cuBLAS, and those of a kernel that splits K. A stream keeps
** its workspace until loom_destroy. On every stream after these four, and on cudaStreamPerThread,
** kernels that need no workspace run as ever; a problem whose kernel does goes to cuBLAS; and
** cuBLAS works in memory of its own, which it may have to allocate.
** The handle is not told when a stream is destroyed: its workspace stays taken, and passes to a
** later stream only if that has the same cudaStream_t value. So wait for a stream's work before
** destroying it, and rather keep four streams than make new ones. */
LOOM_API int loom_create(loom_handle **out);

/* To be called when the handle's work has ended; NULL is fine. */
LOOM_API int loom_destroy(loom_handle *handle);

/* on = 1: this release's kernels are launched with programmatic dependent launch: a kernel may
** start before its predecessor in the stream has ended, and waits for it before it touches memory.
** Off until it is set. Not to be called while other threads use the handle. */
LOOM_API int loom_set_pdl(loom_handle *handle, int on);

/* Enqueues C = alpha*A*B + beta*C on 'stream'.
**   m, n, k        0 to 2^31 - 1; with m or n = 0 nothing is done
**   lda, ldb, ldc  elements from one row of the stored matrix to the next, at least the row's
**                  length, at most 2^31 - 1; 0 stands for the row's length
**   A, B, C        device pointers, aligned to 2 bytes; this release's kernels want what their
**                  descriptors say (16 bytes, leading dimensions a multiple of 8), else cuBLAS runs
**   alpha, beta    with beta = 0 C is only written
** Threads may share a handle; calls that go to cuBLAS take turns. What a captured graph needs
** belongs to the stream of the capture: do not replay it beside other calls on that stream.
** As with cuBLAS itself, a shape that goes to cuBLAS should run once before it is captured. */
LOOM_API int loom_gemm(loom_handle *handle, cudaStream_t stream, int layout, int type, int64_t m,
                       int64_t n, int64_t k, float alpha, const void *A, int64_t lda, const void *B,
                       int64_t ldb, float beta, void *C, int64_t ldc);

/* 1 if a packed, aligned product of this problem with alpha = 1, beta = 0 runs a kernel of this
** release on the handle's device; 0 if cuBLAS would run. */
LOOM_API int loom_served(const loom_handle *handle, int layout, int type, int64_t m, int64_t n,
                         int64_t k);

/* Which way this thread's last loom_gemm went: a loom_path. */
LOOM_API int loom_last_path(void);

/* The reason of this thread's last failure; "" before the first. Valid until the next. */
LOOM_API const char *loom_last_error(void);

/* A line of INDEX.tsv: the problem, the kernel, what was measured. Ratios are cuBLAS's time (the
** faster of NN and TN) by the kernel's; times are microseconds per launch in a CUDA graph. */
typedef struct loom_problem {
  int layout, type; /* loom_layout_id, loom_type */
  int64_t m, n, k;
  const char *kernel; /* its name in kernels/ */
  double us, us_pdl, cublas_us;
  double ratio, ratio_lo, ratio_hi; /* without pdl: median and 95 % interval */
  double ratio_pdl;                 /* 0, as us_pdl, for a kernel without pdl */
  int cublas_strict; /* 1: measured with CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION */
} loom_problem;

LOOM_API int loom_problem_count(void);

/* The i-th problem, 0 <= i < count, in INDEX.tsv's order. NULL for another i. */
LOOM_API const loom_problem *loom_problem_at(int i);

#ifdef __cplusplus
}
#endif
#endif
