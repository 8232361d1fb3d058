/* timer.h - captured graphs of launches, and blocks of paired windows
**
** A tape is a CUDA graph of back-to-back launches that walk the ring of buffer
** sets. A window is one replay of a tape between two events. A block is a
** palindrome of windows of all implementations, enqueued without a pause.
*/
#ifndef BENCH_TIMER_H
#define BENCH_TIMER_H

#include "gpu.h"
#include "stat.h"

enum {
  TIMER_TAPES = 24, /* two candidates' and two of cuBLAS; or every option of the libraries */
  TIMER_WINDOWS = 2 * TIMER_TAPES,
  TIMER_BLOCKS = 256,
  TIMER_MAX_REPS = 2048 /* launches of a tape */
};

/* Enqueues one launch on buffer set 'set' of the ring. */
typedef bool timer_launch(void *context, int set, struct fault *f);

struct timer_tape {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  int reps;
};

/* Launches per tape: whole rings, at least about 1 ms of launches of 'us'. */
int timer_reps(double us, int sets);

/* Microseconds per launch of one walk over the ring, launched directly. Host-bound for tiny
** kernels: good enough to size a tape. */
bool timer_estimate(struct gpu *g, timer_launch *launch, void *context, int sets, double *us,
                    struct fault *f);

bool timer_record(struct gpu *g, timer_launch *launch, void *context, int sets, int reps,
                  struct timer_tape *out, struct fault *f);
bool timer_replay(struct gpu *g, const struct timer_tape *tape, struct fault *f);
void timer_free(struct timer_tape *tape);

struct timer {
  int tapes;
  const struct timer_tape *tape[TIMER_TAPES]; /* in the palindrome's order */
  const struct timer_tape *lead;              /* replayed before each block, not measured */
  int blocks, starved;                        /* blocks kept; dropped: the host fell behind */
  int drifted, unsteady; /* dropped: the clock moved within the block; kept in spite of it */
  double us[TIMER_TAPES][2 * TIMER_BLOCKS]; /* per launch, two windows a block */
  double mhz[TIMER_BLOCKS];                 /* SM clock over each block */
  struct nvml_state health;
  cudaEvent_t begin[TIMER_WINDOWS], end[TIMER_WINDOWS];
  unsigned long long *clock; /* device: a sample before each window and one after the last */
};

bool timer_open(struct timer *t, struct fault *f);
void timer_close(struct timer *t);

/* Runs blocks that are not kept: 'blocks', and on until 'seconds' have passed. */
bool timer_warm_up(struct gpu *g, struct timer *t, int blocks, double seconds, struct fault *f);
/* Runs until 'blocks' more blocks are kept. A block whose windows of one tape differ by more than
** 1 % in clock is dropped, but at most 'blocks' of them: a GPU at its power limit may never be
** steadier, and the figures then say so (unsteady). */
bool timer_run(struct gpu *g, struct timer *t, int blocks, struct fault *f);

double timer_median_us(const struct timer *t, int tape);
double timer_median_mhz(const struct timer *t);
double timer_drift(const struct timer *t); /* of the clock, from the first blocks to the last */
/* Ratio of times base / ours, paired by block, with its 95 % interval. */
struct stat_interval timer_ratio(const struct timer *t, int base, int ours);
/* What the blocks so far say of it: see stat_look. */
struct stat_look timer_look(const struct timer *t, int base, int ours);

#endif
