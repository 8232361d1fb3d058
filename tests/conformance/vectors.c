/* vectors.c - the table of cases as data, and the text of what they leave */
#include "vectors.h"

#include <string.h>

#define ROW(name, input, grid, block, cluster, smem, in, out, primitives)                          \
  {#name, input, grid, block, cluster, smem, in, out, primitives, {0, 0, 0, 0, 0, 0, 0, 0}},
#define ROW_MAP(name, input, grid, block, cluster, smem, in, out, primitives, ...)                 \
  {#name, input, grid, block, cluster, smem, in, out, primitives, {__VA_ARGS__}},
const struct conform_case conform_cases[] = {
#include "table.h"
};
const int conform_count = sizeof conform_cases / sizeof conform_cases[0];

void conform_fill_in(const struct conform_case *c, uint32_t *words) {
  uint32_t salt = (uint32_t)conform_fnv(c->name, strlen(c->name)); /* no two cases have one input */
  for (uint32_t i = 0; i < c->in; i++) words[i] = conform_word(c->input, salt, i);
}

void conform_fill_out(const struct conform_case *c, uint32_t *words) {
  for (uint32_t i = 0; i < c->out; i++) words[i] = CONFORM_UNTOUCHED;
}

void conform_print(FILE *f, const struct conform_case *c, const uint32_t *words, int whole) {
  uint32_t shown = whole || c->out <= CONFORM_SHOWN ? c->out : CONFORM_FIRST;
  fprintf(f, "case %s %u %016llx\n", c->name, c->out,
          (unsigned long long)conform_fnv(words, 4 * (uint64_t)c->out));
  for (uint32_t i = 0; i < shown; i++)
    fprintf(f, "%08x%c", words[i],
            i + 1 == shown || i % CONFORM_PER_LINE == CONFORM_PER_LINE - 1 ? '\n' : ' ');
}
