/* libloom_test.c - the release's library on a CPU
**
** The CUDA runtime and cuBLAS below are fakes that keep account: what is launched
** and how, which stream and workspace cuBLAS has, what is allocated when. The fake
** cublasGemmEx multiplies, so that the row-major call is seen to be right. Linked
** with the library's own sources and the table of a release for "h200" that holds
** 512x512x512 nn and tn, f16; the cubins are any ELF files.
*/
#define _POSIX_C_SOURCE 200809L
#include "loom.h"
#include "ok.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A device: sm_90 with 132 SMs unless a test says otherwise */

static struct {
  int device, major, fail_malloc;
  atomic_int mallocs, frees, waits, loads, unloads, launches, gemms, ws_sets, stream_sets, encodes,
      lookups;
  unsigned grid, block;
  size_t smem;
  int attributes;
  bool pdl;
  cudaStream_t stream, blas_stream;
  void *blas_ws;
} fake = {.major = 9};

const char *cudaGetErrorString(cudaError_t e) { return e ? "fake error" : "no error"; }
const char *cublasGetStatusString(cublasStatus_t e) { return e ? "fake status" : "fine"; }

cudaError_t cudaGetDevice(int *device) {
  *device = fake.device;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr a, int device) {
  (void)device;
  *value = a == cudaDevAttrComputeCapabilityMajor   ? fake.major
           : a == cudaDevAttrComputeCapabilityMinor ? 0
           : a == cudaDevAttrMultiProcessorCount    ? 132
                                                    : 232448;
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *j,
                                void **jv, unsigned nj, enum cudaLibraryOption *o, void **ov,
                                unsigned no) {
  (void)j, (void)jv, (void)nj, (void)o, (void)ov, (void)no;
  memcpy(library, &code, sizeof code);
  fake.loads++;
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  (void)library;
  fake.unloads++;
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library) {
  (void)library;
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  memcpy(kernel, &library, sizeof *kernel);
  return strcmp(name, "loom_kernel") ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute a, int v,
                                            int device) {
  (void)kernel, (void)a, (void)v, (void)device;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *f) {
  (void)f;
  memset(a, 0, sizeof *a);
  a->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int block,
                                                          size_t smem) {
  (void)f, (void)block, (void)smem;
  *n = 1;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *n, const void *f, const cudaLaunchConfig_t *c) {
  (void)f, (void)c;
  *n = 66;
  return cudaSuccess;
}

static CUresult encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *at,
                       const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
                       const cuuint32_t *steps, CUtensorMapInterleave i, CUtensorMapSwizzle s,
                       CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill) {
  (void)type, (void)rank, (void)size, (void)stride, (void)box, (void)steps, (void)i, (void)s;
  (void)l2, (void)fill;
  memset(map, 0, sizeof *map);
  memcpy(map, &at, sizeof at);
  fake.encodes++;
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **f, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found) {
  (void)version, (void)flags;
  fake.lookups++;
  CUresult (*function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                       const cuuint64_t *, const cuuint32_t *, const cuuint32_t *,
                       CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill) = encode;
  memcpy(f, &function, sizeof function);
  *found = cudaDriverEntryPointSuccess;
  return strcmp(symbol, "cuTensorMapEncodeTiled") ? cudaErrorInvalidValue : cudaSuccess;
}

static pthread_mutex_t account = PTHREAD_MUTEX_INITIALIZER;

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *f, void **args) {
  (void)f, (void)args;
  pthread_mutex_lock(&account);
  fake.launches++;
  fake.grid = c->gridDim.x;
  fake.block = c->blockDim.x;
  fake.smem = c->dynamicSmemBytes;
  fake.stream = c->stream;
  fake.pdl = false;
  for (unsigned i = 0; i < c->numAttrs; i++)
    fake.pdl |= c->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization;
  pthread_mutex_unlock(&account);
  return cudaSuccess;
}

