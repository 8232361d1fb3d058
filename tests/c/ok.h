/* ok.h - the whole test framework of the C tests
**
** ok(condition, sentence) prints one line; done() prints the count and is the
** exit code. A test reads as a sentence and says what it got when it fails.
*/
#ifndef TEST_OK_H
#define TEST_OK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int ok_passed, ok_failed;

__attribute__((format(printf, 2, 3), unused)) static bool ok(bool condition, const char *format,
                                                             ...) {
  va_list args;
  va_start(args, format);
  printf(condition ? "ok " : "not ok ");
  vprintf(format, args);
  printf("\n");
  va_end(args);
  if (condition)
    ok_passed++;
  else
    ok_failed++;
  return condition;
}

__attribute__((unused)) static int done(void) {
  printf("%d passed, %d failed\n", ok_passed, ok_failed);
  return ok_failed || !ok_passed;
}

#endif
