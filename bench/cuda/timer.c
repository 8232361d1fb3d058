/* timer.c - captured graphs of launches, and blocks of paired windows
**
** What a window measures is the period of back-to-back launches: kernel plus
** the gap to the next, the same for both sides. Pairing within a block removes
** drift of clock and temperature; the palindrome removes its linear part.
**
** A block is [lead] A B C D D C B A. The lead is not measured: it keeps the GPU
** busy while the host enqueues, so that the first window does not time the host.
** Whether the host kept ahead is looked at: if the GPU had already passed a
** window's first event when its graph was submitted, the block is dropped.
*/
#define _POSIX_C_SOURCE 200809L
#include "timer.h"

#include "kernels.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const double window_us = 1000; /* events resolve 0.5 us: 0.1 % of a window */

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

bool timer_estimate(struct gpu *g, timer_launch *launch, void *context, int sets, double *us,
                    struct fault *f) {
  cudaEvent_t from = NULL, to = NULL;
  bool ok = CUDA(f, cudaEventCreate(&from)) && CUDA(f, cudaEventCreate(&to)) &&
            CUDA(f, cudaEventRecord(from, g->stream)) && walk(launch, context, sets, sets, f) &&
            CUDA(f, cudaEventRecord(to, g->stream)) && CUDA(f, cudaStreamSynchronize(g->stream)) &&
            elapsed_us(from, to, us, f);
  if (ok) *us = fmax(*us / sets, 0.1); /* a walk too short for the events */
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
  return CUDA(f, cudaGraphLaunch(tape->exec, g->stream)) &&
         CUDA(f, cudaStreamSynchronize(g->stream));
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
  if (!gpu_alloc(f, &clock, 4 * sizeof *t->clock, "clock samples")) return false;
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

/* 0, unknown, where SM 0 missed a sample. */
static double mhz_of(const unsigned long long s[4]) {
  return s[3] > s[1] && s[2] > s[0] ? (double)(s[2] - s[0]) * 1000 / (double)(s[3] - s[1]) : 0;
}

static bool enqueue_block(struct gpu *g, struct timer *t, bool *ahead, struct fault *f) {
  int sms = g->prop.multiProcessorCount;
  *ahead = true;
  if (!CUDA(f, cudaMemsetAsync(t->clock, 0, 4 * sizeof *t->clock, g->stream)) ||
      !CUDA(f, cudaGraphLaunch(t->lead->exec, g->stream)) ||
      !CUDA(f, kernels_clock(t->clock, sms, g->stream)))
    return false;
  for (int w = 0; w < 2 * t->tapes; w++)
    if (!enqueue_window(g, t, w, ahead, f)) return false;
  return CUDA(f, kernels_clock(t->clock + 2, sms, g->stream)) &&
         CUDA(f, cudaStreamSynchronize(g->stream));
}

/* One block into slot t->blocks; the caller decides whether it counts. */
static bool run_block(struct gpu *g, struct timer *t, bool *ahead, struct fault *f) {
  unsigned long long samples[4];
  if (!enqueue_block(g, t, ahead, f)) return false;
  for (int w = 0; w < 2 * t->tapes; w++) {
    int tape = tape_of(w, t->tapes);
    double *us = &t->us[tape][2 * t->blocks + (w >= t->tapes)];
    if (!elapsed_us(t->begin[w], t->end[w], us, f)) return false;
    *us /= t->tape[tape]->reps;
  }
  if (!CUDA(f, cudaMemcpy(samples, t->clock, sizeof samples, cudaMemcpyDeviceToHost))) return false;
  t->mhz[t->blocks] = mhz_of(samples);
  return true;
}

static double now(void) {
  struct timespec ts;
  (void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

bool timer_warm_up(struct gpu *g, struct timer *t, double seconds, struct fault *f) {
  bool ahead;
  double start = now();
  for (int i = 0; i < 2 || now() - start < seconds; i++)
    if (!run_block(g, t, &ahead, f)) return false;
  return true;
}

bool timer_run(struct gpu *g, struct timer *t, int blocks, struct fault *f) {
  int target = t->blocks + blocks, tries = 0, most = 2 * blocks + 8;
  while (t->blocks < target) {
    bool ahead;
    if (++tries > most)
      return fault_set(f, "timing is unstable: the host fell behind the GPU in %d of %d blocks",
                       t->starved, t->starved + t->blocks);
    if (!run_block(g, t, &ahead, f)) return false;
    if (ahead)
      t->blocks++;
    else
      t->starved++;
  }
  return true;
}

/* Figures */

double timer_median_us(const struct timer *t, int tape) {
  return stat_median(t->us[tape], 2 * t->blocks);
}

double timer_median_mhz(const struct timer *t) { return stat_median(t->mhz, t->blocks); }

/* A block's mean log time of a tape. */
static double log_us(const struct timer *t, int tape, int block) {
  return (log(t->us[tape][2 * block]) + log(t->us[tape][2 * block + 1])) / 2;
}

struct stat_interval timer_ratio(const struct timer *t, int base, int ours) {
  double d[TIMER_BLOCKS];
  for (int b = 0; b < t->blocks; b++) d[b] = log_us(t, base, b) - log_us(t, ours, b);
  struct stat_interval s = stat_bootstrap(d, t->blocks);
  return (struct stat_interval){exp(s.mid), exp(s.lo), exp(s.hi)};
}
