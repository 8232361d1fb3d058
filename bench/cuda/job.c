/* job.c - job lines in, result lines out
**
** The parent is another program: a line that is not exactly a known job is
** answered with what is wrong with it, never guessed at.
*/
#include "job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Ends the part at *at and moves on to the next; NULL after the last. */
static char *next_part(char **at) {
  char *part = *at, *tab = part ? strchr(part, '\t') : NULL;
  if (tab) *tab++ = 0;
  *at = tab;
  return part;
}

bool job_parse(char *line, struct job *job, struct fault *f) {
  char *at = line;
  job->verb = next_part(&at);
  job->fields = 0;
  if (!*job->verb) return fault_set(f, "line without a verb");
  for (char *part; (part = next_part(&at)) != NULL;) {
    char *equals = strchr(part, '=');
    if (!equals || equals == part) return fault_set(f, "field '%.80s' is not name=value", part);
    if (job->fields == JOB_FIELDS) return fault_set(f, "more than %d fields", JOB_FIELDS);
    *equals = 0;
    job->name[job->fields] = part;
    job->value[job->fields++] = equals + 1;
  }
  return true;
}

static int find(const struct job *job, const char *name, int from) {
  for (int i = from; i < job->fields; i++)
    if (strcmp(job->name[i], name) == 0) return i;
  return -1;
}

static const char *bare(const char *name) { return name + (*name == '?'); }

bool job_fields(const struct job *job, const char *const *names, struct fault *f) {
  for (int n = 0; names[n]; n++) {
    const char *name = bare(names[n]);
    int i = find(job, name, 0);
    if (i < 0 && name == names[n])
      return fault_set(f, "job '%s' lacks the field '%s'", job->verb, name);
    if (i >= 0 && find(job, name, i + 1) >= 0)
      return fault_set(f, "job '%s' has the field '%s' twice", job->verb, name);
  }
  for (int i = 0; i < job->fields; i++) {
    int n = 0;
    while (names[n] && strcmp(bare(names[n]), job->name[i]) != 0) n++;
    if (!names[n])
      return fault_set(f, "job '%s' has an unknown field '%.80s'", job->verb, job->name[i]);
  }
  return true;
}

bool job_has(const struct job *job, const char *name) { return find(job, name, 0) >= 0; }

const char *job_text(const struct job *job, const char *name) {
  int i = find(job, name, 0);
  return i < 0 ? "" : job->value[i];
}

bool job_int(const struct job *job, const char *name, int64_t lo, int64_t hi, int64_t *out,
             struct fault *f) {
  const char *text = job_text(job, name);
  char *end;
  errno = 0;
  long long v = strtoll(text, &end, 10);
  bool digits = *text && strspn(text, "0123456789") == strlen(text);
  if (!digits || *end || errno)
    return fault_set(f, "field '%s': '%.40s' is not a plain integer", name, text);
  if (v < lo || v > hi)
    return fault_set(f, "field '%s': %lld is not within %lld to %lld", name, v, (long long)lo,
                     (long long)hi);
  *out = v;
  return true;
}

bool job_real(const struct job *job, const char *name, double lo, double hi, double *out,
              struct fault *f) {
  const char *text = job_text(job, name);
  char *end;
  double v = strtod(text, &end);
  bool plain = *text >= '0' && *text <= '9' && strspn(text, "0123456789.") == strlen(text);
  if (!plain || *end) return fault_set(f, "field '%s': '%.40s' is not a plain number", name, text);
  if (!(v >= lo && v <= hi))
    return fault_set(f, "field '%s': %g is not within %g to %g", name, v, lo, hi);
  *out = v;
  return true;
}

bool job_set(const struct job *job, const char *name, const char *const *words, unsigned *out,
             struct fault *f) {
  const char *at = job_text(job, name);
  *out = 0;
  for (;;) {
    size_t size = strcspn(at, ",");
    int w = 0;
    while (words[w] && (strlen(words[w]) != size || strncmp(words[w], at, size) != 0)) w++;
    if (!words[w]) return fault_set(f, "field '%s': unknown word '%.*s'", name, (int)size, at);
    *out |= 1u << w;
    if (!at[size]) return true;
    at += size + 1;
  }
}

/* Appends; a reply too long for its buffer keeps room for its newline and loses its end. */
__attribute__((format(printf, 2, 3))) static void add(struct reply *r, const char *format, ...) {
  size_t room = sizeof r->text - 1 - r->size;
  va_list args;
  va_start(args, format);
  int n = vsnprintf(r->text + r->size, room, format, args);
  va_end(args);
  if (n > 0 && room > 0) r->size += (size_t)n < room ? (size_t)n : room - 1;
}

void reply_begin(struct reply *r, const char *word) {
  r->size = 0;
  add(r, "%s", word);
}

void reply_text(struct reply *r, const char *name, const char *value) {
  add(r, "\t%s=", name);
  size_t from = r->size;
  add(r, "%s", value);
  for (size_t i = from; i < r->size; i++)
    if ((unsigned char)r->text[i] < 0x20) r->text[i] = ' ';
}

void reply_real(struct reply *r, const char *name, double value) {
  add(r, "\t%s=%.6g", name, value);
}

void reply_int(struct reply *r, const char *name, long long value) {
  add(r, "\t%s=%lld", name, value);
}

bool reply_send(struct reply *r, FILE *out) {
  r->text[r->size++] = '\n';
  return fwrite(r->text, 1, r->size, out) == r->size && fflush(out) == 0;
}
