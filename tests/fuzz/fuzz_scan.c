/* fuzz_scan.c -- fuzzes the scanner of templates (gen/tmpl.c): any bytes are refused at one of their
 * lines, or cut into slices that lose nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tmpl.h"

#define CHECK(x) ((x) ? (void)0 : fault(#x))

static _Noreturn void fault(const char *what) {
  fprintf(stderr, "FINDING: not so: %s\n", what);
  abort();
}

static uint32_t lines_of(const char *text, size_t len) {
  uint32_t n = 0;
  for (size_t i = 0; i < len; i++) n += text[i] == '\n';
  return n;
}

/* Slices lie inside the text, in order, none over another; returns the bytes they cover. */
static size_t check_segs(const tmpl *t) {
  const tmpl_seg *s = (const tmpl_seg *)(const void *)t->segs.data;
  size_t n = t->segs.len / sizeof *s, covered = 0, at = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i].lit_len) {
      CHECK(s[i].lit >= at && s[i].lit + s[i].lit_len <= t->text.len);
      at = s[i].lit + s[i].lit_len;
    }
    if (s[i].val_len) {
      CHECK(s[i].val >= at && s[i].val + s[i].val_len <= t->text.len);
      CHECK(t->text.data[s[i].val] == '$');
      at = s[i].val + s[i].val_len;
    }
    CHECK(s[i].lit_lines == lines_of(t->text.data + s[i].lit, s[i].lit_len));
    covered += s[i].lit_len + s[i].val_len;
  }
  return covered;
}

/* Records name all slices, each once, and lines of the text in order. */
static void check_recs(const tmpl *t, long lines) {
  const tmpl_rec *r = (const tmpl_rec *)(const void *)t->recs.data;
  size_t n = t->recs.len / sizeof *r, next = 0;
  uint32_t line = 1;
  for (size_t i = 0; i < n; i++) {
    CHECK(r[i].seg == next && r[i].nseg > 0);
    CHECK(r[i].line >= line && r[i].line <= (uint32_t)lines);
    next += r[i].nseg;
    line = r[i].line;
  }
  CHECK(next == t->segs.len / sizeof(tmpl_seg));
}

/* What no slice covers: the lines of directives, and the first of two dollars. */
static void check_all(const tmpl *t) {
  size_t bytes = 0, dollars = 0;
  const char *p = t->text.data, *end = p + t->text.len, *stop;
  long lines = 0;
  for (; p < end; p = stop) {
    stop = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    if (tmpl_is_directive(t, ++lines)) bytes += (size_t)(stop - p);
  }
  check_recs(t, lines);
  size_t covered = check_segs(t);
  const tmpl_seg *s = (const tmpl_seg *)(const void *)t->segs.data;
  for (size_t i = 0; i < t->segs.len / sizeof *s; i++)
    dollars += s[i].lit_len && s[i].lit > 0 && t->text.data[s[i].lit] == '$';
  CHECK(covered + bytes + dollars == t->text.len);
  CHECK(t->text.len == 0 || lines_of(t->chunk.data, t->chunk.len) == (uint32_t)lines - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tmpl_scanner *scanner;
  if (!scanner) scanner = tmpl_scanner_new();
  tmpl t = {0};
  buf why = {0};
  long line = tmpl_compile(scanner, &t, (const char *)data, size, &why);
  if (line) {
    CHECK(why.len > 0 && line >= 1 && (size_t)line <= size + 1);
  } else {
    CHECK(why.len == 0);
    check_all(&t);
  }
  tmpl_free(&t);
  buf_free(&why);
  return 0;
}
