/* timer.c - captured graphs of launches, and blocks of paired windows
**
** What a window measures is the period of back-to-back launches: kernel plus
** the gap to the next, the same for both sides. Pairing within a block removes
** drift of clock and temperature; the palindrome removes its linear part.
**
** A block is [lead] A B C D D C B A. The lead is not measured: it keeps the GPU
** busy while the host enqueues, so that the first window does not time the host.
** Whether the host kept ahead is looked at: if the GPU had already passed a
** window's first event when its graph was submitted, the block is dropped. The SM
** clock is sampled between the windows, outside of their events; there, too, L2 is
** swept where the ring is too small to do that by itself.
*/
#include "timer.h"

#include "kernels.h"

#include <math.h>
#include <string.h>

static const double window_us = 1000;   /* events resolve 0.5 us: 0.1 % of a window */
static const double most_spread = 0.01; /* of the clock, within a block */

enum { SAMPLES = TIMER_WINDOWS + 1, SHORT_WALK = 16 };
enum { ENQUEUED = 256 }; /* of pairs too: below what a stream takes before a launch waits */

/* Tapes */

int timer_reps(double us, int sets) {
  int walks = TIMER_MAX_REPS / sets;
  double wanted = ceil(window_us / (us * sets));
  if (wanted < walks) walks = (int)wanted;
  return sets * (walks < 1 ? 1 : walks);
}

static bool elapsed_us(cudaEvent_t from, cudaEvent_t to, double *us, struct fault *f) {
  float ms;
  if (!CUDA(f, cudaEventElapsedTime(&ms, from, to))) return false;
  *us = (double)ms * 1000;
  return true;
}

static bool walk(timer_launch *launch, void *context, int sets, int reps, struct fault *f) {
  for (int i = 0; i < reps; i++)
    if (!launch(context, i % sets, f)) return false;
  return true;
}

/* The same in parts that are waited for: a host that waits in a launch, behind a kernel that does not
** end, sees no deadline. */
static bool walk_in_parts(struct gpu *g, timer_launch *launch, void *context, int sets, int reps,
                          struct fault *f) {
  for (int i = 0; i < reps; i++)
    if ((i && i % ENQUEUED == 0 && !gpu_settle(g, "a walk over the ring", f)) ||
        !launch(context, i % sets, f))
      return false;
  return true;
}

/* The time of so many launches between two events */
static bool time_walk(struct gpu *g, timer_launch *launch, void *context, int sets, int n,
                      cudaEvent_t from, cudaEvent_t to, double *us, struct fault *f) {
  return CUDA(f, cudaEventRecord(from, g->stream)) &&
         walk_in_parts(g, launch, context, sets, n, f) && CUDA(f, cudaEventRecord(to, g->stream)) &&
         gpu_settle(g, "a walk over the ring", f) && elapsed_us(from, to, us, f);
}

bool timer_estimate(struct gpu *g, timer_launch *launch, void *context, int sets, double *us,
                    struct fault *f) {
  cudaEvent_t from = NULL, to = NULL;
  int n = sets;
  bool ok = CUDA(f, cudaEventCreate(&from)) && CUDA(f, cudaEventCreate(&to)) &&
            time_walk(g, launch, context, sets, n, from, to, us, f);
  if (ok && n < SHORT_WALK && *us < window_us / 4) { /* of a hot problem: one launch */
    n = SHORT_WALK;
    ok = time_walk(g, launch, context, sets, n, from, to, us, f);
  }
  if (ok) *us = fmax(*us / n, 0.1); /* a walk too short for the events */
  if (from) (void)cudaEventDestroy(from);
  if (to) (void)cudaEventDestroy(to);
  return ok;
}

bool timer_record(struct gpu *g, timer_launch *launch, void *context, int sets, int reps,
                  struct timer_tape *out, struct fault *f) {
  memset(out, 0, sizeof *out);
  out->reps = reps;
  if (!CUDA(f, cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeThreadLocal))) return false;
  bool walked = walk(launch, context, sets, reps, f);
  /* ended also after a failure, or the stream stays in capture */
  bool ended = CUDA(f, cudaStreamEndCapture(g->stream, &out->graph));
  if (walked && ended && CUDA(f, cudaGraphInstantiate(&out->exec, out->graph, 0)) &&
      CUDA(f, cudaGraphUpload(out->exec, g->stream)) && CUDA(f, cudaStreamSynchronize(g->stream)))
    return true;
  timer_free(out);
  return false;
}