#undef cudaMalloc
cudaError_t cudaMalloc(void **p, size_t bytes) {
  if (++fake.mallocs == fake.fail_malloc) return cudaErrorMemoryAllocation;
  *p = malloc(bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void *p) {
  fake.frees += p != NULL;
  free(p);
  return cudaSuccess;
}

cudaError_t cudaMemset(void *p, int v, size_t bytes) {
  memset(p, v, bytes);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) {
  fake.waits++;
  return cudaSuccess;
}

/* cuBLAS: no locks of its own, so that a race in the library is a race here */

cublasStatus_t cublasCreate_v2(cublasHandle_t *h) {
  void *p = malloc(1);
  memcpy(h, &p, sizeof p);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t h) {
  free(h);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t s) {
  (void)h;
  fake.blas_stream = s;
  fake.stream_sets++;
  fake.blas_ws = NULL;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t h, void *ws, size_t bytes) {
  (void)h, (void)bytes;
  fake.blas_ws = ws;
  fake.ws_sets++;
  return CUBLAS_STATUS_SUCCESS;
}

static float at(const void *p, cudaDataType type, int row, int column, int ld, bool swap) {
  size_t i =
      swap ? (size_t)column + (size_t)row * (size_t)ld : (size_t)row + (size_t)column * (size_t)ld;
  uint16_t bits = ((const uint16_t *)p)[i];
  _Float16 half;
  float wide;
  uint32_t all = (uint32_t)bits << 16;
  memcpy(&half, &bits, 2);
  memcpy(&wide, &all, 4);
  return type == CUDA_R_16F ? (float)half : wide;
}

/* Column-major, as the real one. */
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType at_,
                            int lda, const void *b, cudaDataType bt, int ldb, const void *beta,
                            void *c, cudaDataType ct, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algo) {
  (void)h, (void)algo;
  fake.gemms++;
  if (compute != CUBLAS_COMPUTE_32F || lda < 1 || ldb < 1 || ldc < m)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m > 256) return CUBLAS_STATUS_SUCCESS; /* large ones are only counted */
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0, old = *(const float *)beta == 0 ? 0 : at(c, ct, i, j, ldc, false);
      for (int l = 0; l < k; l++)
        sum += at(a, at_, i, l, lda, ta == CUBLAS_OP_T) * at(b, bt, l, j, ldb, tb == CUBLAS_OP_T);
      float v = *(const float *)alpha * sum + *(const float *)beta * old;
      _Float16 half = (_Float16)v;
      uint32_t all;
      memcpy(&all, &v, 4);
      uint16_t bits = (uint16_t)(all >> 16); /* the tests' values are exact in bf16 */
      if (ct == CUDA_R_16F) memcpy(&bits, &half, 2);
      ((uint16_t *)c)[i + j * ldc] = bits;
    }
  return CUBLAS_STATUS_SUCCESS;
}

/* Tests */

static _Alignas(256) char memory[512 * 512 * 2];
static const cudaStream_t stream_1 = (cudaStream_t)0x1000;

static int gemm(loom_handle *h, int layout, int type, int64_t m, int64_t n, int64_t k) {
  return loom_gemm(h, stream_1, layout, type, m, n, k, 1, memory, 0, memory, 0, 0, memory, 0);
}

static void dispatch(loom_handle *h) {
  int mallocs = fake.mallocs, waits = fake.waits, lookups = fake.lookups;
  ok(gemm(h, LOOM_LAYOUT_TN, LOOM_TYPE_F16, 512, 512, 512) == 0 &&
         loom_last_path() == LOOM_PATH_KERNEL && fake.launches == 1 && fake.gemms == 0,
     "a problem of the table runs its kernel (%s)", loom_last_error());
  ok(fake.stream == stream_1 && fake.grid > 0 && fake.block >= 32 && !fake.pdl,
     "on the caller's stream, without pdl");
  loom_set_pdl(h, 1);
  ok(gemm(h, LOOM_LAYOUT_NN, LOOM_TYPE_F16, 512, 512, 512) == 0 && fake.pdl, "with pdl when set");
  loom_set_pdl(h, 0);
  static const int64_t near[][3] = {{512, 512, 504}, {504, 512, 512}, {512, 520, 512}, {1, 1, 1}};
  for (int i = 0; i < 4; i++)
    ok(gemm(h, LOOM_LAYOUT_TN, LOOM_TYPE_F16, near[i][0], near[i][1], near[i][2]) == 0 &&
           loom_last_path() == LOOM_PATH_CUBLAS,
       "%dx%dx%d goes to cuBLAS", (int)near[i][0], (int)near[i][1], (int)near[i][2]);
  ok(gemm(h, LOOM_LAYOUT_NT, LOOM_TYPE_F16, 512, 512, 512) == 0 &&
         loom_last_path() == LOOM_PATH_CUBLAS,
     "another layout goes to cuBLAS");
  ok(gemm(h, LOOM_LAYOUT_TN, LOOM_TYPE_BF16, 512, 512, 512) == 0 &&
         loom_last_path() == LOOM_PATH_CUBLAS,
     "another type goes to cuBLAS");
  ok(fake.mallocs == mallocs && fake.waits == waits, "no call allocates or waits");
  ok(fake.encodes > 0 && lookups > 0 && fake.lookups == lookups,
     "the driver's encoder is looked up when kernels are loaded, not by calls");
}

static int path_of(loom_handle *h, float alpha, const char *a, int64_t lda, float beta) {
  int status = loom_gemm(h, stream_1, LOOM_LAYOUT_TN, LOOM_TYPE_F16, 512, 512, 512, alpha, a, lda,
                         memory, 0, beta, memory, 0);
  return status ? -status : loom_last_path();
}

