/* problem.c - the ring of buffer sets and the FP64 references
**
** The reference is cublasDgemm on the operands as doubles; |A||B|, which the
** element bound needs, is a second one on their absolute values. References of
** the checked sets stay on the device where they fit (16384^2 takes 4 GiB a
** set), for one layout at a time; else each check computes its own again.
*/
#include "problem.h"

#include "kernels.h"

#include <math.h>
#include <string.h>

enum { GUARD = 32768, GAP = 128, MAX_SETS = 1024 };   /* elements, elements, sets */
static const double ring_bytes = 256.0 * 1024 * 1024; /* more where L2 asks for it; see MAX_SETS */
static const double l2_times = 3;
/* Work from which a lean problem checks one set only: above, its reference takes as long as its
** measurement (some 2 ms for each of 4 products a set on a part with fast FP64). */
static const double lean_flops = 1e11;

int64_t problem_elements(const struct problem *p, int operand) {
  int dims[2];
  loom_stored_dims(LOOM_NN, operand, dims);
  return p->mnk[dims[0]] * p->mnk[dims[1]];
}

static double set_bytes(const struct problem *p) {
  double bytes = 0;
  for (int i = LOOM_A; i <= LOOM_C; i++) bytes += 2.0 * (double)problem_elements(p, i);
  return bytes;
}

/* So much read or written in between, and nothing is left in L2 of what was there before. */
static double flushing_bytes(const struct problem *p) {
  return l2_times * (double)p->gpu->prop.l2CacheSize;
}

static int sets_for(const struct problem *p) {
  if (p->hot) return 1;
  double sets = fmax(ring_bytes, flushing_bytes(p)) / set_bytes(p);
  if (sets > MAX_SETS) return MAX_SETS;
  int whole = (int)sets + ((double)(int)sets < sets);
  return whole < 2 ? 2 : whole;
}

/* L2 that the ring does not fill */

static bool sweep_open(struct problem *p, struct fault *f) {
  if (p->hot || p->sets * set_bytes(p) >= flushing_bytes(p)) return true;
  p->sweep.bytes = (size_t)fmax(ring_bytes, flushing_bytes(p));
  return gpu_take(p->gpu, f, &p->sweep.base, p->sweep.bytes, "a buffer to sweep L2 with");
}

bool problem_sweep(const struct problem *p, struct fault *f) {
  return !p->sweep.base || CUDA(f, kernels_sweep(p->sweep.base, p->sweep.bytes, p->gpu->stream));
}

int problem_reps(const struct problem *p, double us) {
  return p->sweep.base ? p->sets : timer_reps(us, p->sets);
}

bool problem_timer(const struct problem *p, struct timer *t, struct fault *f) {
  if (!timer_open(t, f)) return false;
  t->lead = &p->base[0];
  t->sweep = p->sweep;
  return true;
}

/* Ring */

void *problem_set(const struct ring *r, int set) {
  return (char *)r->base + 2 * (r->lead + (size_t)set * r->stride);
}

static void ring_shape(const struct problem *p, struct ring *r, int operand) {
  r->used = (size_t)problem_elements(p, operand);
  r->stride = (r->used + 2 * GAP - 1) / GAP * GAP; /* 256-byte aligned sets, a gap after each */
  r->lead = GUARD;
  r->total = 2 * r->lead + r->stride * (size_t)p->sets;
}

static bool ring_open(struct problem *p, struct ring *r, int operand, struct fault *f) {
  ring_shape(p, r, operand);
  return gpu_take(p->gpu, f, &r->base, 2 * r->total, "a ring of operands");
}

bool problem_refill(struct problem *p, struct fault *f) {
  cudaStream_t s = p->gpu->stream;
  uint64_t seed = 2 * (uint64_t)p->seed;
  return CUDA(f, kernels_fill(p->a.base, p->dtype, p->a.total, seed, s)) &&
         CUDA(f, kernels_fill(p->b.base, p->dtype, p->b.total, seed + 1, s));
}

static bool rings_open(struct problem *p, struct fault *f) {
  cudaStream_t s = p->gpu->stream;
  ring_shape(p, &p->c, LOOM_C);
  return ring_open(p, &p->a, LOOM_A, f) && ring_open(p, &p->b, LOOM_B, f) &&
         ring_open(p, &p->base_c, LOOM_C, f) && (p->lean || ring_open(p, &p->c, LOOM_C, f)) &&
         problem_refill(p, f) &&
         (p->lean || CUDA(f, kernels_poison(p->c.base, p->dtype, p->c.total, s))) &&
         CUDA(f, kernels_poison(p->base_c.base, p->dtype, p->base_c.total, s)) &&
         CUDA(f, cudaStreamSynchronize(s));
}

/* References */

struct problem_blas problem_blas(const struct problem *p, int layout) {
  int a[2], b[2];
  loom_stored_dims(layout, LOOM_A, a);
  loom_stored_dims(layout, LOOM_B, b);
  return (struct problem_blas){
      .op_b = loom_swapped(layout, LOOM_B) ? CUBLAS_OP_T : CUBLAS_OP_N,
      .op_a = loom_swapped(layout, LOOM_A) ? CUBLAS_OP_T : CUBLAS_OP_N,
      .n = (int)p->mnk[LOOM_N],
      .m = (int)p->mnk[LOOM_M],
      .k = (int)p->mnk[LOOM_K],
      .ldb = (int)p->mnk[b[0]],
      .lda = (int)p->mnk[a[0]],
      .ldc = (int)p->mnk[LOOM_N],
  };
}

