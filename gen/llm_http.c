/* llm_http.c -- asks an OpenAI-compatible server: POST <url>/chat/completions, with retries.
 *
 * Tried again after a growing pause, or the one that Retry-After names: 408, 429, 5xx, timeouts,
 * and connections that break.  Not tried again: a server that is not there, and any other refusal.
 * A 400 that names `temperature` is answered at once by a request without it: some models take
 * none.
 *
 * Redirects are not followed (they would carry the key to somebody else).  The transcript's URL has
 * neither user nor query, where keys may stand too.
 */
#include "llm.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util.h"

enum { BODY_MAX = 8 << 20, PAUSE_MAX = 60, CONNECT_MS = 15000 };

static const double TEMPERATURE = 0.8;

typedef struct http {
  llm *q;
  CURL *curl;
  struct curl_slist *headers;
  char *url, *shown; /* whole; for people */
  char error[CURL_ERROR_SIZE];
  int temperature; /* is it sent */
  CURLcode code;   /* of the last try */
  long status;     /* 0: no response */
  buf body;
  double seconds, after; /* it took; the server asks to wait */
} http;

/* ---- the address ---- */

/* Appends the path of the API to that of the URL unless it stands there. */
static int set_path(CURLU *u) {
  static const char tail[] = "/chat/completions";
  char *path = NULL;
  buf b = {0};
  if (curl_url_get(u, CURLUPART_PATH, &path, 0) != CURLUE_OK) return -1;
  buf_adds(&b, path);
  curl_free(path);
  while (b.len > 0 && b.data[b.len - 1] == '/') b.data[--b.len] = 0;
  size_t n = sizeof tail - 1;
  if (b.len < n || strcmp(b.data + b.len - n, tail) != 0) buf_adds(&b, tail);
  int bad = curl_url_set(u, CURLUPART_PATH, b.data, 0) != CURLUE_OK;
  buf_free(&b);
  return bad ? -1 : 0;
}

/* The parts of a URL that are no secret. */
static void drop_secrets(CURLU *u) {
  curl_url_set(u, CURLUPART_USER, NULL, 0);
  curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
  curl_url_set(u, CURLUPART_QUERY, NULL, 0);
  curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
}

static int set_urls(http *h) {
  CURLU *u = curl_url();
  char *scheme = NULL;
  int bad = !u || curl_url_set(u, CURLUPART_URL, h->q->url, 0) != CURLUE_OK ||
            curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
            strncmp(scheme, "http", 4) != 0 || set_path(u) < 0 ||
            curl_url_get(u, CURLUPART_URL, &h->url, 0) != CURLUE_OK;
  if (!bad) {
    drop_secrets(u);
    bad = curl_url_get(u, CURLUPART_URL, &h->shown, 0) != CURLUE_OK;
  }
  curl_free(scheme);
  curl_url_cleanup(u);
  if (bad) buf_adds(&h->q->why, "LOOM_LLM_URL is no http:// or https:// address");
  return bad ? -1 : 0;
}

/* ---- one try ---- */

static size_t take_body(char *data, size_t size, size_t n, void *to) {
  buf *b = to;
  if (b->len + size * n > BODY_MAX) return 0; /* ends the transfer */
  buf_add(b, data, size * n);
  return size * n;
}

static void set_up(http *h) {
  const llm *q = h->q;
  h->curl = curl_easy_init();
  if (!h->curl) util_die("libcurl does not start");
  h->headers = curl_slist_append(NULL, "Content-Type: application/json");
  h->headers = curl_slist_append(h->headers, "Expect:"); /* no 100-continue: it may cost a second */
  if (q->key) {
    buf line = {0};
    buf_addf(&line, "Authorization: Bearer %s", q->key);
    h->headers = curl_slist_append(h->headers, line.data);
    buf_free(&line);
  }
  curl_easy_setopt(h->curl, CURLOPT_URL, h->url);
  curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->headers);
  curl_easy_setopt(h->curl, CURLOPT_ERRORBUFFER, h->error);
  curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &h->body);
  curl_easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(h->curl, CURLOPT_ACCEPT_ENCODING, "");
  curl_easy_setopt(h->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
  curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)(q->timeout * 1000));
}

static json_t *request_body(const http *h) {
  json_t *body = json_pack("{s:O}", "messages", h->q->messages);
  if (h->q->model) json_object_set_new(body, "model", json_string(h->q->model));
  if (h->temperature) json_object_set_new(body, "temperature", json_real(TEMPERATURE));
  return body;
}

/* The request as the transcript shows it: its texts are cleaned already, the key is hidden. */
static void log_request(const http *h, int try_, const char *text) {
  buf b = {0};
  buf_adds(&b, h->shown);
  llm_hide(h->q, &b);
  json_t *line = json_pack("{s:i, s:o, s:o}", "try", try_, "url", json_stringn(b.data, b.len),
                           "request", llm_json_text(h->q, text, strlen(text)));
  llm_transcript_add(h->q, "request", line);
  buf_free(&b);
}

static void log_response(const http *h) {
  json_t *line = json_pack("{s:f, s:I}", "seconds", h->seconds, "status", (json_int_t)h->status);
  if (h->code != CURLE_OK) {
    json_object_set_new(line, "error", llm_json_text(h->q, h->error, strlen(h->error)));
  }
  json_object_set_new(line, "response", llm_json_text(h->q, h->body.data, h->body.len));
  llm_transcript_add(h->q, "response", line);
}