static void conditions(loom_handle *h) {
  ok(path_of(h, 1, memory, 512, 0) == LOOM_PATH_KERNEL, "given leading dimensions may be packed");
  ok(path_of(h, 1, memory, 520, 0) == LOOM_PATH_KERNEL, "or padded by a multiple of 8");
  ok(path_of(h, 1, memory, 513, 0) == LOOM_PATH_CUBLAS, "lda=513 goes to cuBLAS");
  ok(path_of(h, 1, memory + 2, 512, 0) == LOOM_PATH_CUBLAS, "A off by 2 bytes goes to cuBLAS");
  ok(path_of(h, 2, memory, 512, 0) == LOOM_PATH_CUBLAS, "alpha=2 goes to cuBLAS");
  ok(path_of(h, 1, memory, 512, 1) == LOOM_PATH_CUBLAS, "beta=1 goes to cuBLAS");
  ok(path_of(h, 1, memory, 511, 0) == -LOOM_STATUS_INVALID, "lda=511 is refused: %s",
     loom_last_error());
  ok(path_of(h, 1, memory + 1, 512, 0) == -LOOM_STATUS_INVALID, "an odd address is refused: %s",
     loom_last_error());
  ok(path_of(h, 1, NULL, 512, 0) == -LOOM_STATUS_INVALID && loom_last_path() == LOOM_PATH_NONE,
     "a null pointer is refused: %s", loom_last_error());
  ok(gemm(h, 4, 0, 8, 8, 8) == LOOM_STATUS_INVALID, "layout 4 is refused");
  ok(gemm(h, 0, 3, 8, 8, 8) == LOOM_STATUS_INVALID, "type 3 is refused");
  ok(gemm(h, 0, 0, -1, 8, 8) == LOOM_STATUS_INVALID, "m=-1 is refused: %s", loom_last_error());
  ok(gemm(h, 0, 0, 8, 8, 1LL << 31) == LOOM_STATUS_INVALID, "k=2^31 is refused: %s",
     loom_last_error());
  ok(gemm(NULL, 0, 0, 8, 8, 8) == LOOM_STATUS_INVALID, "no handle is refused");
  int gemms = fake.gemms;
  ok(gemm(h, 0, 0, 0, 8, 8) == LOOM_STATUS_OK && loom_last_path() == LOOM_PATH_NONE &&
         fake.gemms == gemms,
     "m=0 starts nothing");
  fake.device = 1;
  ok(gemm(h, 0, 0, 8, 8, 8) == LOOM_STATUS_DEVICE, "another device is refused: %s",
     loom_last_error());
  fake.device = 0;
}

static void served(loom_handle *h) {
  ok(loom_problem_count() >= 2 && loom_problem_at(0)->m == 512 && loom_problem_at(0)->us > 0,
     "the table can be read");
  ok(!loom_problem_at(-1) && !loom_problem_at(loom_problem_count()), "and ends");
  for (int i = 0; i < loom_problem_count(); i++) {
    const loom_problem *p = loom_problem_at(i);
    ok(loom_served(h, p->layout, p->type, p->m, p->n, p->k), "problem %d is served", i);
  }
  ok(!loom_served(h, LOOM_LAYOUT_TN, LOOM_TYPE_F16, 512, 512, 511), "others are not");
  ok(!loom_served(h, 9, 9, 512, 512, 512) && !loom_served(NULL, 0, 0, 1, 1, 1), "nor nonsense");
}

/* C = 0.5 A B - 2 C with padded rows; small integers, so every type is exact. */
static bool product_right(loom_handle *h, int layout, int type) {
  enum { M = 7, N = 5, K = 3, LD = 11 };
  static uint16_t a[LD * LD], b[LD * LD], c[LD * LD];
  float want[M][N];
  bool swap_a = layout >= LOOM_LAYOUT_NT, swap_b = layout & 1;
  cudaDataType t = type == LOOM_TYPE_BF16 ? CUDA_R_16BF : CUDA_R_16F;
  for (int i = 0; i < LD * LD; i++) {
    float v[3] = {(float)(i * 7 % 5) - 2, (float)(i * 3 % 7) - 3, (float)(i % 3)};
    uint16_t *to[3] = {&a[i], &b[i], &c[i]};
    for (int j = 0; j < 3; j++) {
      _Float16 half = (_Float16)v[j];
      uint32_t all;
      memcpy(&all, &v[j], 4);
      *to[j] = (uint16_t)(all >> 16);
      if (t == CUDA_R_16F) memcpy(to[j], &half, 2);
    }
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++)
        sum += at(a, t, swap_a ? i : k, swap_a ? k : i, LD, false) *
               at(b, t, swap_b ? k : j, swap_b ? j : k, LD, false);
      want[i][j] = 0.5f * sum - 2 * at(c, t, j, i, LD, false);
    }
  if (loom_gemm(h, stream_1, layout, type, M, N, K, 0.5f, a, LD, b, LD, -2, c, LD) != 0)
    return false;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      if (at(c, t, j, i, LD, false) != want[i][j]) return false;
  return true;
}

