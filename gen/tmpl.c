/* tmpl.c -- the template language: from text to Lua source.
 *
 * One anchored PCRE2 pattern cuts the text into tokens.  Of every line of text the template keeps
 * slices (literals and values, tmpl_seg) and writes one call into the source:
 *
 *     //@ for i = 0, 1 do               for i = 0, 1 do
 *       acc[$i] = $(init or 0);    ->   ;__text(0,i,(init or 0))
 *     //@ end                           end
 *
 * __text(k, values...) appends record k to the output.  Lines without values that follow each
 * other are one record, called on the first one's line.  The `;` makes a directive that stops
 * half-way an error: without it, the call on the next line would be taken for its rest.
 * Literals never travel through Lua.  The source begins with `local _ENV, __text = ...`, so each
 * run has its own environment and templates may include each other or themselves.
 */
#include "tmpl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "util.h"

#define PROLOGUE "local _ENV,__text=...;"

enum {
  MAX_TEXT = 16 << 20,
  MAX_VALUES = 100, /* arguments of one __text; Lua has 255 registers */
};

/* ---- the pattern ---- */

/* The groups, in the pattern's order; the last five are the tokens that stand for themselves,
 * and of these exactly one is set in a match. */
enum {
  G_STR = 1,
  G_EQ,
  G_LONG,
  G_PAR,
  G_LUA,
  G_GLUED,
  G_TEXT,
  G_END,
  G_DOLLAR,
  G_NAME,
  G_EXPR,
  G_OPEN,
  G_STRAY,
  G_COUNT
};

/* Marks tell what a match went through: slash and dash, `//` and `--` inside $(...) but outside
 * its strings; long, a long string or comment that the directive's line does not end. */
static const char PATTERN[] =
    "(*LF) (?(DEFINE)"
    "  (?<str>  \" (?: \\\\ . | [^\"\\\\\\n] )*+ \" | ' (?: \\\\ . | [^'\\\\\\n] )*+ ' )"
    "  (?<long> \\[ (?<eq> =*+ ) \\[ .*? \\] \\k<eq> \\] )"
    "  (?<par>  \\( (?: (?&str) | (?&long) | (?&par) | // (*:slash) | -- (*:dash)"
    "              | [^()\"'\\n] )*+ \\) )"
    ")"
    "  ^ [ \\t]*+ //@ (?: (?<lua> (?= [ \\t\\n] ) (?: (?&str) | (?&long) | -- (?&long)"
    "              | (?: -- )? \\[ =*+ \\[ (*:long) | -- [^\\n]*+ | [^\\n] )*+ ) \\n"
    "              | (?<glued> ) )"
    "| (?<text> [^$\\n]++ )"
    "| (?<end> \\n )"
    "| \\$ (?: (?<dollar> \\$ ) | (?<name> [A-Za-z_] \\w*+ ) | (?<expr> (?&par) )"
    "              | (?<open> \\( ) | (?<stray> ) )";

struct tmpl_scanner {
  pcre2_code *code;
  pcre2_match_data *match;
};

tmpl_scanner *tmpl_scanner_new(void) {
  int err;
  PCRE2_SIZE at;
  tmpl_scanner *s = util_malloc(sizeof *s);
  s->code = pcre2_compile((PCRE2_SPTR)PATTERN, PCRE2_ZERO_TERMINATED,
                          PCRE2_ANCHORED | PCRE2_MULTILINE | PCRE2_EXTENDED, &err, &at, NULL);
  if (!s->code) util_die("bug: pattern refused at %zu, error %d", (size_t)at, err);
  (void)pcre2_jit_compile(s->code, PCRE2_JIT_COMPLETE); /* without it, slower but right */
  s->match = pcre2_match_data_create_from_pattern(s->code, NULL);
  if (!s->match) util_die("no memory for a match");
  return s;
}

void tmpl_scanner_free(tmpl_scanner *s) {
  if (!s) return;
  pcre2_match_data_free(s->match);
  pcre2_code_free(s->code);
  free(s);
}

