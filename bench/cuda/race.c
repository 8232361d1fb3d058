/* race.c - from many algorithms of cuBLASLt to a few, by time
**
** A window is a handful of launches, over the ring as ever, behind a kernel that
** waits: the host has enqueued them all before the first one starts, and what is
** timed is the GPU. Recording a graph for each of hundreds would take longer than
** all their launches.
**
** For most problems a first look is cheap; where a launch takes longer than 0.1 ms
** it is one launch, unless that launch had to load the kernel first, which the
** time of the call tells.
*/
#include "race.h"

#include "kernels.h"
#include "option.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ALWAYS = 16, MOST_LAUNCHES = 32, LOOK_LAUNCHES = 8, HOST_US = 8 };
static const double look_us = 100, window_us = 200, slow_call = 200e-6, slow_problem_us = 1000;

bool race_open(struct race *r, const struct lt *lt, const cublasLtMatmulAlgo_t *algo, int n,
               double seconds, struct fault *f) {
  memset(r, 0, sizeof *r);
  r->lt = lt;
  r->seconds = seconds;
  r->racer = calloc((size_t)n + 1, sizeof *r->racer);
  if (!r->racer) return fault_set(f, "no memory for %d algorithms", n);
  r->entries = n;
  for (int i = 0; i < n; i++)
    r->racer[i] = (struct racer){.algo = algo[i], .place = i + 1, .us = INFINITY};
  return CUDA(f, cudaEventCreate(&r->begin)) && CUDA(f, cudaEventCreate(&r->end));
}

void race_close(struct race *r) {
  if (r->begin) (void)cudaEventDestroy(r->begin);
  if (r->end) (void)cudaEventDestroy(r->end);
  free(r->racer);
  memset(r, 0, sizeof *r);
}

/* Windows */

/* Enqueues; *runs is false where the library refuses. */
static void enqueue(struct race *r, const struct racer *c, int launches, bool *runs) {
  struct problem *p = r->lt->p;
  for (int i = 0; i < launches && *runs; i++) {
    r->set = (r->set + 1) % p->sets;
    *runs = lt_try(r->lt, &c->algo, &p->base_c, r->set) == CUBLAS_STATUS_SUCCESS;
  }
}

/* One window: us per launch, infinite where it does not run. *call: the host's time to enqueue;
** *ahead: it was done before the GPU began. */
static bool window(struct race *r, const struct racer *c, int launches, unsigned wait, double *us,
                   double *call, bool *ahead, struct fault *f) {
  cudaStream_t s = r->lt->p->gpu->stream;
  bool runs = true;
  float ms = 0;
  if (wait && !CUDA(f, kernels_wait(wait, s))) return false;
  if (!CUDA(f, cudaEventRecord(r->begin, s))) return false;
  double start = gpu_now();
  enqueue(r, c, launches, &runs);
  *call = gpu_now() - start;
  *us = INFINITY;
  if (!runs) return option_survives("an algorithm of cuBLASLt", f);
  *ahead = cudaEventQuery(r->begin) == cudaErrorNotReady;
  (void)cudaGetLastError(); /* 'not ready' is kept there */
  if (!CUDA(f, cudaEventRecord(r->end, s)) || !CUDA(f, cudaStreamSynchronize(s)) ||
      !CUDA(f, cudaEventElapsedTime(&ms, r->begin, r->end)))
    return false;
  *us = fmax((double)ms * 1000 / launches, 0.1);
  return true;
}

/* A window behind a wait that is long enough; after three tries too slow a figure stands. */
static bool sprint(struct race *r, struct racer *c, int launches, double *us, struct fault *f) {
  bool ahead = false;
  double call;
  unsigned wait = 30 + HOST_US * (unsigned)launches;
  for (int tries = 0; tries < 3 && !ahead; tries++, wait *= 2) {
    if (!window(r, c, launches, wait, us, &call, &ahead, f)) return false;
    if (isinf(*us)) return true;
  }
  return true;
}

static int launches_for(double us, double target, int most) {
  double n = ceil(target / us);
  return n < 1 ? 1 : n > most ? most : (int)n;
}

/* First looks */

/* A launch by itself, which also loads the kernel; short ones then sprint, if they are in sight of
** the best. */
static bool look(struct race *r, struct racer *c, double best, struct fault *f) {
  double call = 0;
  bool ahead;
  if (!window(r, c, 1, 0, &c->us, &call, &ahead, f)) return false;
  if (!isinf(c->us) && call > slow_call && !window(r, c, 1, 0, &c->us, &call, &ahead, f))
    return false;
  if (isinf(c->us) || c->us >= look_us || c->us > 3 * best + 20) return true;
  return sprint(r, c, launches_for(c->us, look_us, LOOK_LAUNCHES), &c->us, f);
}

static bool look_at_all(struct race *r, struct fault *f) {
  double end = gpu_now() + r->seconds, best = INFINITY;
  for (int i = 0; i < r->entries; i++) {
    struct racer *c = &r->racer[i];
    if (i >= ALWAYS && gpu_now() > end) break;
    if (!look(r, c, best, f)) return false;
    best = fmin(best, c->us);
    r->looked++;
    r->failed += isinf(c->us) != 0;
  }
  return true;
}

/* Heats */

static int by_time(const void *a, const void *b) {
  const struct racer *x = a, *y = b;
  if (x->us != y->us) return x->us < y->us ? -1 : 1;
  return x->place - y->place;
}

/* 'windows' more for each of the first n, in turns, so that drift meets all alike. */
static bool heat(struct race *r, int n, int windows, struct fault *f) {
  for (int w = 0; w < windows; w++)
    for (int i = 0; i < n; i++) {
      struct racer *c = &r->racer[i];
      double us = INFINITY;
      if (isinf(c->us)) continue;
      if (!sprint(r, c, launches_for(c->us, window_us, MOST_LAUNCHES), &us, f)) return false;
      if (isinf(us))
        c->us = us;
      else
        c->window[c->windows++] = us;
    }
  for (int i = 0; i < n; i++)
    if (!isinf(r->racer[i].us) && r->racer[i].windows)
      r->racer[i].us = stat_median(r->racer[i].window, r->racer[i].windows);
  qsort(r->racer, (size_t)n, sizeof *r->racer, by_time);
  return true;
}

bool race_run(struct race *r, struct fault *f) {
  static const struct {
    int racers, windows;
  } heats[] = {{16, 2}, {8, 2}, {RACE_FINALISTS, 4}}; /* RACE_WINDOWS in all */
  if (!look_at_all(r, f)) return false;
  qsort(r->racer, (size_t)r->entries, sizeof *r->racer, by_time);
  int running = r->looked - r->failed;
  bool slow = running && r->racer[0].us > slow_problem_us;
  for (int h = slow ? 1 : 0; h < (slow ? 2 : 3); h++) {
    int n = heats[h].racers < running ? heats[h].racers : running;
    if (!heat(r, n, heats[h].windows, f)) return false;
  }
  while (r->finalists < RACE_FINALISTS / (slow ? 2 : 1) && r->finalists < running &&
         !isinf(r->racer[r->finalists].us))
    r->finalists++;
  return true;
}
