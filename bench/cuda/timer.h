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
  TIMER_AUTO = 0,       /* blocks: as many as a verdict takes */
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

/* Microseconds per launch of one walk over the ring, or of more where that is short, launched
** directly. Host-bound for tiny kernels: good enough to size a tape. */
bool timer_estimate(struct gpu *g, timer_launch *launch, void *context, int sets, double *us,
                    struct fault *f);

bool timer_record(struct gpu *g, timer_launch *launch, void *context, int sets, int reps,
                  struct timer_tape *out, struct fault *f);
bool timer_replay(struct gpu *g, const struct timer_tape *tape, struct fault *f);
void timer_free(struct timer_tape *tape);

/* A buffer larger than L2, read through before each window so that the window finds nothing of its
** operands there; base NULL: none. */
struct timer_sweep {
  void *base;
  size_t bytes;
};

struct timer {
  int tapes;
  const struct timer_tape *tape[TIMER_TAPES]; /* in the palindrome's order */
  const struct timer_tape *lead;              /* replayed before each block, not measured */
  struct timer_sweep sweep;
  int blocks, starved;   /* blocks kept; dropped: the host fell behind */
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

/* Runs on to so many blocks, or with TIMER_AUTO until stop says so at a look (stat_next_look). mark
** is called right before the last block of each stretch, whose outputs may be checked afterwards. */
struct timer_watch {
  bool (*mark)(void *context, struct fault *f);
  bool (*stop)(void *context);
  void *context;
};
bool timer_run_to(struct gpu *g, struct timer *t, int blocks, const struct timer_watch *w,
                  struct fault *f);

double timer_median_us(const struct timer *t, int tape);
double timer_median_mhz(const struct timer *t);
double timer_drift(const struct timer *t); /* of the clock, from the first blocks to the last */

/* Two tapes, paired by block */
struct timer_pair {
  bool have;
  double us, base_us;             /* medians of ours and of the base */
  struct stat_interval ratio;     /* of times, base / ours, at 95 % */
  enum stat_verdict verdict;      /* at 99 %, see stat_look */
  int n;                          /* blocks */
  double log_ratio[TIMER_BLOCKS]; /* of each */
};
void timer_compare(const struct timer *t, int base, int ours, struct timer_pair *out);
/* What the blocks so far say of it: see stat_look. */
struct stat_look timer_look(const struct timer *t, int base, int ours);

#endif
