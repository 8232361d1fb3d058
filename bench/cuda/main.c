/* main.c - the bench worker: owns the GPU, answers one line a job
**
** Reads job lines on stdin and writes one result line each; the parent holds the
** deadlines. A CUDA error that the process cannot recover from is answered and
** then ends the worker with exit code 3, so that the parent starts a fresh one.
** Results go to a private copy of stdout; stdout itself becomes stderr, so that
** nothing a kernel prints can pass for a result.
*/
#define _POSIX_C_SOURCE 200809L
#include "baseline.h"
#include "cand.h"
#include "job.h"
#include "selftest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_LOST = 3 };
static const double most_elements = 1e12; /* of an operand: keeps every byte count within 64 bits */

struct worker {
  struct gpu gpu;
  struct problem problem;
};

/* Job: problem */

static const char *const problem_names[] = {"M", "N", "K", "layout", "dtype", "acc", "seed", NULL};

static bool read_problem(const struct job *job, struct problem *p, struct fault *f) {
  for (int i = LOOM_M; i <= LOOM_K; i++)
    if (!job_int(job, problem_names[i], 1, INT32_MAX, &p->mnk[i], f)) return false;
  if (!job_int(job, "seed", 0, INT64_MAX, &p->seed, f)) return false;
  p->layout = loom_layout_of(job_text(job, "layout"));
  p->dtype = loom_dtype_of(job_text(job, "dtype"));
  if (p->layout < 0) return fault_set(f, "unknown layout '%.40s'", job_text(job, "layout"));
  if (p->dtype < 0) return fault_set(f, "unknown dtype '%.40s'", job_text(job, "dtype"));
  const char *acc = job_text(job, "acc");
  if (strcmp(acc, "f16") == 0 && p->dtype == LOOM_BF16)
    return fault_set(f, "bf16 with f16 accumulation does not exist on tensor cores");
  if (strcmp(acc, "f16") == 0)
    return fault_set(f, "acc=f16 is not measured: its check and its baseline are other ones");
  if (strcmp(acc, "f32") != 0) return fault_set(f, "unknown acc '%.40s'", acc);
  p->acc = LOOM_ACC_F32;
  for (int i = LOOM_A; i <= LOOM_C; i++)
    if ((double)problem_elements(p, i) > most_elements)
      return fault_set(f, "an operand of %.3g elements does not fit",
                       (double)problem_elements(p, i));
  return true;
}

static bool do_problem(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  struct problem *p = &w->problem;
  problem_free(p);
  p->gpu = &w->gpu;
  bool ok = read_problem(job, p, f) && problem_prepare(p, f) && baseline_prepare(p, f);
  if (!ok) {
    problem_free(p);
    return false;
  }
  problem_settle(p);
  p->ready = true;
  reply_begin(r, "ok");
  reply_real(r, "cublas_nn_us", p->base_us[0]);
  reply_real(r, "cublas_tn_us", p->base_us[1]);
  reply_int(r, "sets", p->sets);
  reply_int(r, "reps", p->base[0].reps);
  reply_int(r, "checks", p->checks);
  reply_text(r, "references", p->kept ? "kept" : "recomputed");
  reply_text(r, "cublas_math", p->strict ? "strict" : "default");
  return true;
}

/* Job: time */

static const char *const time_names[] = {"cubin", "desc", "blocks", NULL};

static void print_wrong(const struct verdict *v, struct reply *r) {
  reply_begin(r, "wrong");
  reply_text(r, "why", v->why);
  if (v->row >= 0) {
    reply_int(r, "row", v->row);
    reply_int(r, "col", v->col);
    reply_real(r, "got", v->got);
    reply_real(r, "want", v->want);
  }
  reply_real(r, "err", v->err);
  reply_real(r, "rms", v->rms);
}

static void print_interval(struct reply *r, const char *name, struct stat_interval s) {
  static const char *const ends[] = {"", "_lo", "_hi"};
  const double values[] = {s.mid, s.lo, s.hi};
  for (int i = 0; i < 3; i++) {
    char full[32];
    snprintf(full, sizeof full, "%s%s", name, ends[i]);
    reply_real(r, full, values[i]);
  }
}

static void print_ok(const struct cand_result *c, struct reply *r) {
  reply_begin(r, "ok");
  reply_real(r, "us", c->us);
  if (c->pdl) reply_real(r, "us_pdl", c->us_pdl);
  reply_real(r, "cublas_nn_us", c->base_us[0]);
  reply_real(r, "cublas_tn_us", c->base_us[1]);
  print_interval(r, "ratio", c->ratio);
  if (c->pdl) print_interval(r, "ratio_pdl", c->ratio_pdl);
  reply_real(r, "ratio_nn", c->ratio_base[0]);
  reply_real(r, "ratio_tn", c->ratio_base[1]);
  reply_real(r, "err", c->verdict.err);
  reply_real(r, "rms", c->verdict.rms);
  reply_int(r, "blocks", c->blocks);
  reply_int(r, "starved", c->starved);
  reply_int(r, "reps", c->reps);
  reply_int(r, "checked", c->verdict.checked);
  reply_real(r, "clock_mhz", c->mhz);
}

