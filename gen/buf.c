/* buf.c -- a growable text buffer.
 *
 * Grows by half its size again, so that appending is linear and a reused buffer (the renderer
 * keeps its own between renders) soon stops growing at all.
 */
#include "buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

void buf_reserve(buf *b, size_t n) {
  size_t want = b->len + n + 1;
  if (want <= b->cap) return;
  size_t cap = b->cap + b->cap / 2;
  if (cap < want) cap = want;
  if (cap < 64) cap = 64;
  b->data = util_realloc(b->data, cap);
  b->cap = cap;
}

void buf_add(buf *b, const void *data, size_t n) {
  buf_reserve(b, n);
  if (n) memcpy(b->data + b->len, data, n);
  b->len += n;
  b->data[b->len] = 0;
}

void buf_adds(buf *b, const char *s) { buf_add(b, s, strlen(s)); }

void buf_addf(buf *b, const char *fmt, ...) {
  va_list ap, again;
  va_start(ap, fmt);
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  va_end(ap);
  if (n < 0) util_die("cannot format '%s'", fmt);
  buf_reserve(b, (size_t)n);
  vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
  va_end(again);
  b->len += (size_t)n;
}

void buf_clear(buf *b) {
  b->len = 0;
  if (b->data) b->data[0] = 0;
}

void buf_drop(buf *b, size_t n) {
  if (n == 0) return;
  memmove(b->data, b->data + n, b->len - n + 1);
  b->len -= n;
}

void buf_free(buf *b) {
  free(b->data);
  *b = (buf){0};
}

int buf_read_file(buf *b, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
  if (fd < 0) return -1;
  for (;;) {
    buf_reserve(b, 65536);
    ssize_t n = read(fd, b->data + b->len, 65536);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) err = errno;
    if (n <= 0) break;
    b->len += (size_t)n;
  }
  b->data[b->len] = 0;
  close(fd);
  errno = err;
  return err ? -1 : 0;
}
