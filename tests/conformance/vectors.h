/* vectors.h - the table of cases as data, their inputs, and how what they leave is written down */
#ifndef CONFORM_VECTORS_H
#define CONFORM_VECTORS_H

#include "input.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct conform_map { /* width 0: the case has none */
  uint32_t of_out, offset, width, height, stride, box_width, box_height, swizzle;
};
struct conform_case {
  const char *name;
  enum conform_input input;
  uint32_t grid, block, cluster, smem, in, out;
  const char *primitives; /* with blanks between them */
  struct conform_map map;
};
extern const struct conform_case conform_cases[];
extern const int conform_count;

/* The words of 'in', and of 'out' before the case runs. */
void conform_fill_in(const struct conform_case *c, uint32_t *words);
void conform_fill_out(const struct conform_case *c, uint32_t *words);

/* One case as text: "case NAME WORDS FNV" and lines of words: all of them, or the first ones where
** there are many and 'whole' is 0. */
enum { CONFORM_SHOWN = 160, CONFORM_FIRST = 32, CONFORM_PER_LINE = 16 };
void conform_print(FILE *f, const struct conform_case *c, const uint32_t *words, int whole);

#ifdef __cplusplus
}
#endif
#endif
