/* llm_answer.c -- edits out of an answer's text.
 *
 * Models wrap their JSON in prose, fences and thoughts, so every '[' and '{' is tried in turn.  The
 * first list wins: a non-empty array of objects, or an object with "edits".  Single objects with
 * "op" count when there is no list, which is also what is left whole of a list that was cut off.
 * Failed tries cost time: together they may look at no more than WORK bytes.
 *
 * Here only the form is judged (texts, characters, the names in --ops); what an edit means is Lua's
 * business.
 */
#include "llm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
  EDITS_MAX = 32,
  VALUES_MAX = 64,
  NAME_MAX_BYTES = 80,
  HYPOTHESIS_MAX = 400,
  TEXT_MAX = 100, /* of somebody's text in a reason */
  WORK = 1 << 20,
};

/* What separates values and words elsewhere must not stand in one. */
static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";

/* ---- lines ---- */

/* Appends text as one field: one line, without the key, no longer than max. */
static void add_text(const llm *q, buf *out, const char *text, size_t n, size_t max) {
  buf b = {0};
  buf_add(&b, text, n);
  llm_clean(&b);
  llm_hide(q, &b);
  llm_flatten(&b);
  llm_shorten(&b, max);
  buf_add(out, b.data, b.len);
  buf_free(&b);
}

/* What is wrong with an edit: always of the same few words, a field of ours, a text of the model's;
 * the last two may be NULL. */
typedef struct fault {
  const char *what, *field, *text;
} fault;

/* `bad`, what is wrong, and where: "edit 2 (name) 'text'"; name may be NULL. */
static void add_bad(const llm *q, buf *out, size_t at, const char *name, fault f) {
  buf_addf(out, "bad\t%s", f.what);
  if (f.field) buf_addf(out, " '%s'", f.field);
  buf_addf(out, "\tedit %zu", at);
  if (name && *name) {
    buf_adds(out, " (");
    add_text(q, out, name, strlen(name), NAME_MAX_BYTES);
    buf_adds(out, ")");
  }
  if (f.text) {
    buf_adds(out, " '");
    add_text(q, out, f.text, strlen(f.text), TEXT_MAX);
    buf_adds(out, "'");
  }
  buf_adds(out, "\n");
}

/* ---- one edit ---- */

static int is_word(const char *s, size_t n, const char *more) {
  for (size_t i = 0; i < n; i++)
    if (!s[i] || !(strchr(WORD, s[i]) || strchr(more, s[i]))) return 0;
  return n > 0;
}

/* Appends one integer or string; what is wrong with it, or NULL. */
static const char *add_scalar(buf *out, const json_t *v, const char *more) {
  if (json_is_integer(v)) {
    buf_addf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
  } else if (json_is_real(v)) { /* 128.0 is meant as 128 */
    double d = json_real_value(v);
    if (!(fabs(d) < 1e15) || d != floor(d)) return "a value is no integer";
    buf_addf(out, "%.0f", d);
  } else if (json_is_string(v)) {
    if (!is_word(json_string_value(v), json_string_length(v), more))
      return "a value has other characters than letters, digits, '_', '.', '+', '-'";
    buf_add(out, json_string_value(v), json_string_length(v));
  } else {
    return "a value is neither integer nor string";
  }
  return NULL;
}

/* One value: a scalar, or an array of them, joined by commas (a string may be joined already). */
static const char *add_value(buf *out, const json_t *v) {
  if (!json_is_array(v)) return add_scalar(out, v, ",");
  if (json_array_size(v) == 0) return "a value is an empty list";
  for (size_t i = 0; i < json_array_size(v); i++) {
    if (i > 0) buf_adds(out, ",");
    const char *why = add_scalar(out, json_array_get(v, i), "");
    if (why) return why;
  }
  return NULL;
}

static const char *add_values(buf *out, const json_t *values) {
  size_t n = json_is_array(values) ? json_array_size(values) : 1;
  if (n > VALUES_MAX) return "more than 64 values";
  for (size_t i = 0; i < n; i++) {
    buf_adds(out, "\t");
    const char *why = add_value(out, json_is_array(values) ? json_array_get(values, i) : values);
    if (why) return why;
  }
  return NULL;
}

