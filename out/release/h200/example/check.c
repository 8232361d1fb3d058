/* check.c - are libloom's products right?
**
** Two references. All of C against cuBLAS with sums in f32: no element is
** missed. Sampled rows against sums in double: cuBLAS is not trusted blindly. C
** is all NaN before each check, and no comparison lets a NaN pass.
**
** An element may be off by its rounding and by the tensor cores' truncation of
** partial sums: 1.01 u |c| + (4 + K/2048) 2^-23 |A||B|, Warploom's own bound.
*/
#include "example.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double most_products = 1 << 28; /* of sampled rows, a set: a second or so */

__attribute__((format(printf, 1, 2))) static const char *say(const char *format, ...) {
  static char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  return text;
}

static double unit(int type) { return type == LOOM_TYPE_BF16 ? 0x1p-8 : 0x1p-11; }

static double bound(int type, double c, double sum, double k) {
  double sums = type == LOOM_TYPE_F16_SUM16 ? 8 * 0x1p-11 : (4 + k / 2048) * 0x1p-23;
  return 1.01 * unit(type) * fabs(c) + sums * sum + 0x1p-25;
}

/* References */

static uint16_t *fetch(const uint16_t *from, size_t n) {
  uint16_t *out = need_memory(n, sizeof *out);
  CUDA(cudaMemcpy(out, from, n * sizeof *out, cudaMemcpyDeviceToHost));
  return out;
}

static float *fetch_floats(const uint16_t *from, size_t n, int type) {
  uint16_t *bits = fetch(from, n);
  float *out = need_memory(n, sizeof *out);
  for (size_t i = 0; i < n; i++) out[i] = data_float(type, bits[i]);
  free(bits);
  return out;
}

/* Row 'row' of A*B and of |A|*|B|: k outside where B's rows lie along n, else dot products. */
static void reference_row(const struct data *d, const float *a, const float *b, int64_t row,
                          double *want, double *sum) {
  int64_t m = d->mnk[0], n = d->mnk[1], k = d->mnk[2];
  bool swap_a = d->layout == LOOM_LAYOUT_NT || d->layout == LOOM_LAYOUT_TT;
  bool swap_b = d->layout == LOOM_LAYOUT_TN || d->layout == LOOM_LAYOUT_TT;
  memset(want, 0, (size_t)n * sizeof *want);
  memset(sum, 0, (size_t)n * sizeof *sum);
  for (int64_t i = 0; i < k && !swap_b; i++) {
    double left = a[swap_a ? i * m + row : row * k + i];
    for (int64_t j = 0; j < n; j++) {
      want[j] += left * b[i * n + j];
      sum[j] += fabs(left * b[i * n + j]);
    }
  }
  for (int64_t j = 0; j < n && swap_b; j++)
    for (int64_t i = 0; i < k; i++) {
      double product = (double)a[swap_a ? i * m + row : row * k + i] * b[j * k + i];
      want[j] += product;
      sum[j] += fabs(product);
    }
}

static void reference(struct check *c, int i) {
  const struct data *d = c->data;
  size_t n = (size_t)d->mnk[1];
  data_run_blas(d, d->gpu->strict_blas, d->layout, c->set[i]);
  CUDA(cudaStreamSynchronize(d->gpu->stream));
  c->blas[i] = fetch(data_set(&d->base_c, c->set[i]), d->c.used);
  float *a = fetch_floats(data_set(&d->a, c->set[i]), d->a.used, d->type);
  float *b = fetch_floats(data_set(&d->b, c->set[i]), d->b.used, d->type);
  c->want[i] = need_memory(n * (size_t)c->rows, sizeof(double));
  c->sum[i] = need_memory(n * (size_t)c->rows, sizeof(double));
  for (int r = 0; r < c->rows; r++)
    reference_row(d, a, b, c->row[r], c->want[i] + (size_t)r * n, c->sum[i] + (size_t)r * n);
  free(a);
  free(b);
}

