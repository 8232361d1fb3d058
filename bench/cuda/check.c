/* check.c - is an output right?
**
** The comparison itself is a kernel (kernels.cu has the bound); here its counts
** become a verdict with a reason. The order of the rules is the order of what
** says most: an unwritten element, a wrong one, then the root mean square.
*/
#include "check.h"

#include "kernels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void check_begin(struct verdict *v) {
  memset(v, 0, sizeof *v);
  v->row = v->col = -1;
}

void check_wrong(struct verdict *v, const char *format, ...) {
  if (v->wrong) return;
  va_list args;
  va_start(args, format);
  vsnprintf(v->why, sizeof v->why, format, args);
  va_end(args);
  v->wrong = true;
}

bool check_poison(struct problem *p, struct ring *c, struct fault *f) {
  return CUDA(f, kernels_poison(c->base, p->dtype, c->total, p->gpu->stream));
}

double check_value(uint16_t bits, int dtype) {
  int width = dtype == LOOM_F16 ? 10 : 7, bias = dtype == LOOM_F16 ? 15 : 127;
  int exponent = (bits & 0x7fff) >> width, fraction = bits & ((1 << width) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - bias - width);
  return sign * ldexp(fraction + (1 << width), exponent - bias - width);
}

/* Of the rows from 'row' on, that c and ref point to. */
static bool show_element(struct problem *p, const void *c, const double *ref, int64_t row,
                         uint64_t at, struct verdict *v, struct fault *f) {
  uint16_t bits;
  if (!CUDA(f, cudaMemcpy(&bits, (const char *)c + 2 * at, 2, cudaMemcpyDeviceToHost)) ||
      !CUDA(f, cudaMemcpy(&v->want, ref + at, sizeof v->want, cudaMemcpyDeviceToHost)))
    return false;
  v->got = check_value(bits, p->dtype);
  v->row = row + (long long)(at / (uint64_t)p->mnk[LOOM_N]);
  v->col = (long long)(at % (uint64_t)p->mnk[LOOM_N]);
  return true;
}

static double rms_of(const struct kernels_diff *d) {
  if (d->err2 == 0) return 0;
  return sqrt(d->err2 / d->round2); /* infinite where rounding is exact and the output is not */
}

/* How many 2^-23 of |A||B| an element may be off beside its rounding. Tensor cores truncate after
** every 16 k, always towards zero, so the error grows with K: 4 is enough up to some 4,000 (at most
** 0.97 of the bound seen), and at K = 8192 cuBLAS exceeds it in one element of 67 million. Lost k16
** slices and fp16 accumulation stay far outside, here or in the root mean square.
** fp16 accumulation rounds to 2^-11 after every 16 k instead: K/16 + 1 of those. */
static double slack(const struct problem *p) {
  double k = (double)p->mnk[LOOM_K];
  return p->acc == LOOM_ACC_F16 ? (k / 16 + 1) * 4096 : 4 + k / 2048;
}

/* The most an output's root mean square error may be, in that of rounding it once. fp32
** accumulation comes to 1.01 and fp16 accumulation to 1.36 and more: n = K/16 roundings of partial
** sums that grow like their number's root make sqrt((n+1)/2). Twice that is allowed where it is
** asked for; a lost slice of 16 is at 5,000 / sqrt(n). */
static double most_rms(const struct problem *p) {
  double n = (double)p->mnk[LOOM_K] / 16;
  return p->acc == LOOM_ACC_F16 ? fmax(1.15, 2 * sqrt((n + 1) / 2)) : 1.15;
}

static bool compare(struct problem *p, const void *c, size_t n, const double *ref,
                    const double *abs, struct kernels_diff *out, struct fault *f) {
  void *device = p->gpu->scratch;
  cudaStream_t s = p->gpu->stream;
  return CUDA(f, kernels_compare(c, p->dtype, ref, abs, n, slack(p), device, s)) &&
         CUDA(f, cudaStreamSynchronize(s)) &&
         CUDA(f, cudaMemcpy(out, device, sizeof *out, cudaMemcpyDeviceToHost));
}