/* Of so many rows of C, from 'row' on. A's are rows in memory, or columns where it is swapped. */
static bool product(struct problem *p, int layout, int set, bool absolute, int64_t row,
                    int64_t rows, double *out, struct fault *f) {
  const double one = 1, zero = 0;
  struct problem_blas c = problem_blas(p, layout);
  const double *a = p->wide_a + (loom_swapped(layout, LOOM_A) ? row : row * c.lda);
  cudaStream_t s = p->gpu->stream;
  return CUDA(f, kernels_widen(p->wide_a, problem_set(&p->a, set), p->dtype, absolute, p->a.used,
                               s)) &&
         CUDA(f, kernels_widen(p->wide_b, problem_set(&p->b, set), p->dtype, absolute, p->b.used,
                               s)) &&
         CUBLAS(f, cublasDgemm(p->gpu->blas, c.op_b, c.op_a, c.n, (int)rows, c.k, &one, p->wide_b,
                               c.ldb, a, c.lda, &zero, out, c.ldc));
}

static bool compute(struct problem *p, int layout, int i, double *ref, double *abs,
                    struct fault *f) {
  return product(p, layout, p->check_set[i], false, 0, p->mnk[LOOM_M], ref, f) &&
         product(p, layout, p->check_set[i], true, 0, p->mnk[LOOM_M], abs, f);
}

static bool keep_layout(struct problem *p, int layout, struct fault *f) {
  if (p->ref_layout == layout) return true;
  p->ref_layout = -1;
  for (int i = 0; i < p->checks; i++)
    if (!compute(p, layout, i, p->ref[i], p->abs[i], f)) return false;
  p->ref_layout = layout;
  return true;
}

bool problem_reference(struct problem *p, int layout, int i, const double **ref, const double **abs,
                       struct fault *f) {
  int at = p->kept ? i : 0;
  *ref = p->ref[at];
  *abs = p->abs[at];
  return p->kept ? keep_layout(p, layout, f) : compute(p, layout, i, p->ref[0], p->abs[0], f);
}

static bool take_doubles(struct problem *p, struct fault *f, double **out, size_t n,
                         const char *what) {
  void *base = NULL;
  bool ok = gpu_take(p->gpu, f, &base, n * sizeof(double), what);
  *out = base;
  return ok;
}

/* Are there bytes for 'n' doubles and an eighth of the memory beside them? */
static bool room_for(struct problem *p, double n, bool *yes, struct fault *f) {
  double room;
  if (!gpu_room(p->gpu, &room, f)) return false;
  *yes = n * sizeof(double) + (double)p->gpu->prop.totalGlobalMem / 8 < room;
  return true;
}

bool problem_widen(struct problem *p, struct fault *f) {
  return (p->wide_a || take_doubles(p, f, &p->wide_a, p->a.used, "A in double precision")) &&
         (p->wide_b || take_doubles(p, f, &p->wide_b, p->b.used, "B in double precision"));
}

static bool references_open(struct problem *p, struct fault *f) {
  size_t c = p->c.used;
  p->ref_layout = -1;
  if (!problem_widen(p, f) || !room_for(p, 2.0 * (double)c * p->checks, &p->kept, f)) return false;
  for (int i = 0; i < (p->kept ? p->checks : 1); i++)
    if (!take_doubles(p, f, &p->ref[i], c, "a reference") ||
        !take_doubles(p, f, &p->abs[i], c, "a reference"))
      return false;
  return true;
}

static void give_wide(struct problem *p) {
  gpu_give(p->gpu, &p->wide_a);
  gpu_give(p->gpu, &p->wide_b);
}

/* Where references are not kept, each check needs them. */
void problem_unwiden(struct problem *p) {
  if (p->kept) give_wide(p);
}

bool problem_rows(struct problem *p, int set, int64_t row, int64_t rows, double *ref, double *abs,
                  struct fault *f) {
  return product(p, p->layout, set, false, row, rows, ref, f) &&
         product(p, p->layout, set, true, row, rows, abs, f);
}

bool problem_settle(struct problem *p, struct fault *f) {
  if (!p->kept) return true;
  if (!keep_layout(p, p->layout, f) || !CUDA(f, cudaStreamSynchronize(p->gpu->stream)))
    return false;
  give_wide(p);
  return true;
}

/* Whole */

static int checks_for(const struct problem *p) {
  double flops = 2.0 * (double)p->mnk[0] * (double)p->mnk[1] * (double)p->mnk[2];
  if (p->lean && flops > lean_flops) return 1;
  return p->sets < PROBLEM_CHECKS ? p->sets : PROBLEM_CHECKS;
}

bool problem_prepare(struct problem *p, struct fault *f) {
  p->sets = sets_for(p);
  p->checks = checks_for(p);
  p->check_set[0] = p->sets / 2; /* where it is the only one */
  for (int i = 0; i < p->checks && p->checks > 1; i++)
    p->check_set[i] = i * (p->sets - 1) / (p->checks - 1);
  return sweep_open(p, f) && rings_open(p, f) && references_open(p, f);
}

void problem_free(struct problem *p) {
  for (int i = 0; i < PROBLEM_BASES; i++) timer_free(&p->base[i]);
  timer_free(&p->nv.tape);
  struct ring *rings[] = {&p->a, &p->b, &p->c, &p->base_c};
  for (int i = 0; i < 4; i++) gpu_give(p->gpu, &rings[i]->base);
  gpu_give(p->gpu, &p->sweep.base);
  give_wide(p);
  for (int i = 0; i < PROBLEM_CHECKS; i++) {
    gpu_give(p->gpu, &p->ref[i]);
    gpu_give(p->gpu, &p->abs[i]);
  }
  memset(p, 0, sizeof *p);
}
