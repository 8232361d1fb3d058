/* change.c - the timed launches once more, after timing, under other conditions */
#include "change.h"

#include "families.h"
#include "kernels.h"

#include <math.h>

enum { SETS = 3, ROWS = 8 };
static const double most_flops = 4e11;      /* of references: some 8 ms on a part with fast FP64 */
static const double most_doubles = 1 << 26; /* of one reference */

/* C holds numbers before */

static bool litter(struct problem *p, uint64_t seed, struct fault *f) {
  const struct ring *c = &p->c;
  return CUDA(f, kernels_litter(c->base, p->dtype, c->total, c->lead, c->stride, c->used, seed,
                                p->gpu->stream));
}

static bool half_right(struct problem *p, uint64_t seed, struct fault *f) {
  for (int i = 0; i < p->checks && p->kept; i++) {
    const double *ref, *abs;
    if (!problem_reference(p, p->layout, i, &ref, &abs, f) ||
        !CUDA(f, kernels_half_right(problem_set(&p->c, p->check_set[i]), p->dtype, ref, p->c.used,
                                    seed + (uint64_t)i, p->gpu->stream)))
      return false;
  }
  return true;
}

bool change_results(struct problem *p, const struct timer_tape *tape,
                    const struct check_sums *before, uint64_t seed, struct verdict *v,
                    struct fault *f) {
  static const char what[] = "over other numbers";
  return v->wrong ||
         (litter(p, seed, f) && half_right(p, seed, f) && timer_replay(p->gpu, tape, f) &&
          check_outputs(p, &p->c, p->layout, what, v, f) && check_inputs(p, before, what, v, f));
}

/* Operands change */

struct band {
  int sets, set[SETS];
  uint64_t seed;
  int64_t row, rows; /* of C, the same in all of its sets */
  void *ref, *abs;
};

static void draw(struct band *b, const struct problem *p) {
  double row = 4.0 * (double)p->mnk[LOOM_N] * (double)p->mnk[LOOM_K]; /* two products */
  uint64_t r = b->seed;
  while (b->sets < SETS && b->sets < p->sets) {
    int set = family_below(&r, p->sets), i = 0;
    while (i < b->sets && b->set[i] != set) i++;
    if (i == b->sets) b->set[b->sets++] = set;
  }
  double rows = fmin(most_flops / (row * b->sets), most_doubles / (double)p->mnk[LOOM_N]);
  b->rows = rows >= (double)p->mnk[LOOM_M] ? p->mnk[LOOM_M] : (int64_t)rows;
  if (b->rows < ROWS) b->rows = p->mnk[LOOM_M] < ROWS ? p->mnk[LOOM_M] : ROWS;
  b->row = family_below(&r, (int)(p->mnk[LOOM_M] - b->rows + 1));
}

/* The first time to change, the second time to change back. */
static bool touch(struct problem *p, const struct band *b, struct fault *f) {
  for (int i = 0; i < b->sets; i++)
    if (!CUDA(f, kernels_touch(problem_set(&p->a, b->set[i]), p->dtype, p->a.used, b->seed,
                               p->gpu->stream)) ||
        !CUDA(f, kernels_touch(problem_set(&p->b, b->set[i]), p->dtype, p->b.used, b->seed + 1,
                               p->gpu->stream)))
      return false;
  return true;
}

static bool check_band(struct problem *p, const struct band *b, int set, struct verdict *v,
                       struct fault *f) {
  return problem_rows(p, set, b->row, b->rows, b->ref, b->abs, f) &&
         check_rows(p, &p->c, set, b->row, b->rows, b->ref, b->abs, "changed operands", v, f);
}

static bool replay_changed(struct problem *p, const struct timer_tape *tape, const struct band *b,
                           struct verdict *v, struct fault *f) {
  if (!touch(p, b, f) || !check_poison(p, &p->c, f) || !timer_replay(p->gpu, tape, f)) return false;
  for (int i = 0; i < b->sets && !v->wrong; i++)
    if (!check_band(p, b, b->set[i], v, f)) return false;
  return touch(p, b, f);
}

bool change_operands(struct problem *p, const struct timer_tape *tape,
                     const struct check_sums *before, uint64_t seed, struct verdict *v,
                     struct fault *f) {
  struct band b = {.seed = seed};
  if (v->wrong) return true;
  draw(&b, p);
  size_t bytes = (size_t)b.rows * (size_t)p->mnk[LOOM_N] * sizeof(double);
  bool ok = problem_widen(p, f) && gpu_take(p->gpu, f, &b.ref, bytes, "a reference") &&
            gpu_take(p->gpu, f, &b.abs, bytes, "a reference") &&
            replay_changed(p, tape, &b, v, f) && check_inputs(p, before, "changed operands", v, f);
  gpu_give(p->gpu, &b.ref);
  gpu_give(p->gpu, &b.abs);
  problem_unwiden(p);
  return ok;
}