bool timer_replay(struct gpu *g, const struct timer_tape *tape, struct fault *f) {
  return CUDA(f, cudaGraphLaunch(tape->exec, g->stream)) && gpu_settle(g, "a replay", f);
}

void timer_free(struct timer_tape *tape) {
  if (tape->exec) (void)cudaGraphExecDestroy(tape->exec);
  if (tape->graph) (void)cudaGraphDestroy(tape->graph);
  memset(tape, 0, sizeof *tape);
}

/* Blocks */

bool timer_open(struct timer *t, struct fault *f) {
  memset(t, 0, sizeof *t);
  for (int i = 0; i < TIMER_WINDOWS; i++)
    if (!CUDA(f, cudaEventCreate(&t->begin[i])) || !CUDA(f, cudaEventCreate(&t->end[i])))
      return false;
  void *clock = NULL;
  if (!gpu_alloc(f, &clock, 2 * SAMPLES * sizeof *t->clock, "clock samples")) return false;
  t->clock = clock;
  return true;
}

void timer_close(struct timer *t) {
  for (int i = 0; i < TIMER_WINDOWS; i++) {
    if (t->begin[i]) (void)cudaEventDestroy(t->begin[i]);
    if (t->end[i]) (void)cudaEventDestroy(t->end[i]);
  }
  gpu_free(&t->clock);
}

/* Which tape the w-th window of a palindrome of n tapes plays. */
static int tape_of(int w, int n) { return w < n ? w : 2 * n - 1 - w; }

/* Sets *ahead to false if the GPU was idle before the window's graph was submitted. */
static bool enqueue_window(struct gpu *g, struct timer *t, int w, bool *ahead, struct fault *f) {
  const struct timer_tape *tape = t->tape[tape_of(w, t->tapes)];
  if (!CUDA(f, cudaEventRecord(t->begin[w], g->stream)) ||
      !CUDA(f, cudaGraphLaunch(tape->exec, g->stream)))
    return false;
  cudaError_t e = cudaEventQuery(t->begin[w]);
  if (e == cudaSuccess)
    *ahead = false;
  else if (e != cudaErrorNotReady)
    return gpu_cuda(f, e, "cudaEventQuery", __FILE__, __LINE__);
  (void)cudaGetLastError(); /* 'not ready' is kept there, and would pass for a launch's error */
  return CUDA(f, cudaEventRecord(t->end[w], g->stream));
}

/* Before the i-th window, and after the last: nothing of this is within a window's events. */
static bool enqueue_gap(struct gpu *g, struct timer *t, int i, struct fault *f) {
  const struct timer_sweep *s = &t->sweep;
  return (!s->base || CUDA(f, kernels_sweep(s->base, s->bytes, g->stream))) &&
         CUDA(f, kernels_clock(t->clock + 2 * i, g->prop.multiProcessorCount, g->stream));
}

static bool enqueue_block(struct gpu *g, struct timer *t, bool *ahead, struct fault *f) {
  *ahead = true;
  if (!CUDA(f, cudaMemsetAsync(t->clock, 0, 2 * SAMPLES * sizeof *t->clock, g->stream)) ||
      !CUDA(f, cudaGraphLaunch(t->lead->exec, g->stream)) || !enqueue_gap(g, t, 0, f))
    return false;
  for (int w = 0; w < 2 * t->tapes; w++)
    if (!enqueue_window(g, t, w, ahead, f) || !enqueue_gap(g, t, w + 1, f)) return false;
  return true;
}

/* MHz between two samples; 0, unknown, where SM 0 missed one. */
static double mhz_of(const unsigned long long *a, const unsigned long long *b) {
  return a[1] && b[1] > a[1] && b[0] > a[0] ? (double)(b[0] - a[0]) * 1000 / (double)(b[1] - a[1])
                                            : 0;
}

/* The clock over the block, and whether it held still between the two windows of each tape. Tapes
** may differ from each other: under a power limit each has a clock of its own. */
static bool read_clocks(struct timer *t, bool *steady, struct fault *f) {
  unsigned long long s[2 * SAMPLES];
  double mhz[TIMER_WINDOWS];
  int windows = 2 * t->tapes;
  if (!CUDA(f, cudaMemcpy(s, t->clock, sizeof s, cudaMemcpyDeviceToHost))) return false;
  for (int w = 0; w < windows; w++) mhz[w] = mhz_of(s + 2 * w, s + 2 * (w + 1));
  *steady = stat_mirror_spread(mhz, windows) <= most_spread;
  t->mhz[t->blocks] = mhz_of(s, s + 2 * windows);
  return true;
}

