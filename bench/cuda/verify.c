/* verify.c - a candidate on small, awkward products, before it is timed
**
** All of it is small: what takes time is some 200 launches and a wait for each
** run. Buffers stay for the next candidate. The first run that is wrong ends it.
*/
#include "verify.h"

#include "families.h"
#include "kernels.h"

#include <stdio.h>
#include <string.h>

enum { LEAST = 8 << 20 }; /* bytes of a buffer: one for nearly all shapes */
enum { SHAPES = 64, REPEATS = 20, LATE_US = 100, FAR = 1 << 16 };
static const double most_elements = 1 << 27, most_products = 17e9; /* a baked shape may be larger */

/* The plan */

enum { ALWAYS, FACTORS, PDL }; /* what a kernel must have for a run */

static const struct plan {
  const char *name;
  int kind;
  bool padded; /* leading dimensions longer than rows */
  int needs;
  enum { ONCE, HALF, CHANGED, LATE, REPEATED } how;
} plans[] = {
    {"ternary", FAMILY_TERNARY, true, ALWAYS, ONCE},
    {"cancel", FAMILY_CANCEL, false, ALWAYS, ONCE},
    {"cancel padded", FAMILY_CANCEL, true, ALWAYS, ONCE},
    {"onehot", FAMILY_ONEHOT, true, ALWAYS, ONCE},
    {"slice", FAMILY_SLICE, false, ALWAYS, ONCE},
    {"special", FAMILY_SPECIAL, true, ALWAYS, ONCE},
    {"rewrite", FAMILY_TERNARY, false, ALWAYS, HALF},
    {"changed", FAMILY_TERNARY, false, ALWAYS, CHANGED},
    {"factors", FAMILY_TERNARY, true, FACTORS, ONCE},
    {"late", FAMILY_TERNARY, false, PDL, LATE},
    {"repeats", FAMILY_RANDOM, true, ALWAYS, REPEATED},
};

struct run {
  struct verify *v;
  const struct plan *plan;
  struct family family;
  loom_launch launch;
  void *spare[3]; /* buffers where there are no holes */
  char *operand[3];
  void *want, *diff;
  uint64_t random;
};

/* Shape */

static bool has_arg(const loom_desc *d, int arg) {
  for (int i = 0; i < d->nargs; i++)
    if (d->arg[i] == arg) return true;
  return false;
}

/* Is the kernel told this operand's leading dimension? Else its rows are packed. */
static bool told_lead(const loom_desc *d, int operand) {
  for (int t = 0; t < d->ntensors; t++)
    if (d->tensors[t].operand == operand) return true;
  return has_arg(d, LOOM_ARG_LDA + operand);
}

/* Between one tile and 'tiles' of them, not a whole number where the descriptor allows that. */
static int64_t draw_extent(struct run *r, int tiles, int64_t tile, int64_t step) {
  int64_t least = tile / step + 1, most = tiles * tile / step;
  if (most < least) most = least;
  int64_t x = step * (least + family_below(&r->random, (int)(most - least + 1)));
  if (x % tile == 0 && step % tile != 0) x -= step;
  return x;
}

/* Half of them more than a ring of slots holds, half of them down to less than a slot. */
static int64_t draw_depth(struct run *r, int64_t step) {
  int k = family_below(&r->random, 2) ? 520 + family_below(&r->random, 256)
                                      : 1 + family_below(&r->random, 520);
  return k < step ? step : k / step * step;
}

static void draw_shape(struct run *r, int tiles, int64_t mnk[3]) {
  const loom_desc *d = &r->v->kernel->desc;
  mnk[LOOM_M] = draw_extent(r, tiles, d->tile[0], d->legal_mnk[LOOM_M]);
  mnk[LOOM_N] = draw_extent(r, tiles, d->tile[1], d->legal_mnk[LOOM_N]);
  mnk[LOOM_K] = draw_depth(r, d->legal_mnk[LOOM_K]);
  for (int i = 0; i < 3; i++)
    if (d->baked[i]) mnk[i] = d->baked[i];
}

static bool fits(const int64_t mnk[3]) {
  double m = (double)mnk[LOOM_M], n = (double)mnk[LOOM_N], k = (double)mnk[LOOM_K];
  return m * n <= most_elements && m * k <= most_elements && k * n <= most_elements &&
         m * n * k <= most_products;
}

/* Rows of A at least 8 elements apart, of B 16, of C 8, where that may be. */
static int64_t draw_lead(const struct run *r, int operand, int64_t row) {
  const loom_desc *d = &r->v->kernel->desc;
  int64_t unit = d->legal_ld, gap = operand == LOOM_B ? 16 : 8;
  if (!r->plan->padded || !told_lead(d, operand)) return row;
  while (d->ntensors > 0 && unit % 8 != 0) unit *= 2;
  return (row + gap + unit - 1) / unit * unit;
}

