/* data.c - the buffers of one problem, and a product on them
**
** As in Warploom's bench: rings of buffer sets of at least 256 MiB, sets apart
** by a gap, guards at both ends. The values are N(0,1): zeros or constants would
** draw less power and run at a higher clock than real data.
*/
#include "example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MAX_SETS = 1024,
  POOL = 16777259
}; /* a prime: copies of the pool do not line up with rows */
static const double ring_bytes = 256.0 * 1024 * 1024;

/* 16-bit floats */

float data_float(int type, uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, all;
  float v;
  if (type == LOOM_TYPE_BF16) {
    all = (uint32_t)bits << 16;
  } else {
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 0) return (sign ? -1.0f : 1.0f) * (float)fraction * 0x1p-24f;
    all = sign | (exponent == 31 ? 255u : exponent + 112) << 23 | fraction << 13;
  }
  memcpy(&v, &all, sizeof v);
  return v;
}

/* To nearest, ties to even. Values here are small: no overflow but to infinity. */
uint16_t data_half(int type, float v) {
  uint32_t all;
  memcpy(&all, &v, sizeof all);
  if (type == LOOM_TYPE_BF16) return (uint16_t)((all + 0x7fff + (all >> 16 & 1)) >> 16);
  uint32_t sign = all >> 16 & 0x8000, size = all & 0x7fffffff;
  if (size >= 0x47800000) return (uint16_t)(sign | 0x7c00);
  if (size < 0x38800000) /* below the least normal: fixed point */
    return (uint16_t)(sign | (uint32_t)lrintf(fabsf(v) * 0x1p24f));
  return (uint16_t)(sign | (size - 0x38000000 + 0xfff + (size >> 13 & 1)) >> 13);
}

/* splitmix64, Box-Muller */
static double uniform(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

double data_normal(uint64_t *state) {
  double r = sqrt(-2 * log(uniform(state)));
  return r * cos(6.283185307179586 * uniform(state));
}

/* Rings */

static const uint16_t *pool_of(int type) {
  static uint16_t *pools[2]; /* made once; freed at exit */
  uint16_t **pool = &pools[type == LOOM_TYPE_BF16];
  if (*pool) return *pool;
  uint16_t *values = need_memory(POOL, sizeof *values);
  uint64_t state = 1;
  for (size_t i = 0; i < POOL; i++) values[i] = data_half(type, (float)data_normal(&state));
  void *device = NULL;
  CUDA(cudaMalloc(&device, POOL * sizeof *values));
  CUDA(cudaMemcpy(device, values, POOL * sizeof *values, cudaMemcpyHostToDevice));
  free(values);
  return *pool = device;
}

void data_stored(const struct data *d, int layout, int operand, int64_t out[2]) {
  bool swap_a = layout == LOOM_LAYOUT_NT || layout == LOOM_LAYOUT_TT;
  bool swap_b = layout == LOOM_LAYOUT_TN || layout == LOOM_LAYOUT_TT;
  int64_t m = d->mnk[0], n = d->mnk[1], k = d->mnk[2];
  int64_t plain[3][2] = {{k, m}, {n, k}, {n, m}}; /* row length, rows */
  bool swap = operand == 0 ? swap_a : operand == 1 && swap_b;
  out[0] = plain[operand][swap];
  out[1] = plain[operand][!swap];
}

uint16_t *data_set(const struct ring *r, int set) {
  return r->base + RING_GUARD + (size_t)set * r->stride;
}

void data_poison(const struct ring *r, cudaStream_t stream) {
  CUDA(cudaMemsetAsync(r->base, 0xff, r->total * sizeof *r->base, stream));
}

/* The pool again and again; 'start' keeps A and B apart. */
static void fill(const struct data *d, const struct ring *r, size_t start) {
  const uint16_t *pool = pool_of(d->type);
  for (size_t at = 0, from = start; at < r->total; from = 0) {
    size_t n = POOL - from < r->total - at ? POOL - from : r->total - at;
    CUDA(cudaMemcpyAsync(r->base + at, pool + from, n * sizeof *pool, cudaMemcpyDeviceToDevice,
                         d->gpu->stream));
    at += n;
  }
}

static void ring_open(struct data *d, struct ring *r, int operand) {
  int64_t size[2];
  void *base = NULL;
  data_stored(d, d->layout, operand, size);
  r->used = (size_t)(size[0] * size[1]);
  r->stride = (r->used + 2 * RING_GAP - 1) / RING_GAP * RING_GAP;
  r->total = 2 * (size_t)RING_GUARD + r->stride * (size_t)d->sets;
  CUDA(cudaMalloc(&base, r->total * sizeof *r->base));
  r->base = base;
}

static int sets_for(const int64_t mnk[3]) {
  double m = (double)mnk[0], n = (double)mnk[1], k = (double)mnk[2];
  double sets = ceil(ring_bytes / (2 * (m * k + k * n + m * n)));
  return sets > MAX_SETS ? MAX_SETS : sets < 2 ? 2 : (int)sets;
}

void data_open(struct data *d, const struct gpu *g, int layout, int type, const int64_t mnk[3]) {
  memset(d, 0, sizeof *d);
  d->gpu = g;
  d->layout = layout;
  d->type = type;
  memcpy(d->mnk, mnk, sizeof d->mnk);
  d->sets = sets_for(mnk);
  ring_open(d, &d->a, 0);
  ring_open(d, &d->b, 1);
  ring_open(d, &d->c, 2);
  ring_open(d, &d->base_c, 2);
  fill(d, &d->a, 0);
  fill(d, &d->b, POOL / 2);
  data_poison(&d->c, g->stream);
  data_poison(&d->base_c, g->stream);
  CUDA(cudaStreamSynchronize(g->stream));
}

void data_close(struct data *d) {
  struct ring *const rings[] = {&d->a, &d->b, &d->c, &d->base_c};
  for (int i = 0; i < 4; i++) CUDA(cudaFree(rings[i]->base));
}

/* Products */

void data_run_loom(const struct data *d, int set) {
  LOOM(loom_gemm(d->gpu->loom, d->gpu->stream, d->layout, d->type, d->mnk[0], d->mnk[1], d->mnk[2],
                 1.0f, data_set(&d->a, set), 0, data_set(&d->b, set), 0, 0.0f, data_set(&d->c, set),
                 0));
}

/* Row-major C = A*B is column-major C^T = B^T * A^T. */
void data_run_blas(const struct data *d, cublasHandle_t blas, int layout, int set) {
  const float one = 1, zero = 0;
  int64_t a[2], b[2];
  data_stored(d, layout, 0, a);
  data_stored(d, layout, 1, b);
  cudaDataType_t type = d->type == LOOM_TYPE_BF16 ? CUDA_R_16BF : CUDA_R_16F;
  bool swap_a = layout == LOOM_LAYOUT_NT || layout == LOOM_LAYOUT_TT;
  bool swap_b = layout == LOOM_LAYOUT_TN || layout == LOOM_LAYOUT_TT;
  BLAS(cublasGemmEx(blas, swap_b ? CUBLAS_OP_T : CUBLAS_OP_N, swap_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                    (int)d->mnk[1], (int)d->mnk[0], (int)d->mnk[2], &one, data_set(&d->b, set),
                    type, (int)b[0], data_set(&d->a, set), type, (int)a[0], &zero,
                    data_set(&d->base_c, set), type, (int)d->mnk[1], CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT));
}
