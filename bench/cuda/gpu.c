/* gpu.c - opens the device, keeps errors
**
** The worker runs one problem on one device and one stream. cuBLAS gets its
** workspace here, once: 64 MiB, more than its own default on any device, and a
** fixed one, without which captured graphs would allocate.
*/
#define _POSIX_C_SOURCE 200809L
#include "gpu.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* "problem.c:40: cudaMalloc: out of memory": the file's and the function's bare names */
static bool keep(struct fault *f, const char *why, const char *expr, const char *file, int line) {
  const char *slash = strrchr(file, '/');
  int name = (int)strcspn(expr, "(");
  return fault_set(f, "%s:%d: %.*s: %s", slash ? slash + 1 : file, line, name, expr, why);
}

bool gpu_cuda(struct fault *f, cudaError_t e, const char *expr, const char *file, int line) {
  return e == cudaSuccess || keep(f, cudaGetErrorString(e), expr, file, line);
}

bool gpu_blas(struct fault *f, cublasStatus_t e, const char *expr, const char *file, int line) {
  return e == CUBLAS_STATUS_SUCCESS || keep(f, cublasGetStatusString(e), expr, file, line);
}

bool gpu_alloc(struct fault *f, void **out, size_t bytes, const char *what) {
  cudaError_t e = cudaMalloc(out, bytes);
  if (e == cudaSuccess) return true;
  *out = NULL;
  return fault_set(f, "no %.1f MiB for %s: %s", (double)bytes / 1048576, what,
                   cudaGetErrorString(e));
}

void gpu_free(void *pointer_to_pointer) {
  void *p;
  memcpy(&p, pointer_to_pointer, sizeof p);
  if (p) (void)cudaFree(p);
  p = NULL;
  memcpy(pointer_to_pointer, &p, sizeof p);
}

