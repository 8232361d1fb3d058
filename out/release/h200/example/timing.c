/* timing.c - libloom beside cuBLAS, as Warploom's bench times its kernels
**
** A tape is a CUDA graph of back-to-back products that walk the ring. A block
** plays all tapes forwards and backwards (ours, ours with pdl, cuBLAS nn, tn, tn,
** nn ...) without a pause, after one more tape that only keeps the GPU busy while
** the host enqueues. Ratios are taken within a block, so a drifting clock cancels.
*/
#define _POSIX_C_SOURCE 200809L
#include "example.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_REPS = 2048, RESAMPLES = 2000 };
static const double window_us = 1000;
static const double long_warm_up = 0.3, long_problem_us = 100; /* seconds; power limits bite late */

/* Tapes */

static void product(const struct data *d, int tape, int set) {
  if (tape == TAPE_OURS || tape == TAPE_PDL)
    data_run_loom(d, set);
  else
    data_run_blas(d, d->gpu->blas, tape == TAPE_NN ? LOOM_LAYOUT_NN : LOOM_LAYOUT_TN, set);
}

/* How many of the products a kernel of the release made; means nothing on cuBLAS's tapes. */
static int walk(const struct data *d, int tape, int reps) {
  int served = 0;
  for (int i = 0; i < reps; i++) {
    product(d, tape, i % d->sets);
    served += loom_last_path() == LOOM_PATH_KERNEL;
  }
  return served;
}

static double elapsed_us(cudaEvent_t from, cudaEvent_t to) {
  float ms;
  CUDA(cudaEventElapsedTime(&ms, from, to));
  return (double)ms * 1000;
}

/* Microseconds per product of one walk, launched directly: good enough to size a tape. */
static double estimate(struct timing *t, int tape) {
  cudaStream_t s = t->data->gpu->stream;
  CUDA(cudaEventRecord(t->begin[0], s));
  (void)walk(t->data, tape, t->data->sets);
  CUDA(cudaEventRecord(t->end[0], s));
  CUDA(cudaStreamSynchronize(s));
  return fmax(elapsed_us(t->begin[0], t->end[0]) / t->data->sets, 0.1);
}

/* Whole walks, at least about window_us of them. */
static int reps_for(double us, int sets) {
  double walks = ceil(window_us / (us * sets));
  int most = MAX_REPS / sets;
  return sets * (walks < 1 ? 1 : walks < most ? (int)walks : most < 1 ? 1 : most);
}

static void record(struct timing *t, int tape) {
  cudaStream_t s = t->data->gpu->stream;
  cudaGraph_t graph;
  CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  t->served[tape] = walk(t->data, tape, t->reps[tape]) == t->reps[tape];
  CUDA(cudaStreamEndCapture(s, &graph));
  CUDA(cudaGraphInstantiate(&t->exec[tape], graph, 0));
  CUDA(cudaGraphUpload(t->exec[tape], s));
  CUDA(cudaStreamSynchronize(s));
  CUDA(cudaGraphDestroy(graph));
}

void timing_open(struct timing *t, const struct data *d, bool strict) {
  unsigned mode = CUBLAS_DEFAULT_MATH;
  if (strict) mode |= CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  memset(t, 0, sizeof *t);
  t->data = d;
  BLAS(cublasSetMathMode(d->gpu->blas, (cublasMath_t)mode));
  for (int i = 0; i < 2 * TAPES; i++) {
    CUDA(cudaEventCreate(&t->begin[i]));
    CUDA(cudaEventCreate(&t->end[i]));
  }
  for (int tape = 0; tape < TAPES; tape++) {
    LOOM(loom_set_pdl(d->gpu->loom, tape == TAPE_PDL));
    (void)estimate(t, tape); /* kernels are loaded by the first walk */
    t->reps[tape] = tape == TAPE_PDL ? t->reps[TAPE_OURS] : reps_for(estimate(t, tape), d->sets);
    record(t, tape);
  }
  LOOM(loom_set_pdl(d->gpu->loom, 0));
}

void timing_close(struct timing *t) {
  for (int i = 0; i < 2 * TAPES; i++) {
    CUDA(cudaEventDestroy(t->begin[i]));
    CUDA(cudaEventDestroy(t->end[i]));
  }
  for (int i = 0; i < TAPES; i++) CUDA(cudaGraphExecDestroy(t->exec[i]));
}

