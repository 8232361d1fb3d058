/* llm_text.c -- text that is not ours: made valid, made one line, freed of the key; the transcript.
 *
 * A server may echo the key back, plainly or as JSON escapes inside of JSON; llm_hide finds both.
 * A key of fewer than KEY_MIN bytes is a placeholder ("x") that local servers are given, no secret:
 * hiding it would blot out harmless letters.
 *
 * The transcript is JSON lines, each written by one write() to a file opened for appending, so that
 * two searches may share it.  A line that a crash cut off is ended first.
 */
#include "llm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

enum { KEY_MIN = 4, LOG_TEXT_MAX = 1 << 20 };

/* ---- UTF-8 ---- */

/* How many bytes the character has that begins with c, 0 if none does. */
static size_t utf8_length(unsigned char c) {
  if (c < 0x80) return 1;
  if (c < 0xC2 || c > 0xF4) return 0;
  return c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

/* Length of the valid character at p, 0 if there is none. */
static size_t utf8_char(const unsigned char *p, size_t n) {
  size_t len = utf8_length(p[0]);
  if (len < 2) return len;
  if (len > n) return 0;
  unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;  /* no longer than needed */
  unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF; /* surrogates, U+10FFFF */
  if (p[1] < low || p[1] > high) return 0;
  for (size_t i = 2; i < len; i++)
    if ((p[i] & 0xC0) != 0x80) return 0;
  return len;
}

void llm_clean(buf *b) {
  buf out = {0};
  buf_reserve(&out, b->len);
  buf_adds(&out, "");
  for (size_t i = 0; i < b->len;) {
    size_t len = utf8_char((const unsigned char *)b->data + i, b->len - i);
    if (b->data[i] == 0)
      buf_adds(&out, " ");
    else if (len > 0)
      buf_add(&out, b->data + i, len);
    else
      buf_adds(&out, "\xEF\xBF\xBD");
    i += len ? len : 1;
  }
  buf_free(b);
  *b = out;
}

void llm_flatten(buf *b) {
  for (size_t i = 0; i < b->len; i++) {
    unsigned char c = (unsigned char)b->data[i];
    if (c < 0x20 || c == 0x7F) b->data[i] = ' ';
    if (c == 0xC2 && i + 1 < b->len && (unsigned char)b->data[i + 1] < 0xA0)
      b->data[i] = b->data[i + 1] = ' '; /* U+0080 to U+009F */
  }
}

void llm_shorten(buf *b, size_t max) {
  if (b->len <= max) return;
  while (max > 0 && ((unsigned char)b->data[max] & 0xC0) == 0x80) max--;
  b->len = max;
  b->data[max] = 0;
}

/* ---- the key ---- */

/* Value of "uXXXX" at p as a byte, -1 if it is none. */
static int escaped_byte(const char *p, const char *end) {
  char digits[5] = {0};
  if (end - p < 5 || p[0] != 'u') return -1;
  memcpy(digits, p + 1, 4);
  if (strspn(digits, "0123456789abcdefABCDEF") != 4) return -1;
  long code = strtol(digits, NULL, 16);
  return code < 0x80 ? (int)code : -1;
}

/* How many bytes at p spell the key, 0 if they do not.  Before each character of it may stand any
 * number of backslashes, and it may be a \u escape: JSON in JSON has them.  A text may have been
 * cut off within the key. */
static size_t spells_key(const char *key, const char *p, const char *end) {
  const char *from = p;
  for (const char *k = key; *k; k++) {
    const char *slashes = p;
    if (p == end && k - key >= KEY_MIN) break;
    while (p < end && *p == '\\') p++;
    int code = p > slashes ? escaped_byte(p, end) : -1;
    if (code >= 0 && code == (unsigned char)*k) {
      p += 5;
    } else if (*k == '\\') {
      if (p == slashes) return 0;
    } else {
      if (p == end || *p != *k) return 0;
      p++;
    }
  }
  return (size_t)(p - from);
}

void llm_hide(const llm *q, buf *b) {
  if (!q->key || strlen(q->key) < KEY_MIN || b->len == 0) return;
  buf out = {0};
  const char *end = b->data + b->len;
  for (const char *p = b->data; p < end;) {
    size_t n = spells_key(q->key, p, end);
    if (n > 0)
      buf_adds(&out, "***");
    else
      buf_add(&out, p, 1);
    p += n ? n : 1;
  }
  buf_free(b);
  *b = out;
}

json_t *llm_json_text(const llm *q, const char *text, size_t n) {
  buf b = {0};
  buf_add(&b, text, n);
  llm_clean(&b);
  llm_hide(q, &b); /* first: a cut must not leave half of a key */
  if (b.len > LOG_TEXT_MAX) {
    size_t all = b.len;
    llm_shorten(&b, LOG_TEXT_MAX);
    buf_addf(&b, " [%zu more bytes]", all - b.len);
  }
  json_t *s = json_stringn(b.data, b.len);
  if (!s) util_die("no memory for a text of %zu bytes", n);
  buf_free(&b);
  return s;
}

/* ---- the transcript ---- */

int llm_transcript_open(llm *q, const char *path) {
  q->transcript = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (q->transcript < 0) {
    buf_addf(&q->why, "cannot open '%s': %s", path, strerror(errno));
    return -1;
  }
  char last = '\n';
  off_t size = lseek(q->transcript, 0, SEEK_END);
  if (size > 0 && pread(q->transcript, &last, 1, size - 1) == 1 && last != '\n')
    (void)util_write(q->transcript, "\n", 1);
  return 0;
}

void llm_transcript_add(const llm *q, const char *kind, json_t *what) {
  if (q->transcript >= 0) {
    json_t *line = json_pack("{s:s, s:I}", "kind", kind, "time", (json_int_t)time(NULL));
    if (line) json_object_update(line, what);
    char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
    if (!text) util_die("cannot write a line of the transcript");
    buf b = {0};
    buf_addf(&b, "%s\n", text);
    if (util_write(q->transcript, b.data, b.len) < 0)
      util_die("cannot write the transcript: %s", strerror(errno));
    buf_free(&b);
    free(text);
    json_decref(line);
  }
  json_decref(what);
}