double gpu_now(void) {
  struct timespec ts;
  (void)clock_gettime(CLOCK_MONOTONIC, &ts); /* cannot fail for this clock */
  return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Looks at the stream until it is done; *passed: for how long. */
static bool await(struct gpu *g, const char *what, double seconds, double *passed,
                  struct fault *f) {
  const struct timespec moment = {0, 50000};
  double start = gpu_now();
  cudaError_t e;
  while ((e = cudaStreamQuery(g->stream)) == cudaErrorNotReady) {
    (void)cudaGetLastError(); /* 'not ready' is kept there, and would pass for a launch's error */
    *passed = gpu_now() - start;
    if (*passed > seconds) {
      f->hung = true;
      return fault_set(f, "%s does not end (%.3g s)", what, seconds);
    }
    if (*passed > 0.002) (void)nanosleep(&moment, NULL); /* most are over before */
  }
  *passed = gpu_now() - start;
  return e == cudaSuccess || fault_set(f, "%s: %s", what, cudaGetErrorString(e));
}

bool gpu_await(struct gpu *g, const char *what, double seconds, struct fault *f) {
  double passed;
  if (!await(g, what, seconds, &passed, f)) return false;
  if (passed > g->longest) g->longest = passed;
  return true;
}

bool gpu_settle(struct gpu *g, const char *what, struct fault *f) {
  return gpu_await(g, what, g->longest > 0 ? GPU_PATIENCE + GPU_WINDOWS * g->longest : GPU_BLIND,
                   f);
}

bool gpu_alive(void) {
  (void)cudaGetLastError();
  bool alive = cudaDeviceSynchronize() == cudaSuccess;
  return cudaGetLastError() == cudaSuccess && alive;
}

/* Kept buffers */

/* The smallest free one that is large enough and not more than twice as large. */
static struct gpu_kept *fitting(struct gpu *g, size_t bytes) {
  struct gpu_kept *best = NULL;
  for (struct gpu_kept *k = g->kept; k < g->kept + GPU_KEPT; k++)
    if (k->base && k->free && k->bytes >= bytes && k->bytes / 2 <= bytes &&
        (!best || k->bytes < best->bytes))
      best = k;
  return best;
}

static void release_free(struct gpu *g) {
  for (struct gpu_kept *k = g->kept; k < g->kept + GPU_KEPT; k++)
    if (k->base && k->free) gpu_free(&k->base);
}

static struct gpu_kept *place_of(struct gpu *g, const void *base) {
  for (struct gpu_kept *k = g->kept; k < g->kept + GPU_KEPT; k++)
    if (k->base == base) return k;
  return NULL;
}

bool gpu_take(struct gpu *g, struct fault *f, void **out, size_t bytes, const char *what) {
  struct gpu_kept *k = fitting(g, bytes);
  if (!k) {
    if (!place_of(g, NULL)) release_free(g);
    k = place_of(g, NULL);
    if (!k) return fault_set(f, "more than %d large buffers", GPU_KEPT);
    if (cudaMalloc(&k->base, bytes) != cudaSuccess) { /* again without what is only kept */
      (void)cudaGetLastError();
      k->base = NULL;
      release_free(g);
      if (!gpu_alloc(f, &k->base, bytes, what)) return false;
    }
    k->bytes = bytes;
  }
  k->free = false;
  *out = k->base;
  return true;
}

void gpu_give(struct gpu *g, void *pointer_to_pointer) {
  void *p;
  memcpy(&p, pointer_to_pointer, sizeof p);
  struct gpu_kept *k = p ? place_of(g, p) : NULL;
  if (k) k->free = true;
  p = NULL;
  memcpy(pointer_to_pointer, &p, sizeof p);
}

bool gpu_room(struct gpu *g, double *bytes, struct fault *f) {
  size_t available, total;
  if (!CUDA(f, cudaMemGetInfo(&available, &total))) return false;
  *bytes = (double)available;
  for (const struct gpu_kept *k = g->kept; k < g->kept + GPU_KEPT; k++)
    if (k->base && k->free) *bytes += (double)k->bytes;
  return true;
}

/* Versions */

static bool read_versions(struct gpu *g, struct fault *f) {
  int runtime, driver, v[3];
  if (!CUDA(f, cudaRuntimeGetVersion(&runtime)) || !CUDA(f, cudaDriverGetVersion(&driver)) ||
      !CUBLAS(f, cublasGetProperty(MAJOR_VERSION, &v[0])) ||
      !CUBLAS(f, cublasGetProperty(MINOR_VERSION, &v[1])) ||
      !CUBLAS(f, cublasGetProperty(PATCH_LEVEL, &v[2])))
    return false;
  snprintf(g->cuda, sizeof g->cuda, "%d.%d", runtime / 1000, runtime % 1000 / 10);
  snprintf(g->cublas, sizeof g->cublas, "%d.%d.%d", v[0], v[1], v[2]);
  snprintf(g->cublaslt, sizeof g->cublaslt, "%zu", cublasLtGetVersion());
  if (!nvml_open(&g->nvml, g->uuid, g->driver, sizeof g->driver))
    snprintf(g->driver, sizeof g->driver, "cuda-%d.%d", driver / 1000, driver % 1000 / 10);
  return true;
}

/* GPU-8-4-4-4-12, as nvidia-smi writes it */
static void read_uuid(struct gpu *g) {
  int n = snprintf(g->uuid, sizeof g->uuid, "GPU-");
  for (int i = 0; i < 16; i++) {
    bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    n += snprintf(g->uuid + n, sizeof g->uuid - (size_t)n, dash ? "-%02x" : "%02x",
                  (unsigned)(unsigned char)g->prop.uuid.bytes[i]);
  }
}

bool gpu_open(struct gpu *g, struct fault *f) {
  int count = 0;
  memset(g, 0, sizeof *g);
  cudaError_t e = cudaGetDeviceCount(&count);
  if (e == cudaErrorNoDevice || e == cudaErrorInsufficientDriver || (e == cudaSuccess && !count))
    return fault_set(f, "no CUDA device");
  if (e != cudaSuccess) return fault_set(f, "no CUDA device: %s", cudaGetErrorString(e));
  if (!CUDA(f, cudaSetDevice(0)) || !CUDA(f, cudaGetDeviceProperties(&g->prop, 0)) ||
      !CUDA(f, cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking)) ||
      !CUDA(f, cudaStreamCreateWithFlags(&g->noise, cudaStreamNonBlocking)) ||
      !CUBLAS(f, cublasCreate(&g->blas)) || !CUBLAS(f, cublasSetStream(g->blas, g->stream)) ||
      !CUBLAS(f, cublasLtCreate(&g->lt)) || !gpu_alloc(f, &g->scratch, GPU_SCRATCH, "scratch") ||
      !gpu_alloc(f, &g->blas_ws, GPU_WORKSPACE, "cuBLAS's workspace"))
    return false;
  /* after cublasSetStream, which resets the workspace to cuBLAS's own */
  if (!CUBLAS(f, cublasSetWorkspace(g->blas, g->blas_ws, GPU_WORKSPACE))) return false;
  read_uuid(g);
  return read_versions(g, f);
}