/* Is op among q->ops? */
static int known_op(const llm *q, const char *op) {
  size_t n = strlen(op);
  for (const char *p = q->ops; p && *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
    if (strcspn(p, ",") == n && memcmp(p, op, n) == 0) return 1;
  return !q->ops;
}

/* The text of a field; NULL if it is absent or no text. */
static const char *text_of(const json_t *edit, const char *field) {
  return json_string_value(json_object_get(edit, field));
}

static int is_name(const char *s) { return is_word(s, strlen(s), ""); }

/* Appends op, param and values as fields; the fault's `what` is NULL if there is none. */
static fault add_words(const llm *q, buf *out, const json_t *edit) {
  static const char *const texts[] = {"name", "hypothesis", "op", "param"};
  const json_t *values = json_object_get(edit, "values");
  if (!values) values = json_object_get(edit, "value");
  if (!json_is_object(edit)) return (fault){.what = "it is no object"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const json_t *v = json_object_get(edit, texts[i]);
    if (i >= 2 && !v) return (fault){.what = "it lacks", .field = texts[i]};
    if (v && !json_is_string(v)) return (fault){.what = "not a text:", .field = texts[i]};
  }
  if (!values) return (fault){.what = "it lacks", .field = "values"};
  const char *op = text_of(edit, "op"), *param = text_of(edit, "param");
  if (!known_op(q, op)) return (fault){.what = "unknown op", .text = op};
  if (!is_name(op) || !is_name(param))
    return (fault){.what = "not a name", .text = is_name(op) ? param : op};
  buf_addf(out, "%s\t%s", op, param);
  return (fault){.what = add_values(out, values)};
}

static void add_field(const llm *q, buf *out, const json_t *edit, const char *field, size_t max) {
  const json_t *v = json_object_get(edit, field);
  if (v) add_text(q, out, json_string_value(v), json_string_length(v), max);
  buf_adds(out, "\t");
}

/* The line of one edit, the at-th of its list. */
static void print_edit(const llm *q, buf *out, size_t at, const json_t *edit) {
  buf words = {0};
  fault f = add_words(q, &words, edit);
  if (f.what) {
    add_bad(q, out, at, text_of(edit, "name"), f);
  } else {
    buf_adds(out, "edit\t");
    add_field(q, out, edit, "name", NAME_MAX_BYTES);
    add_field(q, out, edit, "hypothesis", HYPOTHESIS_MAX);
    llm_hide(q, &words);
    buf_addf(out, "%s\n", words.data);
  }
  buf_free(&words);
}

/* ---- finding them ---- */

/* The edits of a value that is a list of them, else NULL; borrowed. */
static json_t *list_in(json_t *v) {
  if (json_is_object(v)) return json_object_get(v, "edits");
  for (size_t i = 0; i < json_array_size(v); i++)
    if (!json_is_object(json_array_get(v, i))) return NULL;
  return json_array_size(v) > 0 ? v : NULL;
}

/* Finds the first list from p on, else all single edits; NULL if there is neither. */
static json_t *find_edits(const char *p, const char *end) {
  json_t *singles = json_array(), *list = NULL;
  double work = 0;
  while (!list && work < WORK && (p += strcspn(p, "[{")) < end) {
    json_error_t e;
    json_t *v = json_loadb(p, (size_t)(end - p), JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, &e);
    size_t used = 1;
    work += e.position + 1;
    list = json_incref(list_in(v));
    if (json_is_string(json_object_get(v, "op"))) {
      json_array_append(singles, v);
      used = (size_t)e.position;
    }
    json_decref(v);
    p += used > 0 ? used : 1;
  }
  if (list) json_decref(singles);
  if (!list && json_array_size(singles) > 0)
    list = singles;
  else if (!list)
    json_decref(singles);
  return list;
}

/* Where the answer begins: after the thoughts that some servers leave in it. */
static const char *after_thoughts(const char *text) {
  for (const char *p; (p = strstr(text, "</think>")) != NULL;) text = p + 8;
  return text;
}

/* `none`, why, and the text that shows it, if there is any. */
static void add_none(const llm *q, buf *out, const char *why, const char *text) {
  buf_addf(out, "none\t%s", why);
  if (text[strspn(text, " ")]) {
    buf_adds(out, "\t");
    add_text(q, out, text, strlen(text), TEXT_MAX);
  }
  buf_adds(out, "\n");
}

static void print_none(const llm *q, buf *out, const json_t *list, const char *text) {
  if (list)
    add_none(q, out, json_is_array(list) ? "the list of edits is empty" : "'edits' is no list", "");
  else if (text[strspn(text, " ")] == 0)
    add_none(q, out, "the answer is empty", "");
  else
    add_none(q, out, "no JSON list of edits in the answer", text);
}

void llm_print_edits(llm *q, buf *out) {
  llm_clean(&q->answer);   /* no 0 within: strings end where the text does */
  llm_flatten(&q->answer); /* between values this is white space, in strings it is forbidden */
  if (q->odd) {
    add_none(q, out, q->odd, q->answer.data);
    return;
  }
  const char *text = after_thoughts(q->answer.data);
  json_t *list = find_edits(text, q->answer.data + q->answer.len);
  size_t n = json_array_size(list);
  if (q->cut) buf_adds(out, "bad\tthe answer was cut off at the server's length limit\n");
  for (size_t i = 0; i < n && i < EDITS_MAX; i++)
    print_edit(q, out, i + 1, json_array_get(list, i));
  if (n > EDITS_MAX) buf_adds(out, "bad\tmore than 32 edits; the others are dropped\n");
  if (n == 0) print_none(q, out, list, text);
  json_decref(list);
}
