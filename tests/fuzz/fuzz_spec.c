/* fuzz_spec.c -- fuzzes what reads space files: the sandbox, statements, expressions, bound spaces,
 * edits; tests/fuzz/fuzz_spec.lua says what must hold. */
#include "state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  drive("tests/fuzz/fuzz_spec.lua", data, size);
  return 0;
}
