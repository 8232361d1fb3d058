/* llm.h -- what the files of loom-llm share: the call, its request, its answer.
 *
 * One call: llm.c reads the request and prints the edits, llm_http.c or llm_cmd.c gets the answer's
 * text, llm_answer.c finds the edits in it, llm_text.c cleans text, hides the key and keeps the
 * transcript.  Every text that leaves the program, but the request itself, has gone through
 * llm_hide.
 */
#ifndef LOOM_LLM_H
#define LOOM_LLM_H

#include <jansson.h>

#include "buf.h"

typedef struct llm {
  /* Where to ask: a command, or a server; NULL where the variable is unset or empty. */
  const char *cmd, *url, *model;
  char *key;             /* without surrounding white space; NULL: none */
  double timeout, pause; /* seconds for one try; before the second one, then doubled */
  int tries;             /* at most so many, the first one counted */
  int transcript;        /* descriptor, -1: none */
  const char *ops;       /* the operations that are known, a,b,c; NULL: any */
  json_t *messages;      /* [{"role", "content"}...] */
  const char *user;      /* the last user text, what a command gets */
  size_t user_len;
  buf answer, why; /* the answer's text; why there is none */
  int cut;         /* the server says that the answer hit its length limit */
  const char *odd; /* what is wrong with an answer that has no text; NULL: it has one */
} llm;

/* Gets the answer into q->answer; 0, or -1 with the reason in q->why. */
int llm_http(llm *q);
int llm_cmd(llm *q);

/* Prints a line for each edit in the answer, or one that says why there is none.  Where q->odd is
 * set, the answer is whatever shows that. */
void llm_print_edits(llm *q, buf *out);

/* Makes valid UTF-8 of any bytes: what is none becomes U+FFFD, a 0 a space. */
void llm_clean(buf *b);
/* Control characters, newlines among them, become spaces: fit for a field of a line. */
void llm_flatten(buf *b);
/* Cuts to at most max bytes, between characters. */
void llm_shorten(buf *b, size_t max);
/* Puts *** wherever the key stands, also where it is escaped as in JSON. */
void llm_hide(const llm *q, buf *b);

/* The transcript; all is hidden from it that llm_hide hides.  `what` is taken over. */
int llm_transcript_open(llm *q, const char *path);
void llm_transcript_add(const llm *q, const char *kind, json_t *what);
/* A JSON string of n bytes, cleaned and without the key. */
json_t *llm_json_text(const llm *q, const char *text, size_t n);

#endif
