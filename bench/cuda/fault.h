/* fault.h - the first error of a job
**
** A function that can fail returns bool and takes a struct fault; the first
** error is the one kept, so that calls chain with &&.
*/
#ifndef BENCH_FAULT_H
#define BENCH_FAULT_H

#include <stdbool.h>

struct fault {
  char text[512]; /* empty: no error so far */
  bool hung;      /* the device may never answer again: touch it no more */
};

/* Keeps the text unless there is one; always returns false. */
__attribute__((format(printf, 2, 3))) bool fault_set(struct fault *f, const char *format, ...);

#endif
