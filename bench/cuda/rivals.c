/* rivals.c - all options of NVIDIA's libraries on one problem, and the fastest of them
**
** Where the time goes, for a problem of t us a launch: the answers of a layout
** some ms; their first looks at most look_seconds; finalists and first answers are
** recorded and verified, one or three sets against the FP64 product; then blocks
** of all (2), and of those within 5 % of the best. Layout by layout, because the
** references of one layout are kept at a time.
*/
#include "rivals.h"

#include "baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCKS = 2 };
static const double close_to_best = 1.05, warm_us = 1000;

/* Options */

static struct option *add(struct rivals *r, enum option_group group, int layout) {
  if (r->n == RIVALS_MOST) return NULL; /* cannot be: 2 + 2 + 2 + 2 * 4 + 2 * 4 */
  struct option *o = &r->option[r->n++];
  *o = (struct option){.group = group, .layout = layout, .same = -1};
  return o;
}

/* Those of the problem itself are verified already. */
static void add_gemmex(struct rivals *r) {
  for (int i = 0; i < PROBLEM_BASES; i++) {
    struct option *o = add(r, OPTION_GEMMEX, baseline_layout[i]);
    if (!o) return;
    o->tape = &r->p->base[i];
    o->us = r->p->base_us[i];
    o->ready = true;
  }
}

/* The option that already is this algorithm in this layout, -1 for none. */
static int find_algo(const struct rivals *r, int layout, const cublasLtMatmulAlgo_t *algo) {
  for (int i = 0; i < r->n; i++)
    if (r->option[i].lt && r->option[i].layout == layout && r->option[i].same < 0 &&
        memcmp(&r->option[i].algo, algo, sizeof *algo) == 0)
      return i;
  return -1;
}

static bool add_algo(struct rivals *r, enum option_group group, const struct lt *lt,
                     const struct racer *c, struct fault *f) {
  int same = find_algo(r, lt->layout, &c->algo);
  struct option *o = add(r, group, lt->layout);
  if (!o) return fault_set(f, "more than %d options", RIVALS_MOST);
  o->lt = lt;
  o->algo = c->algo;
  o->place = c->place;
  o->us = isinf(c->us) ? 0 : c->us;
  o->same = same;
  if (same < 0) return option_prepare(r->p, o, f);
  o->ready = r->option[same].ready;
  memcpy(o->why, r->option[same].why, sizeof o->why);
  o->tape = r->option[same].tape;
  return true;
}

/* Races */

static bool add_finalists(struct rivals *r, enum option_group group, struct race *race,
                          struct fault *f) {
  bool right = false;
  /* Where all finalists are wrong, the next in line are tried: eight in all. */
  int last = race->looked < 2 * RACE_FINALISTS ? race->looked : 2 * RACE_FINALISTS;
  for (int i = 0; i < last && r->n < RIVALS_MOST; i++) {
    if (i >= race->finalists && right) break;
    if (isinf(race->racer[i].us)) break;
    if (i >= race->finalists) { /* in the place of one that failed, which told why */
      option_free(&r->option[r->n - 1]);
      r->n--;
    }
    if (!add_algo(r, group, race->lt, &race->racer[i], f)) return false;
    right = right || r->option[r->n - 1].ready;
  }
  return true;
}

static bool race_and_add(struct rivals *r, enum option_group group, const struct lt *lt,
                         const cublasLtMatmulAlgo_t *algo, int n, double seconds, int *looked,
                         int *failed, struct fault *f) {
  struct race race;
  double start = gpu_now();
  bool ok = race_open(&race, lt, algo, n, seconds, f) && race_run(&race, f);
  *looked = race.looked;
  *failed = race.failed;
  r->seconds[1] += gpu_now() - start;
  start = gpu_now();
  ok = ok && add_finalists(r, group, &race, f);
  r->seconds[2] += gpu_now() - start;
  race_close(&race);
  return ok;
}

/* The first answer is last to come: it may be one of the finalists. */
static bool add_answers(struct rivals *r, int i, struct fault *f) {
  cublasLtMatmulAlgo_t algo[LT_ANSWERS];
  struct rivals_count *c = &r->count[i];
  double start = gpu_now();
  bool ok = lt_answers(&r->lt[i], LT_ANSWERS, algo, &c->answers, f);
  r->seconds[1] += gpu_now() - start;
  if (!ok || c->answers == 0) return ok;
  struct racer first = {.algo = algo[0], .place = 1, .us = INFINITY};
  return race_and_add(r, OPTION_BEST, &r->lt[i], algo, c->answers, r->look_seconds, &c->looked,
                      &c->failed, f) &&
         add_algo(r, OPTION_FIRST, &r->lt[i], &first, f);
}

