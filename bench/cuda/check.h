/* check.h - is an output right?
**
** Element by element against the FP64 product, with a bound that fp16
** accumulation or one lost slice of K cannot meet, and over all elements by
** root mean square. NaN is never right. Where fp16 accumulation is asked for, the
** element bound is wide, and the root mean square is what tells a lost slice.
*/
#ifndef BENCH_CHECK_H
#define BENCH_CHECK_H

#include "problem.h"

struct verdict {
  bool wrong;
  char why[256];
  long long row, col; /* a wrong element; -1: the fault lies elsewhere */
  double got, want;
  double err, rms; /* worst of all checks: |C-C*| / bound, and the RMS ratio */
  int checked;     /* outputs that were found right */
};

void check_begin(struct verdict *v);

/* Says why; the first reason is the one kept. */
__attribute__((format(printf, 2, 3))) void check_wrong(struct verdict *v, const char *format, ...);

/* A 16-bit float's value on the host */
double check_value(uint16_t bits, int dtype);

/* Marks every element of the ring, guards and gaps too, as unwritten. */
bool check_poison(struct problem *p, struct ring *c, struct fault *f);

/* Verifies the checked sets of 'c' and that nothing beside them was written. Returns false on a
** fault; a wrong output is told by v->wrong, and v->why begins with 'what'. */
bool check_outputs(struct problem *p, struct ring *c, int layout, const char *what,
                   struct verdict *v, struct fault *f);

/* The same for a band of rows of one set, against references of it alone. */
bool check_rows(struct problem *p, struct ring *c, int set, int64_t row, int64_t rows,
                const double *ref, const double *abs, const char *what, struct verdict *v,
                struct fault *f);

/* Sums over the rings of A and B, guards and gaps too. */
struct check_sums {
  unsigned long long a, b;
};
bool check_sum(struct problem *p, struct check_sums *out, struct fault *f);
bool check_inputs(struct problem *p, const struct check_sums *before, const char *what,
                  struct verdict *v, struct fault *f);

#endif