bool check_rows(struct problem *p, struct ring *c, int set, int64_t row, int64_t rows,
                const double *ref, const double *abs, const char *what, struct verdict *v,
                struct fault *f) {
  struct kernels_diff d;
  uint64_t first = (uint64_t)row * (uint64_t)p->mnk[LOOM_N];
  size_t n = (size_t)rows * (size_t)p->mnk[LOOM_N];
  const char *at = (const char *)problem_set(c, set) + 2 * first;
  if (!compare(p, at, n, ref, abs, &d, f)) return false;
  double worst, rms = rms_of(&d);
  memcpy(&worst, &d.worst, sizeof worst);
  v->err = fmax(v->err, worst);
  v->rms = fmax(v->rms, rms);
  if (d.unwritten)
    check_wrong(v, "%s: %llu of %zu elements not written in set %d", what, d.unwritten, n, set);
  if (d.bad)
    check_wrong(v, "%s: %llu of %zu elements out of bound in set %d, the worst %.3g times", what,
                d.bad, n, set, worst);
  if (!(rms <= most_rms(p)))
    check_wrong(v, "%s: root mean square error is %.4g of rounding's in set %d", what, rms, set);
  if (!v->wrong) v->checked++;
  return d.bad == 0 || show_element(p, at, ref, row, d.first, v, f);
}

static bool check_set(struct problem *p, struct ring *c, int layout, int i, const char *what,
                      struct verdict *v, struct fault *f) {
  const double *ref, *abs;
  return problem_reference(p, layout, i, &ref, &abs, f) &&
         check_rows(p, c, p->check_set[i], 0, p->mnk[LOOM_M], ref, abs, what, v, f);
}

/* Runs a counting kernel that writes one number. */
static bool count_lost(struct problem *p, struct ring *r, unsigned long long *out,
                       struct fault *f) {
  void *device = p->gpu->scratch;
  cudaStream_t s = p->gpu->stream;
  return CUDA(f,
              kernels_gaps(r->base, p->dtype, r->total, r->lead, r->stride, r->used, device, s)) &&
         CUDA(f, cudaStreamSynchronize(s)) &&
         CUDA(f, cudaMemcpy(out, device, sizeof *out, cudaMemcpyDeviceToHost));
}

bool check_outputs(struct problem *p, struct ring *c, int layout, const char *what,
                   struct verdict *v, struct fault *f) {
  unsigned long long lost = 0;
  for (int i = 0; i < p->checks && !v->wrong; i++)
    if (!check_set(p, c, layout, i, what, v, f)) return false;
  if (v->wrong) return true;
  if (!count_lost(p, c, &lost, f)) return false;
  if (lost) check_wrong(v, "%s: wrote %llu elements outside of C", what, lost);
  return true;
}

bool check_sum(struct problem *p, struct check_sums *out, struct fault *f) {
  unsigned long long *sums = p->gpu->scratch;
  cudaStream_t s = p->gpu->stream;
  return CUDA(f, kernels_checksum(p->a.base, 2 * p->a.total, &sums[0], s)) &&
         CUDA(f, kernels_checksum(p->b.base, 2 * p->b.total, &sums[1], s)) &&
         CUDA(f, cudaStreamSynchronize(s)) &&
         CUDA(f, cudaMemcpy(out, sums, sizeof *out, cudaMemcpyDeviceToHost));
}

bool check_inputs(struct problem *p, const struct check_sums *before, const char *what,
                  struct verdict *v, struct fault *f) {
  struct check_sums now;
  if (!check_sum(p, &now, f)) return false;
  if (now.a != before->a) check_wrong(v, "%s: changed A", what);
  if (now.b != before->b) check_wrong(v, "%s: changed B", what);
  return true;
}
