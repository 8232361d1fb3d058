/* loom.c - the library: dispatches a product to its kernel, else to cuBLAS
**
** create loads every kernel and allocates every workspace, so that a call only
** looks its problem up (lookup.c), binds (launch.c: legality and tensor maps, on
** the host) and launches. A call that finds no kernel, or whose kernel refuses
** it, is one cublasGemmEx under a lock.
**
** A workspace belongs to a stream: work of one stream is ordered, so two calls
** never use it at once.
*/
#include "loom.h"

#include "launch.h"
#include "lookup.h"

#include <cublas_v2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS = 4, SEEN = 1024 };
static const size_t scratch_bytes = 32u << 20; /* what cuBLAS advises for sm_90 */

_Static_assert((int)LOOM_LAYOUT_TT == (int)LOOM_TT && (int)LOOM_LAYOUT_TN == (int)LOOM_TN,
               "loom.h and desc.h number layouts alike");

struct loaded {
  loom_kernel kernel;
  bool usable;
};

/* What calls of one stream may write: zeroed is all zero between kernels, scratch holds anything.
 */
struct workspace {
  cudaStream_t stream;
  bool taken;
  void *zeroed, *scratch;
};

struct loom_handle {
  int device;
  bool pdl, verbose;
  struct loaded *kernels; /* as many as the table has, in its order */
  size_t zeroed, scratch; /* bytes of a workspace's parts */
  cublasHandle_t blas;
  bool lock_made;
  pthread_mutex_t lock; /* guards what follows, and blas */
  struct workspace workspaces[STREAMS];
  bool blas_bound; /* blas is set to blas_stream and its workspace */
  cudaStream_t blas_stream;
  int seen_count;
  uint64_t seen[SEEN]; /* hashes of the shapes whose fallback was logged */
};

static _Thread_local struct {
  int path;
  char error[384];
} last;

/* Errors */

__attribute__((format(printf, 2, 3))) static int fail(int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(last.error, sizeof last.error, format, args);
  va_end(args);
  return status;
}

static int cuda(cudaError_t e, const char *what) {
  if (e == cudaSuccess) return LOOM_STATUS_OK;
  int status = e == cudaErrorMemoryAllocation ? LOOM_STATUS_MEMORY : LOOM_STATUS_CUDA;
  return fail(status, "%s: %s", what, cudaGetErrorString(e));
}

static int blas(cublasStatus_t e, const char *what) {
  if (e == CUBLAS_STATUS_SUCCESS) return LOOM_STATUS_OK;
  return fail(LOOM_STATUS_CUBLAS, "%s: %s", what, cublasGetStatusString(e));
}

/* Create and destroy */

static int load_kernel(loom_handle *h, int i) {
  const struct lookup_kernel *from = &lookup_table.kernels[i];
  char err[LOOM_ERROR_TEXT] = "";
  loom_desc d;
  const char *why = loom_desc_parse(from->desc, &d);
  if (why) return fail(LOOM_STATUS_INVALID, "kernel '%s': %s", from->name, why);
  enum loom_status status = loom_kernel_load(from->cubin, (size_t)(from->cubin_end - from->cubin),
                                             &d, &h->kernels[i].kernel, err);
  if (status == LOOM_FAILED) return fail(LOOM_STATUS_CUDA, "kernel '%s': %s", from->name, err);
  if (status == LOOM_REFUSED && h->verbose)
    fprintf(stderr, "loom: kernel '%s' is left out: %s\n", from->name, err);
  h->kernels[i].usable = status == LOOM_OK;
  size_t *bytes = d.ws_init == LOOM_WS_ZERO ? &h->zeroed : &h->scratch;
  if (status == LOOM_OK && (size_t)d.ws_bytes > *bytes) *bytes = (size_t)d.ws_bytes;
  return LOOM_STATUS_OK;
}

