/* bound.h - one kernel on the prepared problem: loaded, bound to every buffer set, verified
**
** What times a kernel in some way begins here, so that all of them load, launch and
** verify alike: bound_open, bound_verify, its own part, bound_close.
*/
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "check.h"
#include "launch.h"

/* Not to be moved or copied once open: its launches point into it. */
struct bound {
  struct problem *p;
  loom_kernel kernel;
  loom_launch *launches; /* one a buffer set */
  void *ws;
  uint64_t seed;   /* of its draws: of its code and the problem's seed, to have them again */
  uint64_t digest; /* of its code, its descriptor and the problem's extents */
  bool pdl;        /* how bound_launch launches */
  bool refused;    /* by the launcher, in load or bind: a result, not a fault */
  char why[256];   /* of a refusal */
  /* from bound_prove */
  int families; /* runs of verify.h that were right */
  bool holes;
  double ms_families;
  /* from bound_verify */
  struct check_sums sums; /* of A and B, before its first launch on them */
  int reps;
  struct timer_tape plain, with_pdl; /* verified; with_pdl where the descriptor has it */
};

/* Load opens the workspace too; of *p it takes gpu, mnk and seed. Open is load and bind. A refusal
** is b->refused. */
bool bound_load(struct bound *b, struct problem *p, const char *cubin, const char *desc,
                struct fault *f);
bool bound_open(struct bound *b, struct problem *p, const char *cubin, const char *desc,
                struct fault *f);

/* The same with a kernel that is in the process already, as the selftest's are. */
bool bound_adopt(struct bound *b, struct problem *p, const loom_kernel *kernel, uint64_t seed,
                 struct fault *f);

/* Also after a failure of the above; not after a hang, where freeing would wait for the kernel.
** bad: the kernel was wrong or an error came, so that A and B are written anew. */
void bound_close(struct bound *b, bool bad);

/* A timer_launch: one prepared launch on a buffer set, as b->pdl says. */
bool bound_launch(void *bound, int set, struct fault *f);

/* The first launch on the problem's buffers, with a deadline. */
bool bound_first_launch(struct bound *b, struct fault *f);

/* The small products alone (verify.h): after bound_load. */
bool bound_prove(struct bound *b, struct verdict *v, struct fault *f);

/* All that comes before timing: small products, the first launch, the tapes and their outputs. A
** wrong kernel is told by v->wrong. */
bool bound_verify(struct bound *b, struct verdict *v, struct fault *f);

/* The same without the small products. */
bool bound_record(struct bound *b, struct verdict *v, struct fault *f);

/* Marks C, replays a tape of this kernel, and checks outputs and inputs; v->why begins with 'what'. */
bool bound_replay(struct bound *b, const struct timer_tape *tape, const char *what,
                  struct verdict *v, struct fault *f);

/* Has one with this code and descriptor passed in this process, on a problem of these extents? */
void bound_remember(const struct bound *b);
bool bound_passed(const struct bound *b);

#endif
