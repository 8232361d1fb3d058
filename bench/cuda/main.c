/* main.c - the bench worker: owns the GPU, answers one line a job
**
** Reads job lines on stdin and writes one result line each; the parent holds the
** deadlines. A CUDA error that the process cannot recover from is answered and
** then ends the worker with exit code 3, so that the parent starts a fresh one.
** Results go to a private copy of stdout; stdout itself becomes stderr, so that
** nothing a kernel prints can pass for a result.
*/
#define _POSIX_C_SOURCE 200809L
#include "selftest.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_LOST = 3 };

/* Lines */

static void print_error(struct reply *r, const struct fault *f) {
  reply_begin(r, "error");
  reply_text(r, "why", f->text);
}

/* Answers one line. Returns an exit code to leave with, -1 to go on. */
static int answer(struct worker *w, char *line, FILE *out) {
  struct job job;
  struct reply reply;
  struct fault fault = {.hung = false};
  bool ok = job_parse(line, &job, &fault);
  if (ok && strcmp(job.verb, "quit") == 0) return 0;
  ok = ok && verbs_run(w, &job, &reply, &fault);
  if (fault.hung) { /* to ask the device, or to leave in order, would wait for the kernel */
    print_error(&reply, &fault);
    (void)reply_send(&reply, out);
    _exit(EXIT_LOST);
  }
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
  reply_text(r, "cublaslt", g->cublaslt);
  reply_text(r, "uuid", g->uuid);
  reply_int(r, "smem", (long long)g->prop.sharedMemPerBlockOptin);
  reply_int(r, "l2", g->prop.l2CacheSize);
}

/* What the environment must not change: emulated double precision is no reference; logs, a heuristic
** without a memory and launches that wait cost a caller time, cuBLAS's above all. Kernels load when
** they first run, which is never while they are timed; loading all of cuBLAS takes seconds. */
static bool fix_environment(void) {
  static const char *const dropped[] = {"CUBLAS_EMULATE_DOUBLE_PRECISION",
                                        "CUBLAS_EMULATE_SINGLE_PRECISION",
                                        "CUBLAS_EMULATION_STRATEGY",
                                        "NVIDIA_TF32_OVERRIDE",
                                        "CUBLAS_LOGINFO_DBG",
                                        "CUBLASLT_LOG_LEVEL",
                                        "CUBLASLT_LOG_MASK",
                                        "CUBLASLT_HEURISTICS_CACHE_CAPACITY",
                                        "CUDA_LAUNCH_BLOCKING"};
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
  struct fault fault = {.hung = false};
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
  struct fault fault = {.hung = false};
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
