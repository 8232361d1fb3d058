/* fuzz_tmpl.c -- fuzzes the template engine: compile and render; tests/fuzz/fuzz_tmpl.lua says what
 * must hold. */
#include "state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  drive("tests/fuzz/fuzz_tmpl.lua", data, size);
  return 0;
}
