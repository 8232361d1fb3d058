/* job_test.c - the worker's lines: what is read, what is refused, what is written */
#include "../../bench/cuda/job.h"
#include "ok.h"

#include <string.h>

static const char *const names[] = {"M", "layout", "?options", NULL};
static char line[8192];
static struct job job;
static struct fault fault;

static bool parse(const char *text) {
  snprintf(line, sizeof line, "%s", text);
  fault.text[0] = 0;
  return job_parse(line, &job, &fault) && job_fields(&job, names, &fault);
}

static void refused(const char *text, const char *piece, const char *sentence) {
  bool taken = parse(text);
  ok(!taken && strstr(fault.text, piece), "%s (%s)", sentence, taken ? "was taken" : fault.text);
}

static void reads(void) {
  int64_t m = 0;
  ok(parse("problem\tM=64\tlayout=tn"), "a job line is read");
  ok(strcmp(job.verb, "problem") == 0 && strcmp(job_text(&job, "layout"), "tn") == 0,
     "its texts too");
  ok(job_int(&job, "M", 1, 100, &m, &fault) && m == 64, "its integers too");
  ok(parse("time\tlayout=a=b c\tM="), "a value may be empty, or hold '=' and blanks");
  ok(strcmp(job_text(&job, "layout"), "a=b c") == 0, "which stay");
}

static void reads_options(void) {
  static const char *const words[] = {"lt", "auto", NULL};
  unsigned set = 7;
  ok(parse("p\tM=1\tlayout=nn") && !job_has(&job, "options") &&
         strcmp(job_text(&job, "options"), "") == 0,
     "an optional field may be missing");
  ok(parse("p\toptions=auto,lt\tM=1\tlayout=nn") && job_has(&job, "options"), "or be there");
  ok(job_set(&job, "options", words, &set, &fault) && set == 3, "a list of words is a set");
  static const char *const bad[] = {"", "lt,", ",lt", "l", "lts", "lt;auto", "lt, auto"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[80];
    snprintf(text, sizeof text, "p\tM=1\tlayout=nn\toptions=%s", bad[i]);
    ok(parse(text) && !job_set(&job, "options", words, &set, &fault),
       "options='%s' is refused (%s)", bad[i], fault.text);
  }
}

static void refuses(void) {
  refused("", "without a verb", "an empty line is refused");
  refused("\tM=1", "without a verb", "a line that begins with a tab is refused");
  refused("problem\tM", "not name=value", "a field without '=' is refused");
  refused("problem\t=3", "not name=value", "a field without a name is refused");
  refused("problem\tM=1\t", "not name=value", "a tab at the end is refused");
  refused("problem\tM=1", "lacks the field 'layout'", "a missing field is refused");
  refused("p\tM=1\tlayout=nn\toptions=a\toptions=b", "'options' twice",
          "a repeated optional field is refused");
  refused("problem\tM=1\tM=2\tlayout=nn", "'M' twice", "a repeated field is refused");
  refused("problem\tM=1\tlayout=nn\tX=1", "unknown field 'X'", "an unknown field is refused");
  char many[200] = "problem";
  for (int i = 0; i < JOB_FIELDS + 1; i++) strcat(many, "\tM=1");
  refused(many, "more than", "too many fields are refused");
}

static void refuses_integers(void) {
  static const char *const bad[] = {
      "", "x", "1x", "-1", "+1", " 1", "1.0", "0x10", "101", "0", "99999999999999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    int64_t v;
    char text[100];
    snprintf(text, sizeof text, "p\tlayout=nn\tM=%s", bad[i]);
    bool read = parse(text);
    ok(read && !job_int(&job, "M", 1, 100, &v, &fault) && fault.text[0],
       "M='%s' is refused for 1 to 100 (%s)", bad[i], fault.text);
  }
}

static void reads_numbers(void) {
  static const char *const bad[] = {"",     "x",   "1x",  "-1",    "+1", " 1",  "1e3",
                                    "0x10", "inf", "nan", "1.2.3", ".5", "200", "0.01"};
  double v = 0;
  ok(parse("p\tlayout=nn\tM=2.5") && job_real(&job, "M", 0.1, 120, &v, &fault) && v == 2.5,
     "a plain decimal number is read");
  ok(parse("p\tlayout=nn\tM=120") && job_real(&job, "M", 0.1, 120, &v, &fault) && v == 120,
     "an integer is one");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[100];
    snprintf(text, sizeof text, "p\tlayout=nn\tM=%s", bad[i]);
    bool read = parse(text);
    ok(read && !job_real(&job, "M", 0.1, 120, &v, &fault) && fault.text[0],
       "M='%s' is refused for 0.1 to 120 (%s)", bad[i], fault.text);
  }
}

/* What reply_send writes */
static const char *written(struct reply *r) {
  static char out[2 * REPLY_SIZE];
  FILE *f = tmpfile();
  if (!f || !reply_send(r, f)) return "";
  rewind(f);
  out[fread(out, 1, sizeof out - 1, f)] = 0;
  (void)fclose(f);
  return out;
}

static void writes(void) {
  struct reply r;
  reply_begin(&r, "ok");
  reply_real(&r, "us", 12.3456789);
  reply_int(&r, "blocks", 8);
  reply_text(&r, "why", "a\tb\nc");
  ok(strcmp(written(&r), "ok\tus=12.3457\tblocks=8\twhy=a b c\n") == 0,
     "a result is one line, with tabs and newlines of values as blanks");
  char huge[2 * REPLY_SIZE];
  memset(huge, 'x', sizeof huge - 1);
  huge[sizeof huge - 1] = 0;
  reply_begin(&r, "error");
  reply_text(&r, "why", huge);
  reply_int(&r, "more", 1);
  const char *out = written(&r);
  size_t n = strlen(out);
  ok(n < REPLY_SIZE + 1 && n > REPLY_SIZE / 2 && out[n - 1] == '\n' &&
         strchr(out, '\n') == out + n - 1,
     "a result that is too long is cut and still one line");
}

int main(void) {
  reads();
  reads_options();
  refuses();
  refuses_integers();
  reads_numbers();
  writes();
  return done();
}
