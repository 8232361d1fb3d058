/* fault.c - the first error of a job */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>

bool fault_set(struct fault *f, const char *format, ...) {
  if (f->text[0] == 0) {
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
  }
  return false;
}
