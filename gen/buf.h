/* buf.h -- a growable text buffer.
 *
 * Invariants: a buf of all zeros is an empty one; data[len] is 0 as soon as data is not NULL;
 * cap counts the bytes that data can hold, that 0 included.  Owners free it with buf_free.
 */
#ifndef LOOM_BUF_H
#define LOOM_BUF_H

#include <stddef.h>

typedef struct buf {
  char *data;
  size_t len, cap;
} buf;

/* Makes room for n more bytes and a final 0. */
void buf_reserve(buf *b, size_t n);
/* Appends n bytes, a string, printf's output. */
void buf_add(buf *b, const void *data, size_t n);
void buf_adds(buf *b, const char *s);
void buf_addf(buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Forgets the text and keeps the memory. */
void buf_clear(buf *b);
/* Drops the first n bytes. */
void buf_drop(buf *b, size_t n);
/* Gives the memory back; the buf is an empty one afterwards. */
void buf_free(buf *b);
/* Reads a file to its end; 0, or -1 with errno.  Never leaves a descriptor open. */
int buf_read_file(buf *b, const char *path);

#endif