/* ---- text to chunk ---- */

typedef struct scan {
  tmpl *t;
  buf *why;
  PCRE2_SPTR mark;      /* of the present token, or NULL */
  uint32_t line, nsegs; /* present line; how many complete segs it has */
  tmpl_seg open;        /* the seg that grows */
  int mergeable;        /* the last record is literal and ended on the line before */
  int bad;              /* refused */
} scan;

/* Notes what is wrong with the present line; the scan stops. */
static void refuse(scan *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void refuse(scan *s, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  buf_adds(s->why, text);
  s->bad = 1;
}

static void add_literal(scan *s, size_t off, size_t len) {
  if (s->open.lit_len == 0) s->open.lit = (uint32_t)off;
  s->open.lit_len += (uint32_t)len;
}

static void end_seg(scan *s) {
  buf_add(&s->t->segs, &s->open, sizeof s->open);
  s->open = (tmpl_seg){0};
  s->nsegs++;
}

static void on_lua(scan *s, size_t off, size_t len) {
  if (s->mark) {
    refuse(s, "a long string or comment must end on its own line");
    return;
  }
  buf_add(&s->t->chunk, s->t->text.data + off, len);
  buf_adds(&s->t->chunk, "\n");
  s->mergeable = 0;
  s->line++;
}

static void on_glued(scan *s, size_t off, size_t len) {
  (void)off;
  (void)len;
  refuse(s, "'//@' wants a space after it");
}

static void on_text(scan *s, size_t off, size_t len) { add_literal(s, off, len); }

/* Only the second dollar is kept: the literal is a slice, so it ends here. */
static void on_dollar(scan *s, size_t off, size_t len) {
  if (s->open.lit_len && s->open.lit + s->open.lit_len != off) end_seg(s);
  add_literal(s, off, len);
}

static void on_name(scan *s, size_t off, size_t len) {
  s->open.val = (uint32_t)(off - 1);
  s->open.val_len = (uint32_t)(len + 1);
  end_seg(s);
}

static void on_expr(scan *s, size_t off, size_t len) {
  const char *src = s->t->text.data + off;
  int n = (int)len;
  if (s->mark && s->mark[0] == 's')
    refuse(s, "'//' in '$%.*s' starts a comment: divide in a directive", n, src);
  else if (s->mark)
    refuse(s, "'--' in '$%.*s' starts a comment: write '- -'", n, src);
  else if (strspn(src + 1, " \t") == len - 2)
    refuse(s, "'$%.*s' is empty", n, src);
  else
    on_name(s, off, len);
}

static void on_open(scan *s, size_t off, size_t len) {
  const char *src = s->t->text.data + off;
  (void)len;
  refuse(s, "'$%.*s' is not closed on its line", (int)strcspn(src, "\n"), src);
}

static void on_stray(scan *s, size_t off, size_t len) {
  (void)off;
  (void)len;
  refuse(s, "stray '$': a name or '(' must follow, and '$$' is a dollar");
}

/* Writes the calls for segs [from, from + n) of this line: several only if there are very many
 * values on it. */
static void emit_calls(scan *s, size_t from, size_t n) {
  tmpl *t = s->t;
  const tmpl_seg *segs = (const tmpl_seg *)(void *)t->segs.data;
  for (size_t end = from + n; from < end; from += n) {
    n = end - from < MAX_VALUES ? end - from : MAX_VALUES;
    tmpl_rec r = {s->line, (uint32_t)from, (uint32_t)n};
    buf_addf(&t->chunk, ";__text(%zu", t->recs.len / sizeof r);
    for (size_t i = from; i < from + n; i++)
      if (segs[i].val_len)
        buf_addf(&t->chunk, ",%.*s", (int)segs[i].val_len - 1, t->text.data + segs[i].val + 1);
    buf_adds(&t->chunk, ")");
    buf_add(&t->recs, &r, sizeof r);
  }
}

static void on_end(scan *s, size_t off, size_t len) {
  tmpl_seg *segs = (tmpl_seg *)(void *)s->t->segs.data;
  size_t n = s->t->segs.len / sizeof *segs;
  if (s->open.lit_len && s->open.lit + s->open.lit_len != off) {
    end_seg(s);
    segs = (tmpl_seg *)(void *)s->t->segs.data;
    n++;
  }
  add_literal(s, off, len);
  int plain = s->nsegs == 0;
  if (plain && s->mergeable && segs[n - 1].lit + segs[n - 1].lit_len == s->open.lit) {
    segs[n - 1].lit_len += s->open.lit_len; /* touching slices: one longer literal */
    segs[n - 1].lit_lines++;
    s->open = (tmpl_seg){0};
  } else {
    s->open.lit_lines = 1;
    end_seg(s);
    emit_calls(s, n + 1 - s->nsegs, s->nsegs);
  }
  buf_adds(&s->t->chunk, "\n");
  s->nsegs = 0;
  s->mergeable = plain;
  s->line++;
}

/* Cuts the text into tokens and lets each write its part of the source. */
static void scan_text(tmpl_scanner *p, scan *s) {
  static void (*const handlers[G_COUNT])(scan *, size_t, size_t) = {
      [G_LUA] = on_lua,   [G_GLUED] = on_glued,   [G_TEXT] = on_text,
      [G_END] = on_end,   [G_DOLLAR] = on_dollar, [G_NAME] = on_name,
      [G_EXPR] = on_expr, [G_OPEN] = on_open,     [G_STRAY] = on_stray,
  };
  const buf *text = &s->t->text;
  const PCRE2_SIZE *v = pcre2_get_ovector_pointer(p->match);
  for (size_t at = 0; at < text->len && !s->bad; at = v[1]) {
    int rc = pcre2_match(p->code, (PCRE2_SPTR)text->data, text->len, at, 0, p->match, NULL);
    if (rc <= G_PAR) {
      refuse(s, "too deeply nested"); /* the matcher's stack; all else matches */
      return;
    }
    int group = rc - 1; /* the highest that is set: the token */
    s->mark = pcre2_get_mark(p->match);
    handlers[group](s, v[2 * group], v[2 * group + 1] - v[2 * group]);
  }
}

/* Copies the text: CR LF becomes LF, the last line gets its LF, a byte order mark goes. */
static void normalise(scan *s, const char *text, size_t len) {
  buf *b = &s->t->text;
  const char *end = text + len;
  if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
  buf_reserve(b, len + 1);
  for (; text < end && !s->bad; text++) {
    int cr = *text == '\r';
    if (cr && text + 1 < end && text[1] == '\n') continue;
    if (cr) refuse(s, "a carriage return that ends no line");
    if (*text == 0) refuse(s, "a zero byte");
    s->line += *text == '\n' && !s->bad;
    b->data[b->len++] = *text;
  }
  if (b->len && b->data[b->len - 1] != '\n') b->data[b->len++] = '\n';
  b->data[b->len] = 0;
}

long tmpl_compile(tmpl_scanner *p, tmpl *t, const char *text, size_t len, buf *why) {
  scan s = {.t = t, .why = why, .line = 1};
  if (len > MAX_TEXT)
    refuse(&s, "a template of more than %d MiB", MAX_TEXT >> 20);
  else
    normalise(&s, text, len);
  if (s.bad) return s.line;
  s.line = 1;
  buf_adds(&t->chunk, PROLOGUE);
  scan_text(p, &s);
  if (t->chunk.data[t->chunk.len - 1] == '\n') t->chunk.len--; /* <eof> is on the last line */
  return s.bad ? s.line : 0;
}

void tmpl_free(tmpl *t) {
  buf_free(&t->text);
  buf_free(&t->segs);
  buf_free(&t->recs);
  buf_free(&t->chunk);
}

int tmpl_is_directive(const tmpl *t, long line) {
  const char *p = t->text.data;
  while (--line > 0) p = strchr(p, '\n') + 1;
  p += strspn(p, " \t");
  return strncmp(p, "//@", 3) == 0;
}
