/* lookup.h - the generated table of problems, and how a call finds its row
**
** table.c, which `loom release` writes, fills a struct lookup: rows in INDEX's
** order, and slots, an open-addressed hash table of row numbers. Nothing here
** needs a GPU.
*/
#ifndef LOOM_LOOKUP_H
#define LOOM_LOOKUP_H

#include "loom.h"

#include <stdbool.h>
#include <stddef.h>

struct lookup_kernel {
  const char *name, *desc; /* desc: the launch descriptor's JSON line */
  const unsigned char *cubin, *cubin_end;
};

struct lookup_row {
  loom_problem problem;
  int kernel; /* index into kernels */
};

struct lookup {
  const struct lookup_row *rows;
  const struct lookup_kernel *kernels;
  const uint32_t *slots; /* row + 1; 0: empty. At least half of them are empty */
  int row_count, kernel_count;
  uint32_t slot_mask; /* number of slots - 1, the number a power of two */
};

extern const struct lookup lookup_table;

/* The same function as in lua/release_tree.lua, which fills the slots. */
uint64_t lookup_hash(int layout, int type, int64_t m, int64_t n, int64_t k);

/* The row of exactly this problem, or NULL. */
const struct lookup_row *lookup_find(const struct lookup *t, int layout, int type, int64_t m,
                                     int64_t n, int64_t k);

#endif
