/* example.c - multiplies, checks and times every problem of the release
**
**   example [MxNxK LAYOUT [TYPE]] [check] [blocks=32]
**
** For each problem of INDEX.tsv, or the one given: random products through
** libloom in CUDA graphs, checked against cuBLAS and against sums in double, then
** timed in turns with cublasGemmEx. 'check' leaves the timing out. The last lines
** are `name: value unit`. Exit code: 0 all right, 1 a wrong result or a problem
** that its kernel did not serve, 2 something could not run.
*/
#include "example.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const layouts[] = {"nn", "tn", "nt", "tt"};
static const char *const types[] = {"f16", "bf16", "f16s16"};

struct options {
  bool one, check_only;
  loom_problem problem; /* where 'one' */
  int blocks;
};

struct tally {
  int problems, wrong, unserved, unsteady, timed, promised, near;
  double log_ratio, log_ratio_pdl;
  double worst, worst_pdl; /* differences in percent, the largest either way */
};

/* Errors */

static void end(const char *what, const char *why, const char *file, int line) {
  fprintf(stderr, "example: %s:%d: %.*s: %s\n", file, line, (int)strcspn(what, "("), what, why);
  exit(2);
}

void need_cuda(cudaError_t e, const char *what, const char *file, int line) {
  if (e != cudaSuccess) end(what, cudaGetErrorString(e), file, line);
}

void need_blas(cublasStatus_t e, const char *what, const char *file, int line) {
  if (e != CUBLAS_STATUS_SUCCESS) end(what, cublasGetStatusString(e), file, line);
}

void need_loom(int status, const char *what, const char *file, int line) {
  if (status != LOOM_STATUS_OK) end(what, loom_last_error(), file, line);
}

void *need_memory(size_t count, size_t size) {
  void *p = calloc(count ? count : 1, size);
  if (!p) end("calloc", "no memory", __FILE__, __LINE__);
  return p;
}

/* Device */

enum { BLAS_WORKSPACE = 64 << 20 };

static cublasHandle_t open_blas(struct gpu *g, int i, cublasMath_t mode) {
  cublasHandle_t blas;
  BLAS(cublasCreate(&blas));
  BLAS(cublasSetStream(blas, g->stream));
  CUDA(cudaMalloc(&g->workspaces[i], BLAS_WORKSPACE));
  BLAS(cublasSetWorkspace(blas, g->workspaces[i], BLAS_WORKSPACE)); /* a fixed one, for graphs */
  BLAS(cublasSetMathMode(blas, mode));
  return blas;
}

static void open_gpu(struct gpu *g) {
  struct cudaDeviceProp p;
  int driver, runtime, blas[3];
  memset(g, 0, sizeof *g);
  CUDA(cudaGetDeviceProperties(&p, 0));
  CUDA(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking));
  LOOM(loom_create(&g->loom));
  g->blas = open_blas(g, 0, CUBLAS_DEFAULT_MATH);
  g->strict_blas = open_blas(g, 1, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
  CUDA(cudaDriverGetVersion(&driver));
  CUDA(cudaRuntimeGetVersion(&runtime));
  BLAS(cublasGetProperty(MAJOR_VERSION, &blas[0]));
  BLAS(cublasGetProperty(MINOR_VERSION, &blas[1]));
  BLAS(cublasGetProperty(PATCH_LEVEL, &blas[2]));
  printf("device %s: driver API %d.%d, CUDA %d.%d, cuBLAS %d.%d.%d; %d problems in the release\n",
         p.name, driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10, blas[0],
         blas[1], blas[2], loom_problem_count());
}

static void close_gpu(struct gpu *g) {
  LOOM(loom_destroy(g->loom));
  BLAS(cublasDestroy(g->blas));
  BLAS(cublasDestroy(g->strict_blas));
  for (int i = 0; i < 2; i++) CUDA(cudaFree(g->workspaces[i]));
  CUDA(cudaStreamDestroy(g->stream));
}

/* Table */

