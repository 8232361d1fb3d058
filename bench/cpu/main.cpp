// main.cpp -- the CPU device's program: a worker that answers one line a job, as the bench worker
// does, or one kernel from the command line.
//
//   loom-cpu                                       jobs on stdin
//   loom-cpu K.so K.json M=256 N=256 K=128 [SCHEDULES=0,1,2,3] [FAMILIES=ternary,...] [SEED=1]
//            [COUNTERS=path|-] [PDL=0|1] [ALPHA=x] [BETA=x] [LDA= LDB= LDC=] [SHIFT=elements]
//
// Exit codes: 0 clean, 1 findings (of the worker: trouble with its pipes), 2 usage, 3 refused (of the
// worker: the kernel could not be ended otherwise).
#include "report.h"
#include "run.h"
#include "watchdog.h"

extern "C" {
#include "job.h"
}

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>

using namespace cpu;

using Values = std::map<std::string, std::string>;

// ---- a job from its texts ------------------------------------------------------------------------

static bool read_integer(const Values &v, const char *name, int64_t lo, int64_t hi, int64_t *out,
                         fault *f) {
  const auto it = v.find(name);
  if (it == v.end()) return true;
  char *end;
  errno = 0;
  const long long n = strtoll(it->second.c_str(), &end, 10);
  if (it->second.empty() || *end || errno || n < lo || n > hi)
    return fault_set(f, "field '%s': '%.40s' is no integer from %lld to %lld", name,
                     it->second.c_str(), static_cast<long long>(lo), static_cast<long long>(hi));
  *out = n;
  return true;
}

static bool read_factor(const Values &v, const char *name, float *out, bool *has, fault *f) {
  const auto it = v.find(name);
  if (it == v.end()) return true;
  char *end;
  *out = strtof(it->second.c_str(), &end);
  *has = true;
  return (!it->second.empty() && !*end) ||
         fault_set(f, "field '%s': '%.40s' is no number", name, it->second.c_str());
}

