/* lookup_test.c - every row of a generated table is found, and nothing else */
#include "lookup.h"
#include "ok.h"

static bool is_in_table(const struct lookup *t, const loom_problem *p, int layout, int type,
                        const int64_t mnk[3]) {
  for (int i = 0; i < t->row_count; i++) {
    const loom_problem *q = &t->rows[i].problem;
    if (q->layout == layout && q->type == type && q->m == mnk[0] && q->n == mnk[1] &&
        q->k == mnk[2])
      return true;
  }
  return p == NULL;
}

/* Each row's neighbours: what the look-up says must be what a walk says. */
static int wrong_neighbours(const struct lookup *t) {
  int wrong = 0;
  for (int i = 0; i < t->row_count; i++) {
    const loom_problem *p = &t->rows[i].problem;
    for (int d = 0; d < 5; d++) {
      int64_t mnk[3] = {p->m + (d == 0), p->n - (d == 1), p->k * (1 + (d == 2))};
      int layout = d == 3 ? p->layout ^ 1 : p->layout, type = d == 4 ? (p->type + 1) % 3 : p->type;
      const struct lookup_row *r = lookup_find(t, layout, type, mnk[0], mnk[1], mnk[2]);
      wrong += (r != NULL) != is_in_table(t, p, layout, type, mnk);
    }
  }
  return wrong;
}

int main(void) {
  const struct lookup *t = &lookup_table;
  int missed = 0, foreign = 0, taken = 0;
  for (int i = 0; i < t->row_count; i++) {
    const loom_problem *p = &t->rows[i].problem;
    missed += lookup_find(t, p->layout, p->type, p->m, p->n, p->k) != &t->rows[i];
    foreign += t->rows[i].kernel < 0 || t->rows[i].kernel >= t->kernel_count;
  }
  for (uint32_t i = 0; i <= t->slot_mask; i++) taken += t->slots[i] != 0;
  ok(t->row_count >= 1000 && missed == 0, "%d rows, %d missed", t->row_count, missed);
  ok(wrong_neighbours(t) == 0, "neighbours are found only where they are rows");
  ok(foreign == 0, "every row has a kernel");
  ok(taken == t->row_count && 2 * taken <= (int)t->slot_mask + 1, "half of the slots are empty");
  ok((t->slot_mask & (t->slot_mask + 1)) == 0, "slots are a power of two");
  ok(!lookup_find(t, -1, 9, INT64_MAX, INT64_MIN, 0), "nonsense is not found");
  ok(t->kernels[0].cubin_end - t->kernels[0].cubin == 5, "a cubin is taken in whole");
  return done();
}