static void print_head(void) {
  printf("ratio = the faster of cuBLAS nn and tn / ours; diff = against INDEX.tsv, in percent\n\n");
  printf("%-24s %-7s %-6s %9s %9s %6s [%5s,%5s] %6s %6s %9s %9s %6s %6s %6s\n", "problem", "path",
         "check", "us", "cuBLAS us", "ratio", "lo", "hi", "INDEX", "diff", "us pdl", "ratio pdl",
         "INDEX", "diff", "err");
}

/* How much faster than promised, in percent; 0 without a promise. */
static double difference(double ratio, double promised) {
  return promised > 0 ? (ratio / promised - 1) * 100 : 0;
}

static void print_promise(double promised, double diff) {
  if (promised > 0)
    printf(" %6.3f %+6.2f", promised, diff);
  else
    printf(" %6s %6s", "-", "-");
}

static void print_times(const struct timing *t, const loom_problem *p, struct tally *sum) {
  struct ratio plain = timing_ratio(t, TAPE_OURS), pdl = timing_ratio(t, TAPE_PDL);
  double diff = difference(plain.mid, p->ratio), diff_pdl = difference(pdl.mid, p->ratio_pdl);
  printf(" %9.2f %9.2f %6.3f [%5.3f,%5.3f]", timing_us(t, TAPE_OURS),
         fmin(timing_us(t, TAPE_NN), timing_us(t, TAPE_TN)), plain.mid, plain.lo, plain.hi);
  print_promise(p->ratio, diff);
  printf(" %9.2f %9.3f", timing_us(t, TAPE_PDL), pdl.mid);
  print_promise(p->ratio_pdl, diff_pdl);
  sum->timed++;
  sum->log_ratio += log(plain.mid);
  sum->log_ratio_pdl += log(pdl.mid);
  if (!(p->ratio > 0)) return;
  sum->promised++;
  sum->near += fabs(diff) <= 1;
  if (fabs(diff) > fabs(sum->worst)) sum->worst = diff;
  if (fabs(diff_pdl) > fabs(sum->worst_pdl)) sum->worst_pdl = diff_pdl;
}

/* One problem */

/* Poisons C, plays the tape, compares. */
static const char *verify(const struct timing *t, int tape, struct check *c) {
  data_poison(&t->data->c, t->data->gpu->stream);
  timing_replay(t, tape);
  return check_outputs(c);
}

/* The tapes that are timed are the ones that are checked, before and after. */
static const char *measure(struct timing *t, struct check *c, const struct options *o,
                           bool *steady) {
  const char *wrong = verify(t, TAPE_OURS, c);
  if (!wrong) wrong = verify(t, TAPE_PDL, c);
  if (wrong || o->check_only) return wrong;
  timing_warm_up(t);
  *steady = timing_run(t, o->blocks);
  wrong = verify(t, TAPE_OURS, c);
  return wrong ? wrong : verify(t, TAPE_PDL, c);
}

static void run_problem(const struct gpu *g, const loom_problem *p, const struct options *o,
                        struct tally *sum) {
  static struct timing timing;
  struct data data;
  struct check check;
  bool steady = !o->check_only;
  char name[64];
  snprintf(name, sizeof name, "%lldx%lldx%lld %s %s", (long long)p->m, (long long)p->n,
           (long long)p->k, layouts[p->layout], types[p->type]);
  data_open(&data, g, p->layout, p->type, (const int64_t[]){p->m, p->n, p->k});
  data_run_loom(&data, 0);
  bool served = loom_last_path() == LOOM_PATH_KERNEL;
  check_open(&check, &data);
  timing_open(&timing, &data, p->cublas_strict);
  served = served && timing.served[TAPE_OURS] && timing.served[TAPE_PDL]; /* what is timed, too */
  const char *wrong = measure(&timing, &check, o, &steady);
  printf("%-24s %-7s %-6s", name, served ? "kernel" : "cuBLAS", wrong ? "WRONG" : "right");
  if (!wrong && steady) {
    print_times(&timing, p, sum);
    printf(" %6.2f", check.worst);
  }
  printf("%s%s\n", wrong ? " " : "", wrong ? wrong : steady || o->check_only ? "" : " unsteady");
  fflush(stdout);
  sum->problems++;
  sum->wrong += wrong != NULL;
  sum->unserved += !served && p->kernel;
  sum->unsteady += !wrong && !steady && !o->check_only;
  timing_close(&timing);
  check_close(&check);
  data_close(&data);
}

