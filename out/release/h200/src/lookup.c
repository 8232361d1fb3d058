/* lookup.c - finds a call's row in the generated table
**
** One hash, then slots one after the other up to an empty one; the table is at
** most half full, so a look-up takes a step or two.
*/
#include "lookup.h"

uint64_t lookup_hash(int layout, int type, int64_t m, int64_t n, int64_t k) {
  uint64_t h = (uint64_t)(type * 4 + layout);
  const uint64_t parts[] = {(uint64_t)m, (uint64_t)n, (uint64_t)k};
  for (int i = 0; i < 3; i++) {
    h = (h ^ parts[i]) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  return h;
}

static bool is_row(const loom_problem *p, int layout, int type, const int64_t mnk[3]) {
  return p->layout == layout && p->type == type && p->m == mnk[0] && p->n == mnk[1] &&
         p->k == mnk[2];
}

const struct lookup_row *lookup_find(const struct lookup *t, int layout, int type, int64_t m,
                                     int64_t n, int64_t k) {
  const int64_t mnk[] = {m, n, k};
  uint64_t at = lookup_hash(layout, type, m, n, k);
  for (uint32_t row; (row = t->slots[at & t->slot_mask]) != 0; at++)
    if (is_row(&t->rows[row - 1].problem, layout, type, mnk)) return &t->rows[row - 1];
  return NULL;
}
