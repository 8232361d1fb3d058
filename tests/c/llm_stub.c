/* llm_stub.c -- a language model for tests: an HTTP server on 127.0.0.1 that follows a script.
 *
 *   llm_stub SCRIPT [LOG]     prints its port; appends every request to LOG
 *
 * One request to POST /v1/chat/completions takes the script's next line; the last line serves all
 * that follow.  In TEXT, \n \t \\ and \xHH stand for what they do in C.  Lines:
 *
 *   say TEXT            200, a chat completion with TEXT as its content
 *   cutoff TEXT         the same with finish_reason "length"
 *   parts TEXT          the same with the content as a list of parts
 *   body STATUS TEXT    TEXT as the whole body
 *   retry STATUS SECS   an error with Retry-After
 *   echo STATUS         the Authorization header in the error's text; 200: in an edit, thrice escaped
 *   picky               400 that names temperature while the request has one, else the next line
 *   huge MIB            so many MiB of letters;  endless: without end
 *   drop                closes without a word;  hang: never answers;  cut: half of a body
 */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { REQUEST_MAX = 16 << 20, LINES_MAX = 10000, TEXT_MAX = 1 << 20 };

static char *script[LINES_MAX];
static size_t nlines, at;

static void die(const char *what) {
  fprintf(stderr, "llm_stub: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void *need(void *p) {
  if (!p) die("no memory");
  return p;
}

static void read_script(const char *path) {
  FILE *f = fopen(path, "r");
  char *line = NULL;
  size_t cap = 0;
  ssize_t n;
  if (!f) die(path);
  while ((n = getline(&line, &cap, f)) > 0 && nlines < LINES_MAX) {
    if (line[n - 1] == '\n') line[n - 1] = 0;
    if (line[0] && line[0] != '#') script[nlines++] = need(strdup(line));
  }
  free(line);
  fclose(f);
  if (nlines == 0) die("an empty script");
}

/* ---- texts ---- */

/* TEXT with its escapes resolved; the length goes to *n. */
static char *unescape(const char *s, size_t *n) {
  char *out = need(malloc(strlen(s) + 1)), *to = out;
  for (; *s; s++) {
    unsigned byte;
    if (*s != '\\')
      *to++ = *s;
    else if (s[1] == 'n')
      *to++ = '\n', s++;
    else if (s[1] == 't')
      *to++ = '\t', s++;
    else if (s[1] == 'x' && sscanf(s + 2, "%2x", &byte) == 1)
      *to++ = (char)byte, s += 3;
    else if (s[1])
      *to++ = *++s;
  }
  *to = 0;
  *n = (size_t)(to - out);
  return out;
}

/* The bytes as the inside of a JSON string; what is no UTF-8 stays what it is. */
static char *json_inside(const char *s, size_t n) {
  char *out = need(malloc(6 * n + 1)), *to = out;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)s[i];
    if (c < 0x20)
      to += sprintf(to, "\\u%04x", c);
    else if (c == '"' || c == '\\')
      *to++ = '\\', *to++ = (char)c;
    else
      *to++ = (char)c;
  }
  *to = 0;
  return out;
}

/* ---- sending ---- */

static void send_all(int fd, const char *s, size_t n) {
  while (n > 0) {
    ssize_t k = write(fd, s, n);
    if (k <= 0) return; /* the client has gone */
    s += k;
    n -= (size_t)k;
  }
}

static void send_head(int fd, int status, const char *more, long long length) {
  char head[256];
  int n = snprintf(head, sizeof head,
                   "HTTP/1.1 %d Stub\r\nContent-Type: application/json\r\nConnection: close\r\n"
                   "%sContent-Length: %lld\r\n\r\n",
                   status, more, length);
  send_all(fd, head, (size_t)n);
}

static void send_body(int fd, int status, const char *more, const char *body, size_t n) {
  send_head(fd, status, more, (long long)n);
  send_all(fd, body, n);
}

/* A completion whose message's content is text, whole or as a list of one part. */
static void send_completion(int fd, const char *text, size_t n, int parts, const char *finish) {
  char *inside = json_inside(text, n), *body = NULL;
  int len = asprintf(&body,
                     "{\"id\":\"stub\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,"
                     "\"message\":{\"role\":\"assistant\",\"content\":%s%s%s},"
                     "\"finish_reason\":\"%s\"}]}",
                     parts ? "[{\"type\":\"text\",\"text\":\"" : "\"", inside,
                     parts ? "\"}]" : "\"", finish);
  if (len < 0) die("no memory");
  send_body(fd, 200, "", body, (size_t)len);
  free(inside);
  free(body);
}

static void send_error(int fd, int status, const char *more, const char *message) {
  char *inside = json_inside(message, strlen(message)), *body = NULL;
  int len = asprintf(&body, "{\"error\":{\"message\":\"%s\",\"type\":\"stub\"}}", inside);
  if (len < 0) die("no memory");
  send_body(fd, status, more, body, (size_t)len);
  free(inside);
  free(body);
}

static void send_letters(int fd, long long mib) {
  static char block[1 << 20];
  memset(block, 'x', sizeof block);
  send_head(fd, 200, "", mib << 20);
  for (long long i = 0; i < mib; i++) send_all(fd, block, sizeof block);
}

/* ---- the script's lines ---- */

/* The value of a header in the request, as a new string. */
static char *header(const char *request, const char *name) {
  size_t n = strlen(name);
  for (const char *p = request; (p = strstr(p, "\r\n")) != NULL && p[2] != '\r';) {
    p += 2;
    if (strncasecmp(p, name, n) == 0 && p[n] == ':') {
      p += n + 1 + strspn(p + n + 1, " ");
      return need(strndup(p, strcspn(p, "\r\n")));
    }
  }
  return need(strdup("(none)"));
}