static std::vector<std::string> cut(const std::string &list) {
  std::vector<std::string> parts(1);
  for (char c : list)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

static bool read_lists(const Values &v, Job *job, fault *f) {
  const auto schedules = v.find("schedules"), families = v.find("families");
  if (schedules != v.end()) {
    job->schedules.clear();
    for (const std::string &s : cut(schedules->second)) {
      int64_t n = 0;
      if (!read_integer({{"schedules", s}}, "schedules", 0, INT32_MAX, &n, f)) return false;
      job->schedules.push_back(static_cast<int>(n));
    }
  }
  if (families != v.end()) {
    job->families.clear();
    for (const std::string &s : cut(families->second)) {
      job->families.push_back(family_of(s));
      if (job->families.back() == Family::COUNT)
        return fault_set(f, "no input family '%.40s'", s.c_str());
    }
  }
  return true;
}

static bool read_job(const Values &v, Job *job, fault *f) {
  static const char *const known[] = {"so",   "desc", "report", "counters",  "M",       "N",
                                      "K",    "lda",  "ldb",    "ldc",       "seed",    "alpha",
                                      "beta", "pdl",  "shift",  "schedules", "families"};
  static const char *const dims[] = {"M", "N", "K"}, *const lds[] = {"lda", "ldb", "ldc"};
  for (const auto &[name, value] : v) {
    bool found = false;
    for (const char *k : known) found = found || name == k;
    if (!found) return fault_set(f, "unknown field '%.80s'", name.c_str());
  }
  for (const char *need : {"so", "desc", "M", "N", "K"})
    if (!v.count(need)) return fault_set(f, "lacks the field '%s'", need);
  const auto text = [&](const char *name) { return v.count(name) ? v.at(name) : std::string(); };
  job->so = text("so");
  job->desc = text("desc");
  job->report = text("report");
  job->counters = text("counters");
  int64_t seed = 1, pdl = -1;
  for (int i = 0; i < 3; i++)
    if (!read_integer(v, dims[i], 1, 1 << 15, &job->mnk[i], f) ||
        !read_integer(v, lds[i], 0, 1 << 20, &job->ld[i], f))
      return false;
  const bool ok = read_integer(v, "seed", 0, INT64_MAX, &seed, f) &&
                  read_integer(v, "pdl", 0, 1, &pdl, f) &&
                  read_integer(v, "shift", 0, 1 << 20, &job->shift, f) &&
                  read_factor(v, "alpha", &job->alpha, &job->has_alpha, f) &&
                  read_factor(v, "beta", &job->beta, &job->has_beta, f) && read_lists(v, job, f);
  job->seed = static_cast<uint64_t>(seed);
  job->pdl = static_cast<int>(pdl);
  return ok;
}

// ---- answers -------------------------------------------------------------------------------------

static void print_clean(const Outcome &o, reply *r) {
  const Counters &c = o.total;
  reply_begin(r, "ok");
  reply_int(r, "runs", o.runs);
  reply_real(r, "ms", o.ms);
  const std::pair<const char *, uint64_t> figures[] = {{"flops", c.flops},
                                                       {"tma_bytes", c.bytes},
                                                       {"global_sectors", c.sectors},
                                                       {"global_ideal", c.sectors_ideal},
                                                       {"wavefronts", c.wavefronts},
                                                       {"wavefronts_ideal", c.wavefronts_ideal},
                                                       {"barrier_waits", c.waits}};
  for (const auto &[name, value] : figures) reply_int(r, name, static_cast<long long>(value));
}

static void print_wrong(const Outcome &o, reply *r) {
  const Finding &f = findings().front();
  reply_begin(r, "wrong");
  reply_text(r, "kind", kind_name(f.kind));
  reply_text(r, "why", f.text.c_str());
  reply_text(r, "at", site_place(f.site).c_str());
  reply_text(r, "other", site_place(f.other).c_str());
  reply_int(r, "findings", static_cast<long long>(findings().size()));
  reply_text(r, "run", o.run.c_str());
}

static void print_outcome(const Outcome &o, reply *r) {
  if (o.status == Outcome::CLEAN) {
    print_clean(o, r);
  } else if (o.status == Outcome::WRONG) {
    print_wrong(o, r);
  } else {
    reply_begin(r, o.status == Outcome::REFUSED ? "refused" : "error");
    reply_text(r, "why", o.why.c_str());
  }
}

// ---- the worker ----------------------------------------------------------------------------------

static bool do_check(const job &line, reply *r, fault *f) {
  Values values;
  for (int i = 0; i < line.fields; i++)
    if (!values.emplace(line.name[i], line.value[i]).second)
      return fault_set(f, "job '%s' has the field '%s' twice", line.verb, line.name[i]);
  Job job;
  if (!read_job(values, &job, f)) return false;
  print_outcome(run_job(job), r);
  return true;
}

// Answers one line. Returns an exit code to leave with, -1 to go on.
static int answer(char *line, FILE *out) {
  job parsed;
  reply r;
  fault f = {};
  bool ok = job_parse(line, &parsed, &f);
  if (ok && strcmp(parsed.verb, "quit") == 0) return 0;
  if (ok && strcmp(parsed.verb, "check") != 0)
    ok = fault_set(&f, "unknown verb '%.80s'", parsed.verb);
  if (!ok || !do_check(parsed, &r, &f)) {
    reply_begin(&r, "error");
    reply_text(&r, "why", f.text);
  }
  return reply_send(&r, out) ? -1 : 1;
}

static bool greet(FILE *out) {
  reply r;
  reply_begin(&r, "ready");
  reply_int(&r, "worker", 1);
  for (const auto &[name, value] : {std::pair<const char *, const char *>{"device", "cpu"},
                                    {"arch", "sm_90"},
                                    {"sms", "132"},
                                    {"driver", "-"},
                                    {"cuda", "-"},
                                    {"cublas", "-"},
                                    {"uuid", "cpu"},
                                    {"smem", "232448"}})
    reply_text(&r, name, value);
  return reply_send(&r, out);
}

// Answers go to a private copy of stdout; what else is printed becomes stderr.
static int work() {
  const int copy = dup(STDOUT_FILENO);
  FILE *out = copy < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? nullptr : fdopen(copy, "w");
  if (!out) {
    fprintf(stderr, "loom-cpu: cannot copy stdout: %s\n", strerror(errno));
    return 1;
  }
  watchdog_start(copy);
  char *line = nullptr;
  size_t room = 0;
  int code = greet(out) ? -1 : 1;
  while (code < 0) {
    const ssize_t n = getline(&line, &room, stdin);
    if (n < 0) break; // the parent is gone, or closed its end: the same as quit
    if (n > 0 && line[n - 1] == '\n') line[n - 1] = 0;
    code = answer(line, out);
  }
  free(line);
  return code < 0 ? ferror(stdin) != 0 : code;
}

// ---- the command line ----------------------------------------------------------------------------

static int usage(const char *why) {
  fprintf(stderr,
          "loom-cpu: %s\nusage: loom-cpu K.so K.json M=256 N=256 K=128 [SCHEDULES=0,1,2,3] "
          "[FAMILIES=ternary,cancel,onehot,slice,special] [SEED=1] [COUNTERS=path|-] [PDL=0|1] "
          "[ALPHA=x] [BETA=x] [LDA=] [LDB=] [LDC=] [SHIFT=elements]\n",
          why);
  return 2;
}

// NAME=value as the worker's fields: M, N and K as they are, the others in lower case.
static bool option(const char *arg, Values *values) {
  const char *equals = strchr(arg, '=');
  if (!equals) return false;
  std::string name(arg, equals);
  if (name.size() > 1)
    for (char &c : name) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  return values->emplace(name, equals + 1).second;
}

static int print_report(const Outcome &o) {
  if (o.status == Outcome::CLEAN) {
    printf("clean: %d runs, %.1f ms\n", o.runs, o.ms);
    return 0;
  }
  if (o.status == Outcome::WRONG) {
    printf("%s\n%s", o.run.c_str(), findings_text().c_str());
    return 1;
  }
  fprintf(stderr, "loom-cpu: %s\n", o.why.c_str());
  return o.status == Outcome::REFUSED ? 3 : 2;
}

static int check(int argc, char **argv) {
  Values values = {{"so", argv[1]}, {"desc", argv[2]}};
  for (int i = 3; i < argc; i++)
    if (!option(argv[i], &values)) return usage(argv[i]);
  Job job;
  fault f = {};
  if (!read_job(values, &job, &f)) return usage(f.text);
  if (job.counters == "-") job.counters = "/dev/stdout";
  watchdog_start(STDOUT_FILENO);
  return print_report(run_job(job));
}

int main(int argc, char **argv) {
  if (argc == 1) return work();
  return argc < 3 ? usage("a kernel's .so and its descriptor are needed") : check(argc, argv);
}
