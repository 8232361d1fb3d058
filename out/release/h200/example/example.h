/* example.h - what the example's files share
**
** example.c multiplies, checks and times every problem of the release; data.c
** holds the buffers, check.c compares, timing.c times. A one-shot program: the
** first error of CUDA, cuBLAS or libloom ends it with one line and exit code 2.
*/
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "loom.h"

#include <cublas_v2.h>
#include <stdbool.h>
#include <stddef.h>

/* Errors: each ends the program unless the call succeeded. */
void need_cuda(cudaError_t e, const char *what, const char *file, int line);
void need_blas(cublasStatus_t e, const char *what, const char *file, int line);
void need_loom(int status, const char *what, const char *file, int line);
void *need_memory(size_t count, size_t size);
#define CUDA(call) need_cuda(call, #call, __FILE__, __LINE__)
#define BLAS(call) need_blas(call, #call, __FILE__, __LINE__)
#define LOOM(call) need_loom(call, #call, __FILE__, __LINE__)

struct gpu {
  cudaStream_t stream;
  loom_handle *loom;
  cublasHandle_t blas;        /* timed: as a user has it, with a workspace of 64 MiB */
  cublasHandle_t strict_blas; /* checks against it: no reductions in 16 bits */
  void *workspaces[2];
};

/* data.c: one problem's buffers */

/* guard | set 0 | gap | set 1 | gap ... | guard, in elements */
struct ring {
  uint16_t *base;
  size_t used, stride, total;
};

struct data {
  const struct gpu *gpu;
  int layout, type;
  int64_t mnk[3];
  int sets;                    /* together more than any cache holds: operands come from DRAM */
  struct ring a, b, c, base_c; /* c: libloom's; base_c: cuBLAS's */
};

enum { RING_GUARD = 32768, RING_GAP = 128 };

void data_open(struct data *d, const struct gpu *g, int layout, int type, const int64_t mnk[3]);
void data_close(struct data *d);
uint16_t *data_set(const struct ring *r, int set);
void data_poison(const struct ring *r, cudaStream_t stream); /* every element a NaN */

/* Length of a stored row, and how many rows, of operand 0 1 2 = A B C. */
void data_stored(const struct data *d, int layout, int operand, int64_t out[2]);

float data_float(int type, uint16_t bits);
uint16_t data_half(int type, float v);
double data_normal(uint64_t *state); /* N(0,1) */

/* One product on one buffer set: by libloom, by cuBLAS in layout nn or tn or in the problem's. */
void data_run_loom(const struct data *d, int set);
void data_run_blas(const struct data *d, cublasHandle_t blas, int layout, int set);

/* check.c */

enum { CHECK_SETS = 2, CHECK_ROWS = 16 };

struct check {
  const struct data *data;
  int sets, set[CHECK_SETS];
  int rows;
  int64_t row[CHECK_ROWS];
  uint16_t *blas[CHECK_SETS];                 /* all of C by cuBLAS, sums in f32 */
  double *want[CHECK_SETS], *sum[CHECK_SETS]; /* sampled rows of A*B and of |A|*|B|, in double */
  double worst;                               /* largest error / bound in the sampled rows */
};

void check_open(struct check *c, const struct data *d);
void check_close(struct check *c);
/* NULL if libloom's outputs are right, else what is wrong (valid until the next call). */
const char *check_outputs(struct check *c);
/* Products that cuBLAS has to run: odd sizes, alpha and beta, strides. NULL or what is wrong. */
const char *check_fallback(const struct gpu *g);

/* timing.c */

enum { TAPES = 4, MAX_BLOCKS = 256 };
enum tape_name { TAPE_OURS, TAPE_PDL, TAPE_NN, TAPE_TN };

struct timing {
  const struct data *data;
  cudaGraphExec_t exec[TAPES];
  bool served[TAPES]; /* libloom's: every product of the graph is the release's kernel */
  int reps[TAPES], blocks, starved;
  double us[TAPES][2 * MAX_BLOCKS];
  cudaEvent_t begin[2 * TAPES], end[2 * TAPES];
};

struct ratio {
  double mid, lo, hi;
};

void timing_open(struct timing *t, const struct data *d, bool strict);
void timing_close(struct timing *t);
void timing_replay(const struct timing *t, int tape);
/* Keeps 'blocks' more blocks; false if the host cannot keep ahead of the GPU. */
bool timing_run(struct timing *t, int blocks);
void timing_warm_up(struct timing *t);
double timing_us(const struct timing *t, int tape);
/* Time of the faster of nn and tn by that of 'tape', paired by block. */
struct ratio timing_ratio(const struct timing *t, int tape);

#endif