void timing_replay(const struct timing *t, int tape) {
  CUDA(cudaGraphLaunch(t->exec[tape], t->data->gpu->stream));
  CUDA(cudaStreamSynchronize(t->data->gpu->stream));
}

/* Blocks */

static int tape_of(int window) { return window < TAPES ? window : 2 * TAPES - 1 - window; }

/* False if the GPU was idle before the window's graph was submitted. */
static bool enqueue_window(struct timing *t, int w) {
  cudaStream_t s = t->data->gpu->stream;
  CUDA(cudaEventRecord(t->begin[w], s));
  CUDA(cudaGraphLaunch(t->exec[tape_of(w)], s));
  cudaError_t e = cudaEventQuery(t->begin[w]);
  if (e != cudaErrorNotReady) CUDA(e);
  (void)cudaGetLastError(); /* 'not ready' is kept there, and would pass for a launch's error */
  CUDA(cudaEventRecord(t->end[w], s));
  return e == cudaErrorNotReady;
}

/* One block into slot t->blocks; true if it may be kept. */
static bool run_block(struct timing *t) {
  cudaStream_t s = t->data->gpu->stream;
  bool ahead = true;
  CUDA(cudaGraphLaunch(t->exec[TAPE_NN], s));
  for (int w = 0; w < 2 * TAPES; w++) ahead = enqueue_window(t, w) && ahead;
  CUDA(cudaStreamSynchronize(s));
  for (int w = 0; w < 2 * TAPES; w++) {
    int tape = tape_of(w);
    t->us[tape][2 * t->blocks + (w >= TAPES)] = elapsed_us(t->begin[w], t->end[w]) / t->reps[tape];
  }
  return ahead;
}

static double now(void) {
  struct timespec ts;
  (void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

void timing_warm_up(struct timing *t) {
  double start = now();
  (void)run_block(t);
  double seconds = t->us[TAPE_NN][0] >= long_problem_us ? long_warm_up : 0;
  for (int i = 1; i < 2 || now() - start < seconds; i++) (void)run_block(t);
}

bool timing_run(struct timing *t, int blocks) {
  int target = t->blocks + blocks, tries = 0;
  while (t->blocks < target) {
    if (++tries > 2 * blocks + 8) return false;
    if (run_block(t))
      t->blocks++;
    else
      t->starved++;
  }
  return true;
}

/* Figures */

static int ascending(const void *a, const void *b) {
  double x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

/* Sorts v. */
static double median(double *v, int n) {
  qsort(v, (size_t)n, sizeof *v, ascending);
  return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double timing_us(const struct timing *t, int tape) {
  double copy[2 * MAX_BLOCKS];
  memcpy(copy, t->us[tape], 2 * (size_t)t->blocks * sizeof *copy);
  return median(copy, 2 * t->blocks);
}

/* The median of n values, and the middle 95 % of medians of resampled values. */
static struct ratio bootstrap(const double *v, int n) {
  static double medians[RESAMPLES];
  double sample[MAX_BLOCKS];
  uint64_t state = 1;
  for (int r = 0; r < RESAMPLES; r++) {
    for (int i = 0; i < n; i++) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      sample[i] = v[(state >> 33) * (uint64_t)n >> 31];
    }
    medians[r] = median(sample, n);
  }
  qsort(medians, RESAMPLES, sizeof *medians, ascending);
  memcpy(sample, v, (size_t)n * sizeof *v);
  return (struct ratio){median(sample, n), medians[RESAMPLES / 40],
                        medians[RESAMPLES - 1 - RESAMPLES / 40]};
}

static double log_us(const struct timing *t, int tape, int block) {
  return (log(t->us[tape][2 * block]) + log(t->us[tape][2 * block + 1])) / 2;
}

struct ratio timing_ratio(const struct timing *t, int tape) {
  int base = timing_us(t, TAPE_NN) <= timing_us(t, TAPE_TN) ? TAPE_NN : TAPE_TN;
  double d[MAX_BLOCKS];
  for (int b = 0; b < t->blocks; b++) d[b] = log_us(t, base, b) - log_us(t, tape, b);
  struct ratio r = bootstrap(d, t->blocks);
  return (struct ratio){exp(r.mid), exp(r.lo), exp(r.hi)};
}
