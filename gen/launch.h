/* launch.h - the one launcher of generated kernels
**
** load: a cubin and its descriptor become a kernel of the current device.
** bind: a kernel, a problem and its buffers become a launch: every condition of
**   the descriptor is checked and the tensor maps are encoded, once.
** launch: allocates nothing, checks nothing, may run in many threads and under
**   stream capture. A loom_launch may be copied and moved freely.
**
** Only the CUDA runtime is used; libcuda is reached through it, never linked.
*/
#ifndef LOOM_LAUNCH_H
#define LOOM_LAUNCH_H

#include "legal.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

/* cuTensorMapEncodeTiled */
typedef CUresult loom_encode(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                             const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                             const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                             CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

typedef struct loom_kernel {
  loom_desc desc;
  cudaLibrary_t library;
  cudaKernel_t function;
  loom_encode *encode; /* the driver's; NULL for a kernel without tensor maps */
  int device, sms;
  int ctas_per_sm; /* CTAs of this kernel that fit on one SM at once */
  int clusters;    /* clusters that fit on the device at once; 0 without clusters */
  int regs;
  size_t local_bytes; /* local memory per thread: above 0 the kernel spills */
} loom_kernel;

typedef struct loom_launch {
  CUtensorMap maps[LOOM_MAX_TENSORS];
  const loom_kernel *kernel;
  void *pointers[3], *ws; /* A B C */
  int32_t mnk[3], ld[3];
  float alpha, beta;
  unsigned grid;
} loom_launch;

/* Copies of 'cubin' and 'desc' are kept where needed. */
enum loom_status loom_kernel_load(const void *cubin, size_t size, const loom_desc *desc,
                                  loom_kernel *out, char *err);
enum loom_status loom_kernel_bind(const loom_kernel *kernel, const loom_call *call,
                                  loom_launch *out, char *err);
/* pdl: this launch may start before its predecessor in the stream has ended. */
cudaError_t loom_kernel_launch(const loom_launch *launch, cudaStream_t stream, bool pdl);
cudaError_t loom_kernel_unload(loom_kernel *kernel);

/* Is this, by its ELF headers, a whole cubin? The CUDA loader is told no size. */
bool loom_whole_elf(const void *bytes, size_t size);

#endif
