/* job.h - job lines in, result lines out
**
** A line is `verb<TAB>name=value<TAB>name=value...`; values hold no tab and no
** newline. Numbers are written with %.6g in the C locale.
*/
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include "fault.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JOB_FIELDS = 24, REPLY_SIZE = 32768 };

struct job {
  const char *verb;
  int fields;
  const char *name[JOB_FIELDS], *value[JOB_FIELDS];
};

/* Cuts 'line' up in place; *job points into it. */
bool job_parse(char *line, struct job *job, struct fault *f);

/* Every field is one of 'names' (NULL-terminated), each is there once; one whose name begins with
** '?' there may be missing. */
bool job_fields(const struct job *job, const char *const *names, struct fault *f);

bool job_has(const struct job *job, const char *name);
const char *job_text(const struct job *job, const char *name); /* after job_fields; "": missing */
bool job_int(const struct job *job, const char *name, int64_t lo, int64_t hi, int64_t *out,
             struct fault *f);

/* A plain decimal number, as 12 or 0.5 */
bool job_real(const struct job *job, const char *name, double lo, double hi, double *out,
              struct fault *f);

/* A comma-separated list of words -> bit i for the i-th of 'words' (NULL-terminated). */
bool job_set(const struct job *job, const char *name, const char *const *words, unsigned *out,
             struct fault *f);

struct reply {
  char text[REPLY_SIZE];
  size_t size;
};

void reply_begin(struct reply *r, const char *word);
void reply_text(struct reply *r, const char *name, const char *value);
void reply_real(struct reply *r, const char *name, double value);
void reply_int(struct reply *r, const char *name, long long value);
bool reply_send(struct reply *r, FILE *out);

#endif
