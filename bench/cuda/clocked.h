/* clocked.h - one kernel against cublasGemmEx by the host's clock
**
** call: one call after the other, each to its completion. server: requests arrive at
** random, at a rate that keeps cuBLAS busy for so much of the time, and wait in line;
** latency counts from their arrival. graph: the same, each call a graph of one launch.
**
** Both sides do per call what a prepared library does: ours loom_kernel_launch of a
** launch bound before, cuBLAS cublasGemmEx, which takes plain arguments and has nothing
** to prepare; it chooses its kernel in the call.
*/
#ifndef BENCH_CLOCKED_H
#define BENCH_CLOCKED_H

#include "bound.h"
#include "clockplan.h"

enum clocked_kind { CLOCKED_CALL, CLOCKED_SERVER, CLOCKED_GRAPH };
const char *clocked_word(enum clocked_kind kind); /* "call", "server", "server-graph" */

enum clocked_side { CLOCKED_OURS, CLOCKED_PDL, CLOCKED_BASE };

struct clocked_job {
  const char *cubin, *desc;
  enum clocked_kind kind;
  double seconds;
  int load; /* per cent, of a server */
};

struct clocked_result {
  bool refused;
  char why[256];
  struct verdict verdict;
  bool proved; /* the small products were run, and not known from before */
  int families;
  bool holes;
  double ms_families;
  bool pdl; /* the pdl figures are there */
  struct {
    double us, p99_us, enqueue_us;
  } side[CLOCK_SIDES];           /* by enum clocked_side */
  struct clockratio ratio[2];    /* of OURS and PDL */
  int layout, segments, dropped; /* layout: cuBLAS's faster one, an index of baseline_layout */
  int calls;                     /* of the side that has least */
};

/* Returns false on a fault; refused and wrong kernels are results. The problem is prepared. */
bool clocked_run(struct problem *p, const struct clocked_job *job, struct clocked_result *out,
                 struct fault *f);

#endif