static bool do_time(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  struct cand_result c;
  int64_t blocks;
  if (!w->problem.ready) return fault_set(f, "no problem is prepared");
  if (!job_int(job, "blocks", 1, TIMER_BLOCKS, &blocks, f) ||
      !cand_time(&w->problem, job_text(job, "cubin"), job_text(job, "desc"), (int)blocks, &c, f))
    return false;
  if (c.refused) {
    reply_begin(r, "refused");
    reply_text(r, "why", c.why);
  } else if (c.verdict.wrong) {
    print_wrong(&c.verdict, r);
  } else {
    print_ok(&c, r);
  }
  return true;
}

/* Lines */

static const struct verb {
  const char *name;
  const char *const *fields;
  bool (*run)(struct worker *w, const struct job *job, struct reply *r, struct fault *f);
} verbs[] = {{"problem", problem_names, do_problem}, {"time", time_names, do_time}};

static bool dispatch(struct worker *w, const struct job *job, struct reply *r, struct fault *f) {
  for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(verbs[i].name, job->verb) == 0)
      return job_fields(job, verbs[i].fields, f) && verbs[i].run(w, job, r, f);
  return fault_set(f, "unknown verb '%.80s'", job->verb);
}

static void print_error(struct reply *r, const struct fault *f) {
  reply_begin(r, "error");
  reply_text(r, "why", f->text);
}

/* Answers one line. Returns an exit code to leave with, -1 to go on. */
static int answer(struct worker *w, char *line, FILE *out) {
  struct job job;
  struct reply reply;
  struct fault fault = {""};
  bool ok = job_parse(line, &job, &fault);
  if (ok && strcmp(job.verb, "quit") == 0) return 0;
  ok = ok && dispatch(w, &job, &reply, &fault);
  bool alive = gpu_alive();
  /* What breaks after its last check is this kernel, not the next one. */
  if (ok && !alive) ok = fault_set(&fault, "the CUDA context is lost");
  if (!ok) print_error(&reply, &fault);
  if (!reply_send(&reply, out)) return 1;
  return alive ? -1 : EXIT_LOST;
}

static int loop(struct worker *w, FILE *out) {
  char *line = NULL;
  size_t room = 0;
  int code = -1;
  while (code < 0) {
    ssize_t n = getline(&line, &room, stdin);
    if (n < 0) break; /* the parent is gone, or closed its end: the same as quit */
    if (n > 0 && line[n - 1] == '\n') line[n - 1] = 0;
    code = answer(w, line, out);
  }
  free(line);
  return code < 0 ? ferror(stdin) != 0 : code;
}

/* Start */

static void print_ready(const struct gpu *g, struct reply *r) {
  char arch[16];
  snprintf(arch, sizeof arch, "sm_%d%d", g->prop.major, g->prop.minor);
  reply_begin(r, "ready");
  reply_int(r, "worker", 1);
  reply_text(r, "device", g->prop.name);
  reply_text(r, "arch", arch);
  reply_int(r, "sms", g->prop.multiProcessorCount);
  reply_text(r, "driver", g->driver);
  reply_text(r, "cuda", g->cuda);
  reply_text(r, "cublas", g->cublas);
  reply_text(r, "uuid", g->uuid);
  reply_int(r, "smem", (long long)g->prop.sharedMemPerBlockOptin);
  reply_int(r, "l2", g->prop.l2CacheSize);
}

/* What the environment must not change: emulated double precision is no reference. Kernels load
*when
** they first run, which is never while they are timed; loading all of cuBLAS takes seconds. */
static bool fix_environment(void) {
  static const char *const dropped[] = {"CUBLAS_EMULATE_DOUBLE_PRECISION",
                                        "CUBLAS_EMULATE_SINGLE_PRECISION",
                                        "CUBLAS_EMULATION_STRATEGY", "NVIDIA_TF32_OVERRIDE"};
  for (size_t i = 0; i < sizeof dropped / sizeof dropped[0]; i++)
    if (unsetenv(dropped[i]) != 0) return false;
  return setenv("CUDA_MODULE_LOADING", "LAZY", 1) == 0;
}

static FILE *private_stdout(void) {
  int copy = dup(STDOUT_FILENO);
  if (copy < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return NULL;
  return fdopen(copy, "w");
}

static int work(struct worker *w) {
  struct reply reply;
  struct fault fault = {""};
  FILE *out = private_stdout();
  if (!out) {
    fprintf(stderr, "loom-bench: cannot copy stdout: %s\n", strerror(errno));
    return 1;
  }
  bool ok = gpu_open(&w->gpu, &fault);
  if (ok)
    print_ready(&w->gpu, &reply);
  else
    print_error(&reply, &fault);
  if (!reply_send(&reply, out) || !ok) return 1;
  return loop(w, out);
}

static int selftest(struct worker *w) {
  struct fault fault = {""};
  if (gpu_open(&w->gpu, &fault)) return selftest_run(&w->gpu);
  fprintf(stderr, "loom-bench: %s\n", fault.text);
  return 1;
}

int main(int argc, char **argv) {
  static struct worker worker;
  if (argc > 2 || (argc == 2 && strcmp(argv[1], "--selftest") != 0)) {
    fprintf(stderr, "usage: loom-bench [--selftest]\n");
    return 2;
  }
  if (!fix_environment()) {
    fprintf(stderr, "loom-bench: cannot set the environment: %s\n", strerror(errno));
    return 1;
  }
  return argc == 2 ? selftest(&worker) : work(&worker); /* the driver frees what is left */
}
