/* llm.c -- the loom-llm program: one question to a language model, its edits as lines.
 *
 * A program of its own, so that loom needs neither libcurl nor a JSON library and links statically.
 * It knows nothing of spaces: lua/mutate_llm.lua writes the request and judges the edits.  The
 * request comes on stdin, or from --request: lines `@@ system`, `@@ user`, `@@ assistant` begin a
 * message, `@@ end` ends it all, else the end of the input does.  See `usage` for the rest.
 *
 * jansson, because it refuses what is no JSON with a position, checks UTF-8, parses a value that
 * stands in the middle of a text, and is a Debian package without dependencies.
 */
#include "llm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

enum { REQUEST_MAX = 8 << 20, TIMEOUT_MAX = 86400 };

static const char usage[] =
    "usage: loom-llm [--name VALUE]... < request\n"
    "\n"
    "  --transcript FILE  append request and response as JSON lines\n"
    "  --timeout SECONDS  for one try (120)\n"
    "  --tries N          at most so many, on 429, 5xx, timeouts, lost connections (4)\n"
    "  --pause SECONDS    before the second try, then doubled (1)\n"
    "  --ops A,B,...      the edit operations to accept (any)\n"
    "  --request FILE     instead of stdin\n"
    "\n"
    "LOOM_LLM_CMD    a shell command: the last user text on stdin, the answer on stdout; or\n"
    "LOOM_LLM_URL    an OpenAI-compatible server (http://127.0.0.1:8000/v1), with\n"
    "LOOM_LLM_MODEL  the model's name, and\n"
    "LOOM_LLM_KEY    the key, if it wants one\n"
    "\n"
    "prints  edit<TAB>name<TAB>hypothesis<TAB>op<TAB>param<TAB>value...   for each edit\n"
    "        bad<TAB>reason[<TAB>edit], none<TAB>reason[<TAB>answer]\n"
    "        error<TAB>reason (exit code 1)\n";

/* ---- the request ---- */

/* Reads what is left of the input up to a line `@@ end`; 0, or -1 with the reason. */
static int read_request(FILE *f, buf *text, buf *why) {
  char *line = NULL;
  size_t cap = 0;
  ssize_t n;
  while ((n = getline(&line, &cap, f)) >= 0 && text->len <= REQUEST_MAX) {
    if (strcmp(line, "@@ end\n") == 0) break;
    buf_add(text, line, (size_t)n);
  }
  if (ferror(f)) buf_addf(why, "cannot read the request: %s", strerror(errno));
  if (text->len > REQUEST_MAX) buf_addf(why, "the request has more than %d bytes", REQUEST_MAX);
  free(line);
  return why->len > 0 ? -1 : 0;
}

/* The role that the line at p begins, NULL if it begins none; *next: where its text starts. */
static const char *role_at(const char *p, const char **next) {
  static const char *const roles[] = {"system", "user", "assistant"};
  if (strncmp(p, "@@ ", 3) != 0) return NULL;
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
    size_t n = strlen(roles[i]);
    if (strncmp(p + 3, roles[i], n) == 0 && (p[3 + n] == '\n' || p[3 + n] == 0)) {
      *next = p + 3 + n + (p[3 + n] == '\n');
      return roles[i];
    }
  }
  return NULL;
}

/* Start of the next line that begins a message, or the end of the text. */
static const char *text_end(const char *p) {
  const char *next, *line;
  while (!role_at(p, &next) && (line = strchr(p, '\n')) != NULL) p = line + 1;
  return role_at(p, &next) ? p : p + strlen(p);
}

/* Splits the request into messages. */
static int read_messages(llm *q, buf *text) {
  const char *p = text->data ? text->data : "", *role, *from;
  q->messages = json_array();
  while ((role = role_at(p, &from)) != NULL) {
    p = text_end(from);
    size_t n = (size_t)(p - from);
    json_t *content = json_stringn(from, n);
    json_array_append_new(q->messages, json_pack("{s:s, s:o}", "role", role, "content", content));
    if (strcmp(role, "user") == 0) {
      q->user = from;
      q->user_len = n;
    }
  }
  if (*p)
    buf_adds(&q->why, "the request does not begin with a line '@@ system' or '@@ user'");
  else if (!q->user)
    buf_adds(&q->why, "the request has no line '@@ user'");
  return q->why.len > 0 ? -1 : 0;
}

