/* gpu.c - opens the device, keeps errors
**
** The worker runs one problem on one device and one stream. cuBLAS gets its
** workspace here, once: 64 MiB, more than its own default on any device, and a
** fixed one, without which captured graphs would allocate.
*/
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { BLAS_WORKSPACE = 64 << 20 };

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

bool gpu_alive(void) {
  (void)cudaGetLastError();
  bool alive = cudaDeviceSynchronize() == cudaSuccess;
  return cudaGetLastError() == cudaSuccess && alive;
}

/* The display driver's version, which the CUDA runtime does not tell; NVML comes with the driver.
 */
static bool nvml_driver(char *out, unsigned size) {
  typedef int init_fn(void);
  typedef int version_fn(char *, unsigned);
  void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!lib) return false;
  union {
    void *object;
    init_fn *call;
  } init = {dlsym(lib, "nvmlInit_v2")}, shutdown = {dlsym(lib, "nvmlShutdown")};
  union {
    void *object;
    version_fn *call;
  } version = {dlsym(lib, "nvmlSystemGetDriverVersion")};
  bool found = init.object && shutdown.object && version.object && init.call() == 0;
  if (found) {
    found = version.call(out, size) == 0;
    (void)shutdown.call();
  }
  (void)dlclose(lib);
  return found;
}

static bool read_versions(struct gpu *g, struct fault *f) {
  int runtime, driver, v[3];
  if (!CUDA(f, cudaRuntimeGetVersion(&runtime)) || !CUDA(f, cudaDriverGetVersion(&driver)) ||
      !CUBLAS(f, cublasGetProperty(MAJOR_VERSION, &v[0])) ||
      !CUBLAS(f, cublasGetProperty(MINOR_VERSION, &v[1])) ||
      !CUBLAS(f, cublasGetProperty(PATCH_LEVEL, &v[2])))
    return false;
  snprintf(g->cuda, sizeof g->cuda, "%d.%d", runtime / 1000, runtime % 1000 / 10);
  snprintf(g->cublas, sizeof g->cublas, "%d.%d.%d", v[0], v[1], v[2]);
  if (!nvml_driver(g->driver, sizeof g->driver))
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
      !CUBLAS(f, cublasCreate(&g->blas)) || !CUBLAS(f, cublasSetStream(g->blas, g->stream)) ||
      !gpu_alloc(f, &g->blas_ws, BLAS_WORKSPACE, "cuBLAS's workspace"))
    return false;
  /* after cublasSetStream, which resets the workspace to cuBLAS's own */
  if (!CUBLAS(f, cublasSetWorkspace(g->blas, g->blas_ws, BLAS_WORKSPACE))) return false;
  read_uuid(g);
  return read_versions(g, f);
}
