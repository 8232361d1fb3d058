/* hostclock.h - calls as their caller sees them: from the host's clock to completion
**
** The sides are launch functions, measured in turns (clockplan.h). Completion is a
** number in the host's memory that the stream writes behind each call: the host reads it
** in a loop, without a call into the driver that could take long. It costs both sides
** the same: the write is enqueued while the kernel is on its way, and the GPU writes
** once all before it is done and visible.
*/
#ifndef BENCH_HOSTCLOCK_H
#define BENCH_HOSTCLOCK_H

#include "clockplan.h"
#include "timer.h"

#include <cudaTypedefs.h>
#include <stdint.h>

/* One of what is compared. Samples are kept by segment: the s-th has from[s] .. from[s + 1]. */
struct hostclock_side {
  timer_launch *launch;
  void *context;
  float *us, *enqueue_us; /* latency; time until the launch returned, of calls alone */
  int calls, room, segments, from[CLOCK_SEGMENTS + 1];
};

struct hostclock {
  /* Set by the caller */
  struct gpu *gpu;
  int sets;        /* of the ring, which all sides walk together */
  int most_calls;  /* of a segment; 0: any number */
  bool server;     /* requests that arrive on their own; else one call after the other */
  double patience; /* seconds without an end until the stream is said to hang */
  int64_t seed;    /* of the schedules */
  int sides;
  struct hostclock_side side[CLOCK_SIDES];
  /* Its own */
  int set, dropped; /* dropped: arrivals never sent, because the queue grew and grew */
  uint32_t sent;
  uint32_t *flag; /* mapped */
  CUdeviceptr flag_device;
  PFN_cuStreamWriteValue32_v11070 write;
  double *due;
  float *us, *enqueue_us; /* of the segment at work */
  int room;
  bool pinned;
  unsigned char cpus[128]; /* where the thread was allowed to run before: a cpu_set_t */
};

/* From open to close the calling thread stays on its CPU, where that is allowed. */
bool hostclock_open(struct hostclock *h, struct fault *f);
void hostclock_close(struct hostclock *h); /* not after a hang */

/* Isolated calls of a side for so long, at least 5: the median, in seconds. Nothing is kept. */
bool hostclock_isolated(struct hostclock *h, int side, double seconds, double *median,
                        struct fault *f);

/* Is called before every segment and after the last one of each side; the clock stands still. */
enum hostclock_when { HOSTCLOCK_BEFORE, HOSTCLOCK_BEFORE_LAST, HOSTCLOCK_AFTER_LAST };
typedef bool hostclock_between(void *context, int side, enum hostclock_when when, struct fault *f);

bool hostclock_run(struct hostclock *h, const struct clockplan *plan, hostclock_between *between,
                   void *context, struct fault *f);

/* Figures, in microseconds; they sort the samples within segments or, at the end, all of them: ratios
** come first. */
void hostclock_medians(struct hostclock *h, int side, double *out); /* of each segment */
double hostclock_latency(struct hostclock *h, int side, double part);
double hostclock_enqueue(struct hostclock *h, int side);

#endif