static void set_shape(struct run *r, const int64_t mnk[3]) {
  const loom_desc *d = &r->v->kernel->desc;
  struct family *f = &r->family;
  bool factors = r->plan->needs == FACTORS;
  *f =
      (struct family){.kind = r->plan->kind,
                      .dtype = d->dtype,
                      .narrow = d->acc == LOOM_ACC_F16,
                      .swapped = {loom_swapped(d->layout, LOOM_A), loom_swapped(d->layout, LOOM_B)},
                      .m = (int)mnk[LOOM_M],
                      .n = (int)mnk[LOOM_N],
                      .k = (int)mnk[LOOM_K],
                      .seed = family_random(&r->random),
                      .alpha = factors && has_arg(d, LOOM_ARG_ALPHA) ? 13.625f : 1,
                      .beta = factors && has_arg(d, LOOM_ARG_BETA) ? 0.375f : 0};
  for (int i = 0; i < 3; i++) {
    int dims[2];
    loom_stored_dims(d->layout, i, dims);
    f->ld[i] = (int)draw_lead(r, i, mnk[dims[0]]);
  }
}

/* Memory */

static size_t at_least(size_t bytes) { return bytes < LEAST ? LEAST : bytes; }

/* Room for an operand whose last element is the last that is mapped, as far as alignment allows. */
static bool place(struct run *r, int i, struct fault *f) {
  const loom_desc *d = &r->v->kernel->desc;
  struct gpu *g = r->v->gpu;
  size_t bytes = 2 * family_extent(&r->family, i), align = (size_t)d->legal_align;
  while (align % 16 != 0 && (d->ntensors > 0 || align % 2 != 0)) align *= 2;
  size_t all = bytes + align + 2 * FAMILY_GUARD;
  char *end = holes_end(&g->holes_driver, &g->holes[i], 0, all);
  r->v->holes = end != NULL;
  if (!end) {
    gpu_give(g, &r->spare[i]);
    if (!gpu_take(g, f, &r->spare[i], at_least(all + FAR), "a small operand")) return false;
    end = (char *)r->spare[i] + all;
  }
  r->operand[i] = end - bytes;
  r->operand[i] -= (uintptr_t)r->operand[i] % align;
  return true;
}

static bool take_room(struct run *r, struct fault *f) {
  size_t n = (size_t)r->family.m * (size_t)r->family.n;
  gpu_give(r->v->gpu, &r->want);
  r->diff = r->v->gpu->scratch;
  return place(r, LOOM_A, f) && place(r, LOOM_B, f) && place(r, LOOM_C, f) &&
         gpu_take(r->v->gpu, f, &r->want, at_least(2 * n), "a small result");
}

static void give_room(struct run *r) {
  for (int i = 0; i < 3; i++) gpu_give(r->v->gpu, &r->spare[i]);
  gpu_give(r->v->gpu, &r->want);
}

static enum loom_status bind(struct run *r, const int64_t mnk[3], char *err) {
  const loom_desc *d = &r->v->kernel->desc;
  const struct family *f = &r->family;
  loom_call call = {.layout = d->layout,
                    .dtype = d->dtype,
                    .acc = d->acc,
                    .mnk = {mnk[0], mnk[1], mnk[2]},
                    .ld = {f->ld[0], f->ld[1], f->ld[2]},
                    .a = r->operand[LOOM_A],
                    .b = r->operand[LOOM_B],
                    .c = r->operand[LOOM_C],
                    .ws = r->v->ws,
                    .alpha = f->alpha,
                    .beta = f->beta};
  return loom_kernel_bind(r->v->kernel, &call, &r->launch, err);
}

/* *found = false: the kernel takes none of the shapes that are small enough. */
static bool find_shape(struct run *r, bool *found, struct fault *f) {
  char err[LOOM_ERROR_TEXT] = "";
  *found = false;
  for (int i = 0; i <= SHAPES && !*found; i++) {
    int64_t mnk[3];
    draw_shape(r, 3 + i / 16, mnk); /* clusters ask for many tiles */
    if (i == SHAPES) memcpy(mnk, r->v->mnk, sizeof mnk);
    if (!fits(mnk)) continue;
    set_shape(r, mnk);
    if (!take_room(r, f)) return false;
    enum loom_status status = bind(r, mnk, err);
    if (status == LOOM_FAILED) return fault_set(f, "%s", err);
    *found = status == LOOM_OK;
  }
  if (*found) family_draw(&r->family);
  return true;
}

/* Steps of a run */

static cudaStream_t stream(const struct run *r) { return r->v->gpu->stream; }

