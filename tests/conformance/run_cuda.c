/* run_cuda.c - runs every conformance case on the GPU and prints what it left in 'out'
**
**   run_cuda CUBIN... > vectors.txt
**
** The words are the truth that the CPU device is compared with (compare.c). Every kernel of the
** cubins must be a case of table.h and every case one of their kernels. A case that does not end
** within seconds has failed, as has one with a CUDA error; the file then lacks its last line, and
** half a file is none.
*/
#include "vectors.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CUBINS = 32, SECONDS = 10 };

static cudaLibrary_t libraries[MAX_CUBINS];
static int count;

static void die(const char *what, const char *why) {
  fprintf(stderr, "conformance: %s: %s\n", what, why);
  fflush(stderr);
  _exit(1); /* a kernel that hangs would hold an ordinary exit up */
}

static void check(const char *what, cudaError_t e) {
  if (e != cudaSuccess) die(what, cudaGetErrorString(e));
}

static void load(int n, char **paths) {
  unsigned kernels = 0;
  if (n < 1 || n > MAX_CUBINS) die("usage", "run_cuda CUBIN...");
  for (count = 0; count < n; count++) {
    unsigned here = 0;
    check(paths[count],
          cudaLibraryLoadFromFile(&libraries[count], paths[count], NULL, NULL, 0, NULL, NULL, 0));
    check(paths[count], cudaLibraryGetKernelCount(&here, libraries[count]));
    kernels += here;
  }
  if (kernels != (unsigned)conform_count)
    die("cubins", "they do not hold as many kernels as table.h has cases");
}

static cudaKernel_t find(const char *name) {
  cudaKernel_t kernel = NULL;
  for (int i = 0; i < count && !kernel; i++)
    if (cudaLibraryGetKernel(&kernel, libraries[i], name) != cudaSuccess) kernel = NULL;
  (void)cudaGetLastError(); /* of the libraries that do not hold it */
  if (!kernel) die(name, "no such kernel in the cubins");
  return kernel;
}

/* ---- tensor maps ---- */

typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                 const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                 const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

static encode_function *find_encode(void) {
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  union {
    void *object;
    encode_function *function;
  } entry = {NULL};
  check("cuTensorMapEncodeTiled",
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry.object, 12000,
                                         cudaEnableDefault, &found));
  if (found != cudaDriverEntryPointSuccess) die("cuTensorMapEncodeTiled", "the driver has none");
  return entry.function;
}

static void encode(const struct conform_case *c, void *in, void *out, CUtensorMap *map) {
  const struct conform_map *m = &c->map;
  char *base = m->of_out ? out : in;
  cuuint64_t size[2] = {m->width, m->height}, stride[1] = {m->stride};
  cuuint32_t box[2] = {m->box_width, m->box_height}, ones[2] = {1, 1};
  int swizzle = m->swizzle == 128 ? 3 : m->swizzle == 64 ? 2 : m->swizzle == 32 ? 1 : 0;
  CUresult r = find_encode()(map, CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, base + m->offset, size, stride,
                             box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) die(c->name, "cuTensorMapEncodeTiled refuses its map");
}

/* ---- one case ---- */

static void start(const struct conform_case *c, void **args) {
  cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension};
  cluster.val.clusterDim.x = c->cluster;
  cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {.gridDim = {c->grid, 1, 1},
                               .blockDim = {c->block, 1, 1},
                               .dynamicSmemBytes = c->smem,
                               .attrs = &cluster,
                               .numAttrs = c->cluster > 1};
  cudaKernel_t kernel = find(c->name);
  int device = 0;
  check(c->name, cudaGetDevice(&device));
  check(c->name, cudaKernelSetAttributeForDevice(
                     kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)c->smem, device));
  check(c->name, cudaLaunchKernelExC(&config, (const void *)kernel, args));
}

/* cudaDeviceSynchronize would wait for ever. */
static void await(const char *name) {
  struct timespec pause = {0, 20000};
  cudaError_t e;
  time_t end = time(NULL) + SECONDS;
  while ((e = cudaStreamQuery(NULL)) == cudaErrorNotReady) {
    if (time(NULL) > end) die(name, "does not end");
    nanosleep(&pause, NULL);
  }
  check(name, e);
}

static void run(const struct conform_case *c, bool whole) {
  size_t in_size = 4 * (size_t)c->in, out_size = 4 * (size_t)c->out;
  uint32_t *words = malloc(in_size > out_size ? in_size : out_size);
  void *in = NULL, *out = NULL;
  CUtensorMap map;
  if (!words) die(c->name, "no memory");
  check(c->name, cudaMalloc(&in, in_size));
  check(c->name, cudaMalloc(&out, out_size));
  conform_fill_in(c, words);
  check(c->name, cudaMemcpy(in, words, in_size, cudaMemcpyHostToDevice));
  conform_fill_out(c, words);
  check(c->name, cudaMemcpy(out, words, out_size, cudaMemcpyHostToDevice));
  if (c->map.width) encode(c, in, out, &map);
  void *args[] = {&in, &out, &map};
  start(c, args);
  await(c->name);
  check(c->name, cudaMemcpy(words, out, out_size, cudaMemcpyDeviceToHost));
  conform_print(stdout, c, words, whole);
  check(c->name, cudaFree(in));
  check(c->name, cudaFree(out));
  free(words);
}

static void print_head(void) {
  struct cudaDeviceProp device;
  int driver = 0;
  check("the device", cudaGetDeviceProperties(&device, 0));
  check("the device", cudaDriverGetVersion(&driver));
  printf("conformance 1\ngpu %s\ndriver %d.%d %s\ncompiler nvcc %s\n", device.name, driver / 1000,
         driver % 1000 / 10, getenv("CONFORM_DRIVER") ? getenv("CONFORM_DRIVER") : "-",
         getenv("CONFORM_NVCC") ? getenv("CONFORM_NVCC") : "-");
}

/* Cases from *next on, in a process of its own: a CUDA error ends what it can do. */
static void run_from(volatile int *next, char **cubins, int n, bool whole) {
  load(n, cubins);
  if (*next == 0) print_head();
  for (; *next < conform_count; ++*next) {
    run(&conform_cases[*next], whole);
    if (fflush(stdout) != 0) die("stdout", strerror(errno));
  }
  _exit(0);
}

/* The parent calls nothing of CUDA, and starts again behind a case that failed: all failures of a
** run are told at once. Returns how many there were. */
static int run_all(char **cubins, int n, bool whole) {
  volatile int *next =
      mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int failed = 0, status = 0;
  if ((void *)next == MAP_FAILED) die("memory", strerror(errno));
  do {
    pid_t child = fork();
    if (child < 0) die("fork", strerror(errno));
    if (child == 0) run_from(next, cubins, n, whole);
    while (waitpid(child, &status, 0) < 0)
      if (errno != EINTR) die("wait", strerror(errno));
    if (status != 0) failed++;
    if (status != 0) ++*next;
  } while (status != 0 && *next < conform_count);
  return failed;
}

int main(int argc, char **argv) {
  bool whole = argc > 1 && strcmp(argv[1], "--whole") == 0;
  int failed = run_all(argv + 1 + whole, argc - 1 - whole, whole);
  if (failed == 0) printf("end %d cases\n", conform_count);
  fprintf(stderr, "conformance: %d cases run, %d failed\n", conform_count, failed);
  return failed > 0 || ferror(stdout) || fclose(stdout) ? 1 : 0;
}
