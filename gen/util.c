/* util.c -- what every file of gen/ needs: dying with a message, memory that cannot fail, time.
 *
 * loom is a one-shot tool: when memory runs out there is nothing better to do than to say so
 * and stop, hence no caller of util_malloc looks at the result.  (Lua's own heap is different:
 * gen/main.c gives it an allocator that may refuse, and Lua code may catch that.)
 */
#include "util.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void util_die(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fputs("loom: ", stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
  exit(1);
}

void *util_malloc(size_t size) {
  void *p = malloc(size ? size : 1);
  if (!p) util_die("no memory for %zu bytes", size);
  return p;
}

void *util_realloc(void *p, size_t size) {
  void *q = realloc(p, size ? size : 1);
  if (!q) util_die("no memory for %zu bytes", size);
  return q;
}

char *util_strdup(const char *s) {
  size_t n = strlen(s) + 1;
  return memcpy(util_malloc(n), s, n);
}

double util_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int util_write(int fd, const char *data, size_t len) {
  while (len > 0) {
    ssize_t n = write(fd, data, len);
    if (n >= 0) {
      data += n;
      len -= (size_t)n;
    } else if (errno == EAGAIN) { /* a terminal that somebody made non-blocking */
      struct pollfd p = {.fd = fd, .events = POLLOUT};
      (void)poll(&p, 1, 1000);
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return 0;
}