static int load_kernels(loom_handle *h) {
  size_t count = (size_t)lookup_table.kernel_count;
  h->kernels = calloc(count ? count : 1, sizeof *h->kernels);
  if (!h->kernels) return fail(LOOM_STATUS_MEMORY, "no memory for %zu kernels", count);
  for (int i = 0; i < lookup_table.kernel_count; i++) {
    int status = load_kernel(h, i);
    if (status != LOOM_STATUS_OK) return status;
  }
  return LOOM_STATUS_OK;
}

static int open_workspaces(loom_handle *h) {
  for (int i = 0; i < STREAMS; i++) {
    struct workspace *w = &h->workspaces[i];
    int status = cuda(cudaMalloc(&w->scratch, h->scratch), "no memory for a workspace");
    if (status == LOOM_STATUS_OK && h->zeroed > 0) {
      status = cuda(cudaMalloc(&w->zeroed, h->zeroed), "no memory for a workspace");
      if (status == LOOM_STATUS_OK)
        status = cuda(cudaMemset(w->zeroed, 0, h->zeroed), "cannot clear a workspace");
    }
    if (status != LOOM_STATUS_OK) return status;
  }
  return cuda(cudaDeviceSynchronize(), "cannot wait for the device");
}

static bool says_yes(const char *variable) {
  const char *value = getenv(variable);
  return value && *value && strcmp(value, "0") != 0;
}

static int open_handle(loom_handle *h) {
  h->verbose = says_yes("LOOM_VERBOSE");
  h->pdl = says_yes("LOOM_PDL");
  h->scratch = scratch_bytes;
  h->lock_made = pthread_mutex_init(&h->lock, NULL) == 0;
  if (!h->lock_made) return fail(LOOM_STATUS_MEMORY, "cannot make a lock");
  int status = cuda(cudaGetDevice(&h->device), "cannot ask for the current device");
  if (status == LOOM_STATUS_OK) status = load_kernels(h);
  if (status == LOOM_STATUS_OK) status = blas(cublasCreate(&h->blas), "cannot start cuBLAS");
  if (status == LOOM_STATUS_OK) status = open_workspaces(h);
  return status;
}

int loom_create(loom_handle **out) {
  if (!out) return fail(LOOM_STATUS_INVALID, "'out' is a null pointer");
  *out = NULL;
  loom_handle *h = calloc(1, sizeof *h);
  if (!h) return fail(LOOM_STATUS_MEMORY, "no memory for a handle");
  int status = open_handle(h);
  if (status == LOOM_STATUS_OK) {
    *out = h;
    return status;
  }
  char why[sizeof last.error];
  memcpy(why, last.error, sizeof why);
  (void)loom_destroy(h); /* the first error is the one to tell */
  memcpy(last.error, why, sizeof why);
  return status;
}

int loom_destroy(loom_handle *h) {
  int status = LOOM_STATUS_OK;
  if (!h) return status;
  for (int i = 0; h->kernels && i < lookup_table.kernel_count; i++) {
    cudaError_t e = loom_kernel_unload(&h->kernels[i].kernel);
    if (status == LOOM_STATUS_OK) status = cuda(e, "cannot unload a kernel");
  }
  for (int i = 0; i < STREAMS; i++) {
    cudaError_t e = cudaFree(h->workspaces[i].scratch), z = cudaFree(h->workspaces[i].zeroed);
    if (status == LOOM_STATUS_OK) status = cuda(e == cudaSuccess ? z : e, "cannot free memory");
  }
  if (h->blas) {
    cublasStatus_t e = cublasDestroy(h->blas);
    if (status == LOOM_STATUS_OK) status = blas(e, "cannot stop cuBLAS");
  }
  if (h->lock_made) (void)pthread_mutex_destroy(&h->lock); /* nobody holds it */
  free(h->kernels);
  free(h);
  return status;
}