static void row_major(loom_handle *h) {
  static const char *const names[] = {"nn", "tn", "nt", "tt"};
  for (int layout = 0; layout < 4; layout++)
    for (int type = 0; type < 3; type++)
      ok(product_right(h, layout, type), "cuBLAS is called right in %s, type %d", names[layout],
         type);
}

static void streams(loom_handle *h) {
  for (int i = 0; i < 2; i++) {
    int set = fake.stream_sets;
    loom_gemm(h, cudaStreamPerThread, 0, 0, 8, 8, 8, 1, memory, 0, memory, 0, 0, memory, 0);
    ok(!fake.blas_ws && fake.stream_sets == set + 1,
       "the threads' default streams take cuBLAS's own workspace, set for every call");
  }
  void *ws[6];
  for (intptr_t i = 0; i < 6; i++) {
    loom_gemm(h, (cudaStream_t)(0x1000 * (i + 1)), 0, 0, 8, 8, 8, 1, memory, 0, memory, 0, 0,
              memory, 0);
    ws[i] = fake.blas_ws;
  }
  bool apart = true;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < i; j++) apart = apart && ws[i] && ws[i] != ws[j];
  ok(apart, "four streams have a workspace each");
  ok(!ws[4] && !ws[5], "more streams take cuBLAS's own");
  gemm(h, 0, 0, 8, 8, 8);
  ok(fake.blas_ws == ws[0] && fake.blas_stream == stream_1, "a stream keeps its workspace");
  int sets = fake.ws_sets;
  gemm(h, 0, 0, 8, 8, 16);
  ok(fake.ws_sets == sets, "which is set only when the stream changes");
}

static atomic_int thread_failures;

static void *worker(void *context) {
  loom_handle *h = context;
  static _Thread_local _Alignas(256) char own[512 * 512 * 2];
  for (int i = 0; i < 200; i++) {
    int64_t k = i % 2 ? 512 : 504;
    int status = loom_gemm(h, (cudaStream_t)(void *)own, LOOM_LAYOUT_TN, LOOM_TYPE_F16, 512, 512, k,
                           1, own, 0, own, 0, 0, own, 0);
    if (status || loom_last_path() != (i % 2 ? LOOM_PATH_KERNEL : LOOM_PATH_CUBLAS))
      thread_failures++;
  }
  return NULL;
}

static void threads(loom_handle *h) {
  pthread_t t[6];
  for (int i = 0; i < 6; i++) pthread_create(&t[i], NULL, worker, h);
  for (int i = 0; i < 6; i++) pthread_join(t[i], NULL);
  ok(thread_failures == 0, "six threads share a handle");
}

static void failures(void) {
  loom_handle *h = (loom_handle *)memory;
  fake.fail_malloc = fake.mallocs + 2;
  ok(loom_create(&h) == LOOM_STATUS_MEMORY && !h, "no memory: %s", loom_last_error());
  ok(loom_create(NULL) == LOOM_STATUS_INVALID, "nowhere to put the handle");
  ok(loom_destroy(NULL) == LOOM_STATUS_OK, "no handle may be destroyed");
  fake.fail_malloc = 0;
  fake.major = 8;
  ok(loom_create(&h) == LOOM_STATUS_OK, "an older device takes a handle");
  ok(!loom_served(h, LOOM_LAYOUT_TN, 0, 512, 512, 512) &&
         gemm(h, LOOM_LAYOUT_TN, 0, 512, 512, 512) == 0 && loom_last_path() == LOOM_PATH_CUBLAS,
     "all its problems go to cuBLAS");
  loom_destroy(h);
  fake.major = 9;
}

int main(void) {
  loom_handle *h;
  setenv("LOOM_VERBOSE", "1", 1);
  ok(loom_create(&h) == LOOM_STATUS_OK, "a handle is made (%s)", loom_last_error());
  dispatch(h);
  conditions(h);
  served(h);
  row_major(h);
  streams(h);
  loom_destroy(h);
  unsetenv("LOOM_VERBOSE");
  if (loom_create(&h) == LOOM_STATUS_OK) threads(h);
  ok(loom_destroy(h) == LOOM_STATUS_OK, "a handle is destroyed");
  failures();
  ok(fake.loads == fake.unloads, "every kernel is unloaded");
  return done();
}
