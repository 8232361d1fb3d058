/* tmpl.h -- the template language: `//@ lua` lines, $name, $(expr), $$; all else is text.
 *
 * A template's text is compiled once, to Lua source whose line N is the template's line N, and
 * to slices of the text that this source refers to.  This part knows the language and nothing
 * of the Lua state; host_tmpl.c loads and runs the source.
 */
#ifndef LOOM_TMPL_H
#define LOOM_TMPL_H

#include <stdint.h>

#include "buf.h"

/* A literal, then a value (val_len 0: none); offsets into the template's text.  lit_lines
 * counts the line ends in the literal; each of them ends a line of the template. */
typedef struct tmpl_seg {
  uint32_t lit, lit_len, lit_lines, val, val_len;
} tmpl_seg;

/* What one call of __text appends: segs [seg, seg + nseg), the first one from this line. */
typedef struct tmpl_rec {
  uint32_t line, seg, nseg;
} tmpl_rec;

/* A compiled template.  One of all zeros is empty. */
typedef struct tmpl {
  buf text;       /* normalised: "\n" ends each line, the last one too */
  buf segs, recs; /* arrays of tmpl_seg, tmpl_rec */
  buf chunk;      /* Lua source: local _ENV, __text = ...; ... */
} tmpl;

/* The compiled pattern; good for any number of templates. */
typedef struct tmpl_scanner tmpl_scanner;

tmpl_scanner *tmpl_scanner_new(void);
void tmpl_scanner_free(tmpl_scanner *s);

/* Compiles a text into t.  0, or the number of the line that is wrong and the reason in why. */
long tmpl_compile(tmpl_scanner *s, tmpl *t, const char *text, size_t len, buf *why);
void tmpl_free(tmpl *t);

/* True if this line (from 1) is a directive. */
int tmpl_is_directive(const tmpl *t, long line);

#endif