int loom_set_pdl(loom_handle *h, int on) {
  if (!h) return fail(LOOM_STATUS_INVALID, "'handle' is a null pointer");
  h->pdl = on != 0;
  return LOOM_STATUS_OK;
}

/* Workspaces; the lock is held */

/* The stream's own workspace, NULL when all are taken by others. One value stands for every
** thread's own default stream: those have none. */
static struct workspace *workspace_of(loom_handle *h, cudaStream_t stream) {
  if (stream == cudaStreamPerThread) return NULL;
  for (int i = 0; i < STREAMS; i++) {
    struct workspace *w = &h->workspaces[i];
    if (w->taken && w->stream != stream) continue;
    w->taken = true;
    w->stream = stream;
    return w;
  }
  return NULL;
}

/* The workspace that a kernel asks for, NULL when there is none for this stream. */
static void *kernel_workspace(loom_handle *h, const loom_desc *d, cudaStream_t stream) {
  if (d->ws_bytes == 0) return NULL;
  (void)pthread_mutex_lock(&h->lock); /* cannot fail: this thread does not hold it */
  struct workspace *w = workspace_of(h, stream);
  (void)pthread_mutex_unlock(&h->lock);
  if (!w) return NULL;
  return d->ws_init == LOOM_WS_ZERO ? w->zeroed : w->scratch;
}

/* cuBLAS */

/* Is this shape's fallback to be logged? Once the set is full, no more. */
static bool unseen(loom_handle *h, uint64_t hash) {
  if (hash == 0) hash = 1; /* 0 marks an empty place */
  for (uint64_t at = hash; h->seen_count < SEEN - 1; at++) {
    uint64_t *place = &h->seen[at % SEEN];
    if (*place == hash) return false;
    if (*place != 0) continue;
    *place = hash;
    h->seen_count++;
    return true;
  }
  return false;
}

static void log_fallback(loom_handle *h, const loom_call *c, int type, const char *why) {
  static const char *const types[] = {"f16", "bf16", "f16 acc f16"};
  long long m = (long long)c->mnk[0], n = (long long)c->mnk[1], k = (long long)c->mnk[2];
  if (h->verbose && unseen(h, lookup_hash(c->layout, type, m, n, k)))
    fprintf(stderr, "loom: cuBLAS runs %lldx%lldx%lld %s %s: %s\n", m, n, k,
            loom_layout_name(c->layout), types[type], why);
}

/* cublasSetStream gives cuBLAS its own workspace back, which may allocate; ours follows. */
static int bind_blas(loom_handle *h, cudaStream_t stream) {
  if (h->blas_bound && h->blas_stream == stream && stream != cudaStreamPerThread)
    return LOOM_STATUS_OK;
  h->blas_bound = false;
  int status = blas(cublasSetStream(h->blas, stream), "cublasSetStream");
  struct workspace *w = status == LOOM_STATUS_OK ? workspace_of(h, stream) : NULL;
  if (w) status = blas(cublasSetWorkspace(h->blas, w->scratch, h->scratch), "cublasSetWorkspace");
  h->blas_bound = status == LOOM_STATUS_OK;
  h->blas_stream = stream;
  return status;
}