static bool add_sweep(struct rivals *r, int i, struct fault *f) {
  struct rivals_count *c = &r->count[i];
  struct lt_sweep s = {.most = RIVALS_SWEEP, .seconds = r->sweep_seconds};
  int failed;
  s.algo = malloc((size_t)s.most * sizeof *s.algo);
  if (!s.algo) return fault_set(f, "no memory for %d algorithms", s.most);
  bool ok = lt_sweep(&r->lt[i], &s, f);
  c->accepted = s.accepted;
  c->checked = s.checked;
  c->whole = s.whole;
  ok = ok && lt_order(&r->lt[i], s.algo, s.accepted, f) &&
       (s.accepted == 0 || race_and_add(r, OPTION_EXHAUSTIVE, &r->lt[i], s.algo, s.accepted,
                                        r->sweep_seconds, &c->raced, &failed, f));
  free(s.algo);
  return ok;
}

static bool add_autotune(struct rivals *r, int layout, struct fault *f) {
  struct option *o = add(r, OPTION_AUTOTUNE, layout);
  return !o || option_prepare(r->p, o, f);
}

static bool find_in(struct rivals *r, int i, struct fault *f) {
  int lt = r->want & (RIVALS_LT | RIVALS_EXHAUSTIVE);
  return (!(r->want & RIVALS_AUTOTUNE) || add_autotune(r, baseline_layout[i], f)) &&
         (!lt || lt_open(&r->lt[i], r->p, baseline_layout[i], f)) &&
         (!(r->want & RIVALS_LT) || add_answers(r, i, f)) &&
         (!(r->want & RIVALS_EXHAUSTIVE) || add_sweep(r, i, f));
}

bool rivals_find(struct rivals *r, struct fault *f) {
  add_gemmex(r);
  /* The layout whose references are there comes first. */
  int first = r->p->ref_layout == baseline_layout[1];
  return find_in(r, first, f) && find_in(r, 1 - first, f);
}

/* Timing */

static void note(struct rivals *r, const struct timer *t) {
  r->mhz = timer_median_mhz(t);
  r->drift = timer_drift(t);
  r->blocks += t->blocks;
  r->starved += t->starved;
  r->drifted += t->drifted;
  r->unsteady += t->unsteady;
  r->health.readings += t->health.readings;
  r->health.reasons |= t->health.reasons;
  r->health.power_w = fmax(r->health.power_w, t->health.power_w);
  r->health.temp_c = fmax(r->health.temp_c, t->health.temp_c);
}

static bool heat(struct rivals *r, const int *who, int n, int blocks, bool warm, struct fault *f) {
  struct gpu *g = r->p->gpu;
  struct timer t;
  bool ok = problem_timer(r->p, &t, f);
  for (int i = 0; i < n; i++) t.tape[t.tapes++] = r->option[who[i]].tape;
  ok = ok && timer_warm_up(g, &t, warm ? 1 : 0, 0, f) && timer_run(g, &t, blocks, f);
  if (ok) {
    for (int i = 0; i < n; i++) r->option[who[i]].us = timer_median_us(&t, i);
    note(r, &t);
  }
  if (!f->hung) timer_close(&t); /* freeing would wait for the kernel */
  return ok;
}

static void settle_same(struct rivals *r) {
  for (int i = 0; i < r->n; i++)
    if (r->option[i].same >= 0) r->option[i].us = r->option[r->option[i].same].us;
}

/* The fastest, of those in 'who'; what is left of 'who' is close to it. */
static int narrow(struct rivals *r, int *who, int *n) {
  int best = who[0], left = 0;
  for (int i = 1; i < *n; i++)
    if (r->option[who[i]].us < r->option[best].us) best = who[i];
  for (int i = 0; i < *n; i++)
    if (r->option[who[i]].us <= close_to_best * r->option[best].us) who[left++] = who[i];
  *n = left;
  return best;
}

bool rivals_time(struct rivals *r, int blocks, struct fault *f) {
  int who[RIVALS_MOST], n = 0, first = blocks < FIRST_BLOCKS ? blocks : FIRST_BLOCKS;
  double start = gpu_now();
  for (int i = 0; i < r->n; i++)
    if (r->option[i].ready && r->option[i].same < 0) who[n++] = i;
  bool ok = heat(r, who, n, first, r->p->base_us[0] < warm_us, f);
  if (ok) r->best = narrow(r, who, &n);
  if (ok && blocks > first) {
    ok = heat(r, who, n, blocks - first, false, f);
    if (ok) r->best = narrow(r, who, &n);
  }
  settle_same(r);
  r->seconds[3] += gpu_now() - start;
  return ok;
}

void rivals_keep(struct rivals *r) {
  struct option *o = &r->option[r->best];
  struct problem_nv *nv = &r->p->nv;
  nv->have = true;
  nv->us = o->us;
  nv->base = -1;
  /* the first answer is one of all answers */
  option_name(o->group == OPTION_FIRST ? OPTION_BEST : o->group, o->layout, nv->name);
  if (o->lt) lt_text(&o->algo, nv->algo);
  if (o->group == OPTION_GEMMEX) {
    nv->base = o->layout == baseline_layout[1];
  } else { /* the tape changes hands */
    nv->tape = o->own;
    memset(&o->own, 0, sizeof o->own);
  }
}

void rivals_close(struct rivals *r) {
  for (int i = 0; i < r->n; i++) option_free(&r->option[i]);
  for (int i = 0; i < PROBLEM_BASES; i++) lt_close(&r->lt[i]);
  r->n = 0;
}