/* Every character as a \u escape. */
static char *all_escaped(const char *s) {
  char *out = need(malloc(6 * strlen(s) + 1)), *to = out;
  *to = 0;
  for (; *s; s++) to += sprintf(to, "\\u%04x", (unsigned char)*s);
  return out;
}

static void echo(int fd, int status, const char *request) {
  char *auth = header(request, "Authorization"), *text = NULL, *escaped = all_escaped(auth);
  if (status == 200) {
    int n =
        asprintf(&text,
                 "%s [{\"name\":\"%s\",\"hypothesis\":\"%s\",\"op\":\"pin\",\"param\":\"stages\","
                 "\"values\":[\"%s\"]}]",
                 auth, auth, escaped, strchr(auth, ' ') ? strchr(auth, ' ') + 1 : auth);
    if (n < 0) die("no memory");
    send_completion(fd, text, (size_t)n, 0, "stop");
  } else {
    if (asprintf(&text, "bad credentials '%s'", auth) < 0) die("no memory");
    send_error(fd, status, "", text);
  }
  free(auth);
  free(text);
  free(escaped);
}

static int starts(const char *line, const char *word, const char **rest) {
  size_t n = strlen(word);
  if (strncmp(line, word, n) != 0 || (line[n] && line[n] != ' ')) return 0;
  *rest = line + n + (line[n] == ' ');
  return 1;
}

/* Answers by one line; returns 1 if the connection must stay open and silent. */
static int follow(int fd, const char *line, const char *request) {
  const char *rest;
  if (starts(line, "hang", &rest)) return 1;
  if (starts(line, "say", &rest) || starts(line, "cutoff", &rest) || starts(line, "parts", &rest)) {
    size_t n;
    char *text = unescape(rest, &n);
    send_completion(fd, text, n, line[0] == 'p', line[0] == 'c' ? "length" : "stop");
    free(text);
  } else if (starts(line, "body", &rest)) {
    size_t n;
    char *after, *text;
    int status = (int)strtol(rest, &after, 10);
    text = unescape(after + (*after == ' '), &n);
    send_body(fd, status, "", text, n);
    free(text);
  } else if (starts(line, "retry", &rest)) {
    char more[64], *after;
    int status = (int)strtol(rest, &after, 10);
    snprintf(more, sizeof more, "Retry-After: %d\r\n", atoi(after));
    send_error(fd, status, more, "slow down");
  } else if (starts(line, "echo", &rest)) {
    echo(fd, atoi(rest), request);
  } else if (starts(line, "huge", &rest)) {
    send_letters(fd, atoll(rest));
  } else if (starts(line, "endless", &rest)) {
    send_letters(fd, 1 << 20);
  } else if (starts(line, "cut", &rest)) {
    send_head(fd, 200, "", 1000);
    send_all(fd, "{\"choices\":[{", 13);
  } else if (!starts(line, "drop", &rest)) {
    send_error(fd, 500, "", "the stub does not know this line of its script");
  }
  return 0;
}

/* ---- receiving ---- */

/* Reads a request: its head and as much body as it announces; NULL if it never comes. */
static char *read_request(int fd, size_t *len) {
  char *text = need(malloc(REQUEST_MAX + 1)), *head = NULL;
  size_t n = 0, want = REQUEST_MAX;
  while (n < want) {
    ssize_t k = read(fd, text + n, want - n);
    if (k <= 0) break;
    n += (size_t)k;
    text[n] = 0;
    if (!head && (head = strstr(text, "\r\n\r\n")) != NULL) {
      char *length = header(text, "Content-Length");
      want = (size_t)(head + 4 - text) + (size_t)atoll(length);
      if (want > REQUEST_MAX) want = REQUEST_MAX;
      free(length);
    }
  }
  *len = n;
  if (head && n >= want) return text;
  free(text);
  return NULL;
}

static void log_request(const char *path, const char *text, size_t n) {
  FILE *f = path ? fopen(path, "a") : NULL;
  if (!f) return;
  fwrite(text, 1, n, f);
  fputs("\n----\n", f);
  fclose(f);
}

static int answer(int fd, const char *request) {
  const char *rest;
  if (strncmp(request, "POST /v1/chat/completions ", 26) != 0) {
    send_error(fd, 404, "", "not found");
    return 0;
  }
  if (starts(script[at], "picky", &rest)) {
    if (strstr(request, "\"temperature\"")) {
      send_error(fd, 400, "", "Unsupported value: 'temperature' does not support 0.8");
      return 0;
    }
    if (at + 1 < nlines) at++;
  }
  const char *line = script[at];
  if (at + 1 < nlines) at++;
  return follow(fd, line, request);
}

int main(int argc, char **argv) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof a;
  if (argc < 2) return 2;
  signal(SIGPIPE, SIG_IGN);
  read_script(argv[1]);
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof a) < 0 || listen(s, 16) < 0 ||
      getsockname(s, (struct sockaddr *)&a, &len) < 0)
    die("cannot listen");
  printf("%d\n", ntohs(a.sin_port));
  fflush(stdout);
  for (;;) {
    int fd = accept(s, NULL, NULL);
    if (fd < 0) continue;
    size_t n;
    struct timeval patience = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char *request = read_request(fd, &n);
    if (request) log_request(argc > 2 ? argv[2] : NULL, request, n);
    if (!request || !answer(fd, request)) close(fd); /* else: left hanging, on purpose */
    free(request);
  }
}
