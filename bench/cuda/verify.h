/* verify.h - a candidate on small, awkward products, before it is timed
**
** Each run draws a shape of a few tiles with remainders that the descriptor
** allows, and one of the exact families (families.h). Operands end where memory
** ends, NaNs lie between their rows, marks between those of C.
*/
#ifndef BENCH_VERIFY_H
#define BENCH_VERIFY_H

#include "check.h"
#include "launch.h"
#include "stuck.h"

struct verify {
  struct gpu *gpu;
  const loom_kernel *kernel;
  void *ws;
  const int64_t *mnk; /* the problem's: taken where the kernel refuses every drawn shape */
  uint64_t seed;
  double patience;           /* seconds until a launch is said not to end */
  const struct stuck *stuck; /* NULL, or who is told of a wait that gave up */
  /* What came out */
  int families; /* runs that were made and right */
  bool holes;   /* nothing was mapped behind the operands */
};

/* Seconds. A small product takes some microseconds, and two attempts of a kernel that does not end are to
** be over in 10, with two fresh workers. */
enum { VERIFY_PATIENCE = 1 };

/* The workspace as the descriptor promises it. */
bool verify_clear_workspace(struct gpu *g, const loom_desc *d, void *ws, struct fault *f);

/* Returns false on a fault; a wrong result is told by v->wrong, and v->why begins with the name of
** the run. The workspace is left as the kernel left it. */
bool verify_run(struct verify *v, struct verdict *out, struct fault *f);

#endif