void check_open(struct check *c, const struct data *d) {
  memset(c, 0, sizeof *c);
  c->data = d;
  c->sets = CHECK_SETS;
  c->set[1] = d->sets - 1;
  double rows = most_products / ((double)d->mnk[1] * (double)d->mnk[2]);
  c->rows = rows > CHECK_ROWS ? CHECK_ROWS : rows < 2 ? 2 : (int)rows;
  if (c->rows > d->mnk[0]) c->rows = (int)d->mnk[0];
  for (int r = 0; r < c->rows; r++) /* first and last row are among them */
    c->row[r] = c->rows > 1 ? r * (d->mnk[0] - 1) / (c->rows - 1) : 0;
  for (int i = 0; i < c->sets; i++) reference(c, i);
}

void check_close(struct check *c) {
  for (int i = 0; i < c->sets; i++) {
    free(c->blas[i]);
    free(c->want[i]);
    free(c->sum[i]);
  }
}

/* Comparisons */

/* Against cuBLAS both sides may be off; |A||B| is estimated: of N(0,1) its mean is 0.64 K. */
static const char *against_blas(const struct check *c, int i, const uint16_t *got) {
  const struct data *d = c->data;
  double k = (double)d->mnk[2], sum = k + 8 * sqrt(k) + 16;
  for (size_t at = 0; at < d->c.used; at++) {
    double ours = data_float(d->type, got[at]), blas = data_float(d->type, c->blas[i][at]);
    if (!(fabs(ours - blas) <= 2 * bound(d->type, fmax(fabs(ours), fabs(blas)), sum, k)))
      return say("C[%zu][%zu] of set %d is %g, cuBLAS says %g", at / (size_t)d->mnk[1],
                 at % (size_t)d->mnk[1], c->set[i], ours, blas);
  }
  return NULL;
}

static const char *against_double(struct check *c, int i, const uint16_t *got) {
  const struct data *d = c->data;
  for (int r = 0; r < c->rows; r++)
    for (int64_t j = 0; j < d->mnk[1]; j++) {
      size_t at = (size_t)(r * d->mnk[1] + j);
      double ours = data_float(d->type, got[c->row[r] * d->mnk[1] + j]), want = c->want[i][at];
      double off = fabs(ours - want) / bound(d->type, want, c->sum[i][at], (double)d->mnk[2]);
      if (!(off <= 1))
        return say("C[%lld][%lld] of set %d is %.8g, in double %.8g: %.2g times the bound",
                   (long long)c->row[r], (long long)j, c->set[i], ours, want, off);
      c->worst = fmax(c->worst, off);
    }
  return NULL;
}