/* ---- options and variables ---- */

/* A number of seconds or a count; dies with usage's exit code. */
static double number(const char *name, const char *text, double least) {
  char *end;
  double v = strtod(text, &end);
  if (*text && !*end && v >= least && v <= TIMEOUT_MAX) return v;
  fprintf(stderr, "loom-llm: '%s' wants a number from %g to %d, not '%s'\n", name, least,
          TIMEOUT_MAX, text);
  exit(2);
}

/* Reads the options; the file names stay strings. */
static void read_options(llm *q, int argc, char **argv, const char **transcript,
                         const char **request) {
  const char *timeout = "120", *tries = "4", *pause_ = "1";
  const struct {
    const char *name, **value;
  } options[] = {{"--transcript", transcript}, {"--timeout", &timeout}, {"--tries", &tries},
                 {"--pause", &pause_},         {"--ops", &q->ops},      {"--request", request}};
  const size_t count = sizeof options / sizeof *options;
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      fputs(usage, stdout);
      exit(0);
    }
    size_t k = 0;
    while (k < count && strcmp(options[k].name, argv[i]) != 0) k++;
    if (k == count || i + 1 == argc) {
      fprintf(stderr, "loom-llm: %s '%s'\n%s", k == count ? "unknown option" : "no value for",
              argv[i], usage);
      exit(2);
    }
    *options[k].value = argv[i + 1];
  }
  q->timeout = number("--timeout", timeout, 0.001);
  q->tries = (int)number("--tries", tries, 1);
  q->pause = number("--pause", pause_, 0);
}

static const char *variable(const char *name) {
  const char *v = getenv(name);
  return v && *v ? v : NULL;
}

/* The key without white space around it: files that hold keys end in a newline. */
static int read_key(llm *q) {
  const char *v = variable("LOOM_LLM_KEY");
  if (!v) return 0;
  v += strspn(v, " \t\r\n");
  size_t n = strlen(v);
  while (n > 0 && strchr(" \t\r\n", v[n - 1])) n--;
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)v[i] <= ' ' || v[i] == 0x7F) {
      buf_adds(&q->why, "LOOM_LLM_KEY holds white space or a control character");
      return -1;
    }
  if (n > 0) {
    q->key = util_strdup(v);
    q->key[n] = 0;
  }
  return 0;
}

static int read_variables(llm *q) {
  q->cmd = variable("LOOM_LLM_CMD");
  q->url = variable("LOOM_LLM_URL");
  q->model = variable("LOOM_LLM_MODEL");
  if (!q->cmd && !q->url) buf_adds(&q->why, "set LOOM_LLM_URL or LOOM_LLM_CMD");
  return q->why.len > 0 ? -1 : read_key(q);
}

/* ---- the call ---- */

static int ask(llm *q, buf *request, const char *transcript, const char *path) {
  if (read_variables(q) < 0) return -1;
  FILE *f = path ? fopen(path, "r") : stdin;
  if (!f) {
    buf_addf(&q->why, "cannot read '%s': %s", path, strerror(errno));
    return -1;
  }
  int bad = read_request(f, request, &q->why);
  if (path) fclose(f);
  llm_clean(request);
  if (bad || read_messages(q, request) < 0) return -1;
  if (transcript && llm_transcript_open(q, transcript) < 0) return -1;
  return q->cmd ? llm_cmd(q) : llm_http(q);
}

static void release(llm *q) {
  json_decref(q->messages);
  buf_free(&q->answer);
  buf_free(&q->why);
  free(q->key);
  if (q->transcript >= 0) close(q->transcript);
}

int main(int argc, char **argv) {
  llm q = {.transcript = -1};
  buf request = {0}, out = {0};
  const char *transcript = NULL, *path = NULL;
  signal(SIGPIPE, SIG_IGN);
  read_options(&q, argc, argv, &transcript, &path);
  int bad = ask(&q, &request, transcript, path) < 0;
  if (bad) {
    llm_clean(&q.why);
    llm_hide(&q, &q.why);
    llm_flatten(&q.why);
    llm_shorten(&q.why, 500);
    buf_addf(&out, "error\t%s\n", q.why.data);
  } else {
    llm_print_edits(&q, &out);
  }
  if (util_write(STDOUT_FILENO, out.data, out.len) < 0) bad = 1;
  release(&q);
  buf_free(&request);
  buf_free(&out);
  return bad;
}
