/* stuck.h - which wait a kernel is stuck in, told by a build whose waits give up
**
** Such a build (LOOM_WAIT_LIMIT, templates/lib/loom_stuck.cuh) has a variable that
** the host points at memory of its own. A wait that lasts too long writes there
** and traps; the memory outlives the CUDA context.
*/
#ifndef BENCH_STUCK_H
#define BENCH_STUCK_H

#include "gpu.h"
#include "launch.h"

/* As loom_stuck.cuh has it */
struct stuck_record {
  unsigned told, kind, cta, thread;
  unsigned long long at; /* offset in shared memory, or address */
  unsigned value, pad;   /* parity that is waited for, or what the flag holds */
};

struct stuck {
  void *state; /* on the device; NULL: the kernel is an ordinary build */
  struct stuck_record *record;
};

/* An ordinary build is no fault. */
bool stuck_open(struct stuck *s, const loom_kernel *k, struct fault *f);

/* To be enqueued before launches whose waits are to be told. */
bool stuck_arm(const struct stuck *s, cudaStream_t stream, struct fault *f);

/* After a failure: has a wait given up? Says which one, flags by their place in the workspace. */
bool stuck_told(const struct stuck *s, const void *ws, size_t ws_bytes, char *text, size_t room);

/* Not after a hang. */
void stuck_close(struct stuck *s);

#endif