bool verify_clear_workspace(struct gpu *g, const loom_desc *d, void *ws, struct fault *f) {
  int byte = d->ws_init == LOOM_WS_ZERO ? 0 : 0xff; /* all ones: NaN, and no zero to rely on */
  return !ws || CUDA(f, cudaMemsetAsync(ws, byte, (size_t)d->ws_bytes, g->stream));
}

static bool fill(struct run *r, struct fault *f) {
  return CUDA(f, family_fill(&r->family, LOOM_A, r->operand[LOOM_A], stream(r))) &&
         CUDA(f, family_fill(&r->family, LOOM_B, r->operand[LOOM_B], stream(r)));
}

static bool poison(struct run *r, struct fault *f) {
  for (int i = LOOM_A; i <= LOOM_B; i++)
    if (!CUDA(f, kernels_poison(r->operand[i], r->family.dtype, family_extent(&r->family, i),
                                stream(r))))
      return false;
  return true;
}

static bool start(struct run *r, int how, struct fault *f) {
  return CUDA(f, family_start(&r->family, how, r->want, r->operand[LOOM_C], stream(r)));
}

static bool launch(struct run *r, bool pdl, struct fault *f) {
  return CUDA(f, loom_kernel_launch(&r->launch, stream(r), pdl));
}

static bool compare(struct run *r, struct fault *f) {
  return CUDA(f, family_compare(&r->family, r->operand[LOOM_C], r->want, r->diff, stream(r)));
}

/* Baked extents may make a product that is not so small: as for a slow kernel, 100 GFLOP/s. */
static double patience(const struct run *r) {
  const struct family *f = &r->family;
  double flops = 2.0 * f->m * f->n * f->k * (r->plan->how == REPEATED ? REPEATS + 1 : 2);
  return r->v->patience + flops * 1e-11;
}

/* Waits, and looks at what the comparisons so far have counted. */
static bool finish(struct run *r, struct family_diff *out, struct fault *f) {
  for (int i = LOOM_A; i <= LOOM_B; i++)
    if (!CUDA(f, family_intact(&r->family, i, r->operand[i], r->diff, stream(r)))) return false;
  return gpu_await(r->v->gpu, "the kernel", patience(r), f) &&
         CUDA(f, cudaMemcpy(out, r->diff, sizeof *out, cudaMemcpyDeviceToHost));
}

/* Verdict */

static bool show(struct run *r, unsigned long long at, struct verdict *out, struct fault *f) {
  const struct family *s = &r->family;
  size_t n = (size_t)s->n, row = (size_t)at / n, col = (size_t)at % n;
  const char *c = r->operand[LOOM_C] + 2 * (row * (size_t)s->ld[LOOM_C] + col);
  uint16_t got, want;
  if (!CUDA(f, cudaMemcpy(&got, c, 2, cudaMemcpyDeviceToHost)) ||
      !CUDA(f, cudaMemcpy(&want, (const char *)r->want + 2 * at, 2, cudaMemcpyDeviceToHost)))
    return false;
  out->row = (long long)row;
  out->col = (long long)col;
  out->got = check_value(got, s->dtype);
  out->want = check_value(want, s->dtype);
  return true;
}

static bool judge(struct run *r, const struct family_diff *d, struct verdict *out,
                  struct fault *f) {
  const struct family *s = &r->family;
  const char *name = r->plan->name;
  char where[96];
  snprintf(where, sizeof where, "at M=%d N=%d K=%d lda=%d ldb=%d ldc=%d", s->m, s->n, s->k,
           s->ld[0], s->ld[1], s->ld[2]);
  if (d->unwritten)
    check_wrong(out, "%s: %llu elements not written %s", name, d->unwritten, where);
  else if (d->bad)
    check_wrong(out, "%s: %llu elements are not exact %s", name, d->bad, where);
  else if (d->beside)
    check_wrong(out, "%s: wrote %llu elements outside of C %s", name, d->beside, where);
  else if (d->inputs[0] || d->inputs[1])
    check_wrong(out, "%s: changed %s %s", name, d->inputs[0] ? "A" : "B", where);
  return !d->last || show(r, d->last - 1, out, f);
}

/* Runs */

static bool begin(struct run *r, struct fault *f) {
  struct verify *v = r->v;
  return verify_clear_workspace(v->gpu, &v->kernel->desc, v->ws, f) &&
         (!v->stuck || stuck_arm(v->stuck, stream(r), f)) &&
         CUDA(f, cudaMemsetAsync(r->diff, 0, sizeof(struct family_diff), stream(r))) &&
         fill(r, f) && CUDA(f, family_want(&r->family, r->want, stream(r)));
}

static bool once(struct run *r, int how, struct fault *f) {
  return start(r, how, f) && launch(r, false, f) && compare(r, f);
}

/* The same pointers, and nearly the same operands, a second time. */
static bool changed(struct run *r, struct fault *f) {
  if (!once(r, START_MARK, f)) return false;
  r->family.change = family_random(&r->random) | 1;
  return fill(r, f) && CUDA(f, family_want(&r->family, r->want, stream(r))) &&
         once(r, START_MARK, f);
}