/* One block into slot t->blocks; the caller decides whether it counts. The health is asked for while
** the GPU works through the block: an idle one is not throttled. */
static bool run_block(struct gpu *g, struct timer *t, bool ask, bool *ahead, bool *steady,
                      struct fault *f) {
  if (!enqueue_block(g, t, ahead, f)) return false;
  if (ask) nvml_read(&g->nvml, &t->health);
  if (!gpu_settle(g, "a block of replays", f)) return false;
  for (int w = 0; w < 2 * t->tapes; w++) {
    int tape = tape_of(w, t->tapes);
    double *us = &t->us[tape][2 * t->blocks + (w >= t->tapes)];
    if (!elapsed_us(t->begin[w], t->end[w], us, f)) return false;
    *us = fmax(*us, 0.01) / t->tape[tape]->reps; /* their logarithms are taken */
  }
  return read_clocks(t, steady, f);
}

bool timer_warm_up(struct gpu *g, struct timer *t, int blocks, double seconds, struct fault *f) {
  bool ahead, steady;
  double start = gpu_now();
  for (int i = 0; i < blocks || gpu_now() - start < seconds; i++)
    if (!run_block(g, t, true, &ahead, &steady, f)) return false;
  return true;
}

bool timer_run(struct gpu *g, struct timer *t, int blocks, struct fault *f) {
  int target = t->blocks + blocks, patience = blocks, starved = 0;
  while (t->blocks < target) {
    bool ahead, steady, ask = t->blocks + 1 == target;
    if (!run_block(g, t, ask, &ahead, &steady, f)) return false;
    if (!ahead) {
      t->starved++;
      if (++starved > blocks + 8)
        return fault_set(f, "timing is unstable: the host fell behind the GPU in %d of %d blocks",
                         t->starved, t->starved + t->blocks);
    } else if (!steady && patience-- > 0) {
      t->drifted++;
    } else {
      t->unsteady += !steady;
      t->blocks++;
    }
  }
  return true;
}

static bool run_stretch(struct gpu *g, struct timer *t, int blocks, const struct timer_watch *w,
                        struct fault *f) {
  return timer_run(g, t, blocks - 1 - t->blocks, f) && w->mark(w->context, f) &&
         timer_run(g, t, 1, f);
}

bool timer_run_to(struct gpu *g, struct timer *t, int blocks, const struct timer_watch *w,
                  struct fault *f) {
  if (blocks != TIMER_AUTO) return run_stretch(g, t, blocks, w, f);
  do {
    if (!run_stretch(g, t, stat_next_look(t->blocks), w, f)) return false;
  } while (!w->stop(w->context));
  return true;
}

/* Figures */

double timer_median_us(const struct timer *t, int tape) {
  return stat_median(t->us[tape], 2 * t->blocks);
}

double timer_median_mhz(const struct timer *t) { return stat_median(t->mhz, t->blocks); }

double timer_drift(const struct timer *t) { return stat_drift(t->mhz, t->blocks); }

/* A block's mean log time of a tape. */
static double log_us(const struct timer *t, int tape, int block) {
  return (log(t->us[tape][2 * block]) + log(t->us[tape][2 * block + 1])) / 2;
}

static void log_ratios(const struct timer *t, int base, int ours, double *d) {
  for (int b = 0; b < t->blocks; b++) d[b] = log_us(t, base, b) - log_us(t, ours, b);
}

void timer_compare(const struct timer *t, int base, int ours, struct timer_pair *out) {
  out->have = true;
  out->us = timer_median_us(t, ours);
  out->base_us = timer_median_us(t, base);
  out->n = t->blocks;
  log_ratios(t, base, ours, out->log_ratio);
  struct stat_interval s = stat_bootstrap(out->log_ratio, t->blocks, 0.95);
  out->ratio = (struct stat_interval){exp(s.mid), exp(s.lo), exp(s.hi)};
  out->verdict = stat_look(out->log_ratio, t->blocks).verdict;
}

struct stat_look timer_look(const struct timer *t, int base, int ours) {
  double d[TIMER_BLOCKS];
  log_ratios(t, base, ours, d);
  return stat_look(d, t->blocks);
}