static void print_summary(const struct tally *s) {
  printf("\n");
  if (s->timed > 0) {
    printf("geomean_ratio: %.4f x\n", exp(s->log_ratio / s->timed));
    printf("geomean_ratio_pdl: %.4f x\n", exp(s->log_ratio_pdl / s->timed));
  }
  if (s->promised > 0) {
    printf("worst_difference: %+.2f percent\n", s->worst);
    printf("worst_difference_pdl: %+.2f percent\n", s->worst_pdl);
    printf("off_by_more_than_1_percent: %d count\n", s->promised - s->near);
  }
  printf("unsteady: %d count\nnot_served: %d count\nwrong: %d count\nproblems: %d count\n",
         s->unsteady, s->unserved, s->wrong, s->problems);
}

/* Options */

static int usage(const char *word) {
  fprintf(stderr,
          "example: '%s' is not understood\n"
          "usage: example [MxNxK nn|tn|nt|tt [f16|bf16|f16s16]] [check] [blocks=8..%d]\n",
          word, MAX_BLOCKS);
  return 2;
}

static int find(const char *const *words, int count, const char *word) {
  for (int i = 0; i < count; i++)
    if (strcmp(words[i], word) == 0) return i;
  return -1;
}

static bool read_shape(const char *word, loom_problem *p) {
  long long m, n, k;
  char more;
  if (sscanf(word, "%lldx%lldx%lld%c", &m, &n, &k, &more) != 3) return false;
  p->m = m;
  p->n = n;
  p->k = k;
  return m > 0 && n > 0 && k > 0 && m < 1 << 20 && n < 1 << 20 && k < 1 << 20;
}

static bool read_option(const char *word, struct options *o) {
  char more;
  int layout = find(layouts, 4, word), type = find(types, 3, word);
  if (layout >= 0 && o->one)
    o->problem.layout = layout;
  else if (type >= 0 && o->one)
    o->problem.type = type;
  else if (strcmp(word, "check") == 0)
    o->check_only = true;
  else if (read_shape(word, &o->problem))
    o->one = true;
  else
    return sscanf(word, "blocks=%d%c", &o->blocks, &more) == 1 && o->blocks >= 8 &&
           o->blocks <= MAX_BLOCKS;
  return true;
}

/* The release's own line for a problem that was given, so that its promise is known. */
static const loom_problem *promise_of(const loom_problem *p) {
  for (int i = 0; i < loom_problem_count(); i++) {
    const loom_problem *q = loom_problem_at(i);
    if (q->layout == p->layout && q->type == p->type && q->m == p->m && q->n == p->n &&
        q->k == p->k)
      return q;
  }
  return p;
}

int main(int argc, char **argv) {
  struct options o = {.blocks = 32};
  struct tally sum = {0};
  struct gpu g;
  for (int i = 1; i < argc; i++)
    if (!read_option(argv[i], &o)) return usage(argv[i]);
  open_gpu(&g);
  const char *wrong = check_fallback(&g);
  printf("cuBLAS path: %s\n", wrong ? wrong : "right in 4 layouts, f16 and bf16, with strides");
  print_head();
  if (o.one)
    run_problem(&g, promise_of(&o.problem), &o, &sum);
  else
    for (int i = 0; i < loom_problem_count(); i++) run_problem(&g, loom_problem_at(i), &o, &sum);
  sum.wrong += wrong != NULL;
  print_summary(&sum);
  close_gpu(&g);
  return sum.wrong + sum.unserved > 0;
}