/* Nothing may be written outside of C: guards and the gap after each set are still all ones. */
static const char *outside(const struct data *d) {
  const struct ring *r = &d->c;
  size_t gap = r->stride - r->used, sets = (size_t)d->sets;
  size_t n = 2 * (size_t)RING_GUARD + gap * sets, lost = 0;
  uint16_t *all = need_memory(n, sizeof *all);
  CUDA(cudaMemcpy(all, r->base, RING_GUARD * sizeof *all, cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(all + RING_GUARD, r->base + r->total - RING_GUARD, RING_GUARD * sizeof *all,
                  cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy2D(all + 2 * RING_GUARD, gap * sizeof *all, data_set(r, 0) + r->used,
                    r->stride * sizeof *all, gap * sizeof *all, sets, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < n; i++) lost += all[i] != 0xffff;
  free(all);
  return lost ? say("%zu elements outside of C were written", lost) : NULL;
}

const char *check_outputs(struct check *c) {
  const char *wrong = outside(c->data);
  for (int i = 0; i < c->sets && !wrong; i++) {
    uint16_t *got = fetch(data_set(&c->data->c, c->set[i]), c->data->c.used);
    wrong = against_blas(c, i, got);
    if (!wrong) wrong = against_double(c, i, got);
    free(got);
  }
  return wrong;
}

/* The fallback */

enum { F_M = 77, F_N = 65, F_K = 33, F_PAD = 3 };

struct operand {
  int64_t ld;
  size_t n;
  uint16_t *host, *device;
};

static struct operand operand_open(int64_t row, int64_t rows, int type, uint64_t seed) {
  struct operand o = {.ld = row + F_PAD, .n = (size_t)((row + F_PAD) * rows)};
  o.host = need_memory(o.n, sizeof *o.host);
  for (size_t i = 0; i < o.n; i++) o.host[i] = data_half(type, (float)data_normal(&seed));
  void *device = NULL;
  CUDA(cudaMalloc(&device, o.n * sizeof *o.host));
  CUDA(cudaMemcpy(device, o.host, o.n * sizeof *o.host, cudaMemcpyHostToDevice));
  o.device = device;
  return o;
}

static void operand_close(struct operand *o) {
  free(o->host);
  CUDA(cudaFree(o->device));
}

static const char *compare_fallback(const struct operand o[3], int layout, int type, float alpha,
                                    float beta, const uint16_t *got) {
  bool swap_a = layout == LOOM_LAYOUT_NT || layout == LOOM_LAYOUT_TT;
  bool swap_b = layout == LOOM_LAYOUT_TN || layout == LOOM_LAYOUT_TT;
  for (int64_t r = 0; r < F_M; r++)
    for (int64_t j = 0; j < o[2].ld; j++) {
      double c = data_float(type, o[2].host[r * o[2].ld + j]), want = 0, sum = 0;
      double ours = data_float(type, got[r * o[2].ld + j]);
      for (int64_t k = 0; k < F_K && j < F_N; k++) {
        double a = data_float(type, o[0].host[swap_a ? k * o[0].ld + r : r * o[0].ld + k]);
        double b = data_float(type, o[1].host[swap_b ? j * o[1].ld + k : k * o[1].ld + j]);
        want += a * b;
        sum += fabs(a * b);
      }
      want = j < F_N ? (double)alpha * want + (double)beta * c : c; /* padding stays */
      if (!(fabs(ours - want) <= 2 * bound(type, want, sum + fabs(c), F_K)))
        return say("cuBLAS path: layout %d type %d C[%lld][%lld] is %g, should be %g", layout, type,
                   (long long)r, (long long)j, ours, want);
    }
  return NULL;
}

static const char *one_fallback(const struct gpu *g, int layout, int type) {
  const float alpha = 0.5f, beta = -2.0f;
  struct data d = {.mnk = {F_M, F_N, F_K}};
  struct operand o[3];
  for (int i = 0; i < 3; i++) {
    int64_t size[2];
    data_stored(&d, layout, i, size);
    o[i] = operand_open(size[0], size[1], type, (uint64_t)(7 + i));
  }
  LOOM(loom_gemm(g->loom, g->stream, layout, type, F_M, F_N, F_K, alpha, o[0].device, o[0].ld,
                 o[1].device, o[1].ld, beta, o[2].device, o[2].ld));
  const char *wrong = NULL;
  if (loom_last_path() != LOOM_PATH_CUBLAS) wrong = say("an odd problem did not go to cuBLAS");
  CUDA(cudaStreamSynchronize(g->stream));
  uint16_t *got = fetch(o[2].device, o[2].n);
  if (!wrong) wrong = compare_fallback(o, layout, type, alpha, beta, got);
  free(got);
  for (int i = 0; i < 3; i++) operand_close(&o[i]);
  return wrong;
}

const char *check_fallback(const struct gpu *g) {
  const char *wrong = NULL;
  for (int layout = LOOM_LAYOUT_NN; layout <= LOOM_LAYOUT_TT && !wrong; layout++)
    for (int type = LOOM_TYPE_F16; type <= LOOM_TYPE_BF16 && !wrong; type++)
      wrong = one_fallback(g, layout, type);
  return wrong;
}