/* Sends the request and takes the response into h. */
static void send_once(http *h, int try_) {
  json_t *body = request_body(h);
  char *text = json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(4));
  curl_off_t after = 0;
  double began = util_now();
  if (!text) util_die("cannot write the request");
  log_request(h, try_, text);
  buf_clear(&h->body);
  h->error[0] = 0;
  h->status = 0;
  curl_easy_setopt(h->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(text));
  curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, text);
  h->code = curl_easy_perform(h->curl);
  curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &h->status);
  curl_easy_getinfo(h->curl, CURLINFO_RETRY_AFTER, &after);
  h->after = (double)after;
  h->seconds = util_now() - began;
  if (h->code == CURLE_WRITE_ERROR)
    snprintf(h->error, sizeof h->error, "the response has more than %d MiB", BODY_MAX >> 20);
  if (h->code != CURLE_OK && !h->error[0])
    snprintf(h->error, sizeof h->error, "%s", curl_easy_strerror(h->code));
  log_response(h);
  json_decref(body);
  free(text);
}

/* ---- what to make of it ---- */

/* May the same request succeed a moment later? */
static int passing(const http *h) {
  static const CURLcode broken[] = {CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE,
                                    CURLE_RECV_ERROR,         CURLE_SEND_ERROR,  CURLE_HTTP2,
                                    CURLE_HTTP2_STREAM};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
    if (h->code == broken[i]) return 1;
  return h->code == CURLE_OK && (h->status == 408 || h->status == 429 || h->status >= 500);
}

/* A model that wants no temperature. */
static int drops_temperature(http *h) {
  if (h->code != CURLE_OK || h->status != 400 || !h->temperature) return 0;
  if (!h->body.data || !strstr(h->body.data, "temperature")) return 0;
  h->temperature = 0;
  return 1;
}

/* Appends the server's own words in a body: {"error": {"message"}}, {"error"}, {"message"}, else
 * all of it; `lead` comes before them. */
static void add_message(buf *to, const char *lead, const buf *body) {
  json_t *v = json_loadb(body->data ? body->data : "", body->len, JSON_ALLOW_NUL, NULL);
  const json_t *e = json_object_get(v, "error"), *m = json_object_get(e, "message");
  if (!m) m = json_is_string(e) ? e : json_object_get(v, "message");
  if (json_is_string(m))
    buf_addf(to, "%s%s", lead, json_string_value(m));
  else if (body->len > 0)
    buf_addf(to, "%s%s", lead, body->data);
  json_decref(v);
}

/* Appends a message's content: a string, or a list of parts with texts. */
static int add_content(buf *answer, const json_t *content) {
  if (json_is_string(content))
    buf_add(answer, json_string_value(content), json_string_length(content));
  for (size_t i = 0; i < json_array_size(content); i++) {
    const json_t *part = json_object_get(json_array_get(content, i), "text");
    if (json_is_string(part)) buf_add(answer, json_string_value(part), json_string_length(part));
  }
  return json_is_string(content) || json_is_array(content) ? 0 : -1;
}

/* Takes the text out of a completion.  What is none is an answer too, if an odd one: the server was
 * there, and the model is told. */
static void read_completion(http *h) {
  json_error_t e;
  llm *q = h->q;
  llm_clean(&h->body);
  json_t *v = json_loadb(h->body.data, h->body.len, JSON_ALLOW_NUL, &e);
  const json_t *choice = json_array_get(json_object_get(v, "choices"), 0);
  const json_t *message = json_object_get(choice, "message");
  const char *finish = json_string_value(json_object_get(choice, "finish_reason"));
  const json_t *refusal = json_object_get(message, "refusal");
  int bad = add_content(&q->answer, json_object_get(message, "content"));
  q->cut = finish && strcmp(finish, "length") == 0;
  if (bad && q->cut) bad = 0; /* all spent on thoughts */
  if (bad) {
    q->odd = v ? "the response is no chat completion" : "the response is no JSON";
    if (json_is_string(refusal))
      buf_adds(&q->answer, json_string_value(refusal));
    else
      add_message(&q->answer, "", &h->body);
  }
  json_decref(v);
}

/* The reason after the last try. */
static void add_failure(http *h, int tries) {
  buf *why = &h->q->why;
  buf_addf(why, "%s: ", h->shown);
  if (h->code != CURLE_OK) {
    buf_adds(why, h->error);
  } else {
    llm_clean(&h->body);
    buf_addf(why, "status %ld", h->status);
    add_message(why, ": ", &h->body);
  }
  if (tries > 1) buf_addf(why, " (%d tries)", tries);
}

static void wait_for(double seconds) {
  struct timespec t = {.tv_sec = (time_t)seconds};
  t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
  while (nanosleep(&t, &t) < 0 && errno == EINTR) continue;
}

/* Tries until there is an answer or no hope. */
static int try_all(http *h) {
  double pause_ = h->q->pause;
  for (int i = 1;; i++) {
    send_once(h, i);
    if (h->code == CURLE_OK && h->status == 200) {
      read_completion(h);
      return 0;
    }
    if (drops_temperature(h)) {
      i--;
      continue;
    }
    if (!passing(h) || i >= h->q->tries) {
      add_failure(h, i);
      return -1;
    }
    double wait = h->after > pause_ ? h->after : pause_;
    wait_for(wait < PAUSE_MAX ? wait : PAUSE_MAX);
    pause_ *= 2;
  }
}

int llm_http(llm *q) {
  http h = {.q = q, .temperature = 1};
  if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) util_die("libcurl does not start");
  int bad = set_urls(&h);
  if (!bad) {
    set_up(&h);
    bad = try_all(&h);
  }
  curl_slist_free_all(h.headers);
  if (h.curl) curl_easy_cleanup(h.curl);
  curl_free(h.url);
  curl_free(h.shown);
  buf_free(&h.body);
  curl_global_cleanup();
  return bad ? -1 : 0;
}