static bool late(struct run *r, struct fault *f) {
  return poison(r, f) && start(r, START_MARK, f) &&
         CUDA(f, family_late(&r->family, r->operand[LOOM_A], r->operand[LOOM_B], LATE_US,
                             stream(r))) &&
         launch(r, true, f) && compare(r, f);
}

/* Its first result is what the others are compared with: the timed shape tells whether such sums are
** right. A kernel with a workspace may add in any order, and gets sums that no order changes. */
static bool repeated(struct run *r, struct fault *f) {
  const struct gpu *g = r->v->gpu;
  if (r->family.kind == FAMILY_RANDOM &&
      !(start(r, START_MARK, f) && launch(r, false, f) &&
        CUDA(f, family_keep(&r->family, r->operand[LOOM_C], r->want, stream(r)))))
    return false;
  for (int i = 0; i < REPEATS; i++) {
    if (i % 2 &&
        !CUDA(f, family_noise(family_random(&r->random), g->prop.multiProcessorCount, g->noise)))
      return false;
    if (!start(r, START_MARK, f) || !launch(r, i % 4 > 1, f) || !compare(r, f)) return false;
  }
  return true;
}

static bool perform(struct run *r, struct fault *f) {
  switch (r->plan->how) {
  case ONCE:
    return once(r, r->family.beta != 0 ? START_NUMBERS : START_MARK, f);
  case HALF:
    return once(r, START_HALF, f);
  case CHANGED:
    return changed(r, f);
  case LATE:
    return late(r, f);
  case REPEATED:
    return repeated(r, f);
  }
  return true;
}

/* A kernel is loaded when it is first launched, which may wait for all that runs: not beside a
** candidate, which may not end. So each of ours runs once before, on one element in the scratch. */
static bool load_families(struct gpu *g, double patience, struct fault *f) {
  struct family one = {.m = 1, .n = 1, .k = 1, .ld = {1, 1, 1}, .alpha = 1};
  char *a = g->scratch, *b = a + 16, *want = a + 32, *c = a + 3072;
  struct family_diff *diff = (void *)(a + 64);
  cudaStream_t s = g->stream;
  if (g->families_loaded) return true;
  g->families_loaded =
      CUDA(f, family_fill(&one, LOOM_A, a, s)) && CUDA(f, family_want(&one, want, s)) &&
      CUDA(f, family_start(&one, START_MARK, want, c, s)) &&
      CUDA(f, family_keep(&one, want, want, s)) && CUDA(f, family_late(&one, a, b, 0, s)) &&
      CUDA(f, family_compare(&one, c, want, diff, s)) &&
      CUDA(f, family_intact(&one, LOOM_A, a, diff, s)) &&
      CUDA(f, kernels_poison(c, LOOM_F16, 1, s)) &&
      CUDA(f, family_noise(0, g->prop.multiProcessorCount, g->noise)) &&
      gpu_await(g, "the check itself", patience, f) && CUDA(f, cudaStreamSynchronize(g->noise));
  return g->families_loaded;
}

static bool applies(const struct plan *p, const loom_desc *d) {
  bool factors = has_arg(d, LOOM_ARG_ALPHA) || has_arg(d, LOOM_ARG_BETA);
  return p->needs == ALWAYS || (p->needs == FACTORS && factors) || (p->needs == PDL && d->pdl);
}

static bool run_one(struct run *r, struct verdict *out, struct fault *f) {
  struct family_diff diff;
  bool found;
  if (!find_shape(r, &found, f)) return false;
  if (!found) return true;
  if (r->plan->how == REPEATED && r->v->ws) r->family.kind = FAMILY_TERNARY;
  if (!begin(r, f) || !perform(r, f) || !finish(r, &diff, f) || !judge(r, &diff, out, f))
    return false;
  r->v->families += !out->wrong;
  return true;
}

/* An error shows at whatever call comes next: it is told as the run's. */
static bool name_fault(const struct run *r, struct fault *f) {
  char text[400];
  snprintf(text, sizeof text, "%.399s", f->text);
  snprintf(f->text, sizeof f->text, "%s: %s", r->plan->name, text);
  return false;
}

bool verify_run(struct verify *v, struct verdict *out, struct fault *f) {
  struct run r = {.v = v, .random = v->seed};
  bool ok = load_families(v->gpu, v->patience, f);
  for (size_t i = 0; ok && !out->wrong && i < sizeof plans / sizeof plans[0]; i++) {
    r.plan = &plans[i];
    if (applies(r.plan, &v->kernel->desc)) ok = run_one(&r, out, f) || name_fault(&r, f);
  }
  give_room(&r);
  return ok;
}
