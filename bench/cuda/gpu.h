/* gpu.h - the device the worker owns
**
** CUDA(f, call) and CUBLAS(f, call) are true when the call succeeded; else they
** keep function, file and line in the fault.
*/
#ifndef BENCH_GPU_H
#define BENCH_GPU_H

#include "fault.h"
#include "holes.h"
#include "nvml.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

enum { GPU_WORKSPACE = 64 << 20, GPU_KEPT = 24, GPU_SCRATCH = 4096 };
enum { GPU_PATIENCE = 1, GPU_WINDOWS = 100, GPU_BLIND = 60 }; /* see gpu_settle */

struct gpu_kept {
  void *base;
  size_t bytes;
  bool free;
};

struct gpu {
  struct cudaDeviceProp prop;
  cudaStream_t stream, noise; /* noise: for what runs beside a candidate */
  cublasHandle_t blas;
  cublasLtHandle_t lt;
  void *blas_ws; /* of both libraries, GPU_WORKSPACE bytes */
  void *scratch; /* GPU_SCRATCH bytes for counts and sums, used and read within one function */
  struct gpu_kept kept[GPU_KEPT];
  struct holes_driver holes_driver;
  struct holes holes[3]; /* of verify.c, for A, B and C */
  bool families_loaded;
  double longest; /* seconds of a wait for the stream, in this job */
  struct nvml nvml;
  char driver[64], cuda[16], cublas[16], cublaslt[16], uuid[48];
};

/* Opens device 0. The fault's text is "no CUDA device" where there is none. */
bool gpu_open(struct gpu *g, struct fault *f);

/* After an error: can this process go on? Clears an error that is not sticky. */
bool gpu_alive(void);

bool gpu_cuda(struct fault *f, cudaError_t e, const char *expr, const char *file, int line);
bool gpu_blas(struct fault *f, cublasStatus_t e, const char *expr, const char *file, int line);
#define CUDA(f, expr) gpu_cuda(f, expr, #expr, __FILE__, __LINE__)
#define CUBLAS(f, expr) gpu_blas(f, expr, #expr, __FILE__, __LINE__)

/* Waits for the stream. After so many seconds, the fault says that 'what' does not end, and is hung. */
bool gpu_await(struct gpu *g, const char *what, double seconds, struct fault *f);

/* The same with a deadline of its own: one second, and a hundred times the longest wait of this job so
** far; a minute where there was none, which is the libraries' case. A walk over the ring, a replay or a
** block of replays takes longer than the first launch, but not so much longer. */
bool gpu_settle(struct gpu *g, const char *what, struct fault *f);

/* Seconds of a clock that only goes on. */
double gpu_now(void);

/* Device memory; the text of a failure says how much was wanted and what for. */
bool gpu_alloc(struct fault *f, void **out, size_t bytes, const char *what);

/* The same for the large buffers of problems: gpu_give keeps them for the next gpu_take, because
** allocating and freeing gigabytes for every problem takes longer than many a problem. What a
** buffer holds is whatever was left in it. */
bool gpu_take(struct gpu *g, struct fault *f, void **out, size_t bytes, const char *what);
void gpu_give(struct gpu *g, void *pointer_to_pointer);

/* Bytes that gpu_take can still hand out. */
bool gpu_room(struct gpu *g, double *bytes, struct fault *f);

/* Frees and clears; a NULL is fine. Failures only show a lost device, which the next call tells. */
void gpu_free(void *pointer_to_pointer);

#endif