/* Row-major C = A*B is column-major C^T = B^T * A^T: the operands change places. */
static int run_blas(loom_handle *h, const loom_call *c) {
  cudaDataType_t type = c->dtype == LOOM_F16 ? CUDA_R_16F : CUDA_R_16BF;
  cublasOperation_t op_a = loom_swapped(c->layout, LOOM_A) ? CUBLAS_OP_T : CUBLAS_OP_N;
  cublasOperation_t op_b = loom_swapped(c->layout, LOOM_B) ? CUBLAS_OP_T : CUBLAS_OP_N;
  return blas(cublasGemmEx(h->blas, op_b, op_a, (int)c->mnk[LOOM_N], (int)c->mnk[LOOM_M],
                           (int)c->mnk[LOOM_K], &c->alpha, c->b, type, (int)c->ld[LOOM_B], c->a,
                           type, (int)c->ld[LOOM_A], &c->beta, c->c, type, (int)c->ld[LOOM_C],
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
              "cublasGemmEx");
}

static int fall_back(loom_handle *h, const loom_call *c, int type, cudaStream_t stream,
                     const char *why) {
  (void)pthread_mutex_lock(&h->lock);
  log_fallback(h, c, type, why);
  int status = bind_blas(h, stream);
  if (status == LOOM_STATUS_OK) status = run_blas(h, c);
  (void)pthread_mutex_unlock(&h->lock);
  if (status == LOOM_STATUS_OK) last.path = LOOM_PATH_CUBLAS;
  return status;
}

/* Dispatch */

/* The loaded kernel of this problem, or NULL and why there is none. */
static const loom_kernel *find_kernel(const loom_handle *h, const loom_call *c, int type,
                                      char *why) {
  const struct lookup_row *row =
      lookup_find(&lookup_table, c->layout, type, c->mnk[0], c->mnk[1], c->mnk[2]);
  if (row && h->kernels[row->kernel].usable) return &h->kernels[row->kernel].kernel;
  snprintf(why, LOOM_ERROR_TEXT, "%s",
           row ? "its kernel does not run on this device" : "no kernel for this problem");
  return NULL;
}

/* Launches the problem's kernel. *taken is false, with a reason, where cuBLAS has to. */
static int try_kernel(loom_handle *h, loom_call *c, int type, cudaStream_t stream, bool *taken,
                      char *why) {
  loom_launch launch;
  const loom_kernel *kernel = find_kernel(h, c, type, why);
  *taken = false;
  if (!kernel) return LOOM_STATUS_OK;
  if (c->alpha != 1.0f || c->beta != 0.0f) { /* only this was measured and verified */
    snprintf(why, LOOM_ERROR_TEXT, "alpha=%g beta=%g", (double)c->alpha, (double)c->beta);
    return LOOM_STATUS_OK;
  }
  c->ws = kernel_workspace(h, &kernel->desc, stream);
  enum loom_status bound = loom_kernel_bind(kernel, c, &launch, why);
  if (bound == LOOM_FAILED) return fail(LOOM_STATUS_CUDA, "%s", why);
  if (bound == LOOM_REFUSED) return LOOM_STATUS_OK;
  *taken = true;
  int status = cuda(loom_kernel_launch(&launch, stream, h->pdl), "cannot launch the kernel");
  if (status == LOOM_STATUS_OK) last.path = LOOM_PATH_KERNEL;
  return status;
}

/* The call in the launcher's words; leading dimensions of 0 are filled in. */
static loom_call make_call(int layout, int type, const int64_t mnk[3], const int64_t ld[3]) {
  loom_call c = {.layout = layout,
                 .dtype = type == LOOM_TYPE_BF16 ? LOOM_BF16 : LOOM_F16,
                 .acc = type == LOOM_TYPE_F16_SUM16 ? LOOM_ACC_F16 : LOOM_ACC_F32,
                 .alpha = 1};
  for (int i = 0; i < 3; i++) {
    int dims[2];
    loom_stored_dims(layout, i, dims);
    c.mnk[i] = mnk[i];
    c.ld[i] = ld[i] != 0 ? ld[i] : mnk[dims[0]] > 0 ? mnk[dims[0]] : 1;
  }
  return c;
}

static bool valid_kind(int layout, int type) {
  return layout >= LOOM_LAYOUT_NN && layout <= LOOM_LAYOUT_TT && type >= LOOM_TYPE_F16 &&
         type <= LOOM_TYPE_F16_SUM16;
}

static int check_sizes(const loom_call *c) {
  static const char *const names[] = {"m", "n", "k"};
  static const char *const lds[] = {"lda", "ldb", "ldc"};
  for (int i = 0; i < 3; i++) {
    int dims[2];
    loom_stored_dims(c->layout, i, dims);
    if (c->mnk[i] < 0 || c->mnk[i] > INT32_MAX)
      return fail(LOOM_STATUS_INVALID, "%s=%lld is out of range", names[i], (long long)c->mnk[i]);
    if (c->ld[i] < c->mnk[dims[0]] || c->ld[i] < 1 || c->ld[i] > INT32_MAX)
      return fail(LOOM_STATUS_INVALID, "%s=%lld for rows of %lld", lds[i], (long long)c->ld[i],
                  (long long)c->mnk[dims[0]]);
  }
  return LOOM_STATUS_OK;
}

static int check_pointers(const loom_call *c) {
  static const char *const names[] = {"A", "B", "C"};
  const void *const all[] = {c->a, c->b, c->c};
  for (int i = c->mnk[LOOM_K] == 0 ? LOOM_C : LOOM_A; i <= LOOM_C; i++)
    if (!all[i] || (uintptr_t)all[i] % 2 != 0)
      return fail(LOOM_STATUS_INVALID, "%s is %s", names[i],
                  all[i] ? "not aligned to 2 bytes" : "a null pointer");
  return LOOM_STATUS_OK;
}

static int check_device(const loom_handle *h) {
  int device = -1;
  int status = cuda(cudaGetDevice(&device), "cannot ask for the current device");
  if (status == LOOM_STATUS_OK && device != h->device)
    status = fail(LOOM_STATUS_DEVICE, "the handle is for device %d, the current one is %d",
                  h->device, device);
  return status;
}

int loom_gemm(loom_handle *h, cudaStream_t stream, int layout, int type, int64_t m, int64_t n,
              int64_t k, float alpha, const void *A, int64_t lda, const void *B, int64_t ldb,
              float beta, void *C, int64_t ldc) {
  last.path = LOOM_PATH_NONE;
  if (!h) return fail(LOOM_STATUS_INVALID, "'handle' is a null pointer");
  if (!valid_kind(layout, type))
    return fail(LOOM_STATUS_INVALID, "no layout %d or no type %d", layout, type);
  loom_call c = make_call(layout, type, (int64_t[]){m, n, k}, (int64_t[]){lda, ldb, ldc});
  c.a = A;
  c.b = B;
  c.c = C;
  c.alpha = alpha;
  c.beta = beta;
  int status = check_sizes(&c);
  if (status == LOOM_STATUS_OK && (m == 0 || n == 0)) return status;
  if (status == LOOM_STATUS_OK) status = check_pointers(&c);
  if (status == LOOM_STATUS_OK) status = check_device(h);
  if (status != LOOM_STATUS_OK) return status;
  bool taken;
  char why[LOOM_ERROR_TEXT] = "";
  status = try_kernel(h, &c, type, stream, &taken, why);
  if (taken || status != LOOM_STATUS_OK) return status;
  return fall_back(h, &c, type, stream, why);
}

int loom_served(const loom_handle *h, int layout, int type, int64_t m, int64_t n, int64_t k) {
  static const int64_t packed[3];
  char why[LOOM_ERROR_TEXT];
  if (!h || !valid_kind(layout, type)) return 0;
  loom_call c = make_call(layout, type, (int64_t[]){m, n, k}, packed);
  const loom_kernel *kernel = find_kernel(h, &c, type, why);
  if (!kernel) return 0;
  c.c = (void *)((uintptr_t)kernel->desc.legal_align * 256); /* aligned like an allocation */
  c.a = c.b = c.ws = c.c;
  return loom_legal(&kernel->desc, &c, why) == LOOM_OK;
}

int loom_last_path(void) { return last.path; }

const char *loom_last_error(void) { return last.error; }

int loom_problem_count(void) { return lookup_table.row_count; }

const loom_problem *loom_problem_at(int i) {
  return i < 0 || i >= lookup_table.row_count ? NULL : &lookup_table.rows[i].problem;
}
