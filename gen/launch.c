/* launch.c - the one launcher of generated kernels
**
** bench times with it and the runtime library ships it, so what was measured is
** what runs later. Three steps, each refusing as early as it can: load looks at
** the cubin and the device, bind at the problem and the pointers, launch at
** nothing. A refusal names the condition and the number that broke it.
*/
#include "launch.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum loom_status failed(char *err, const char *what, cudaError_t e) {
  snprintf(err, LOOM_ERROR_TEXT, "%s: %s", what, cudaGetErrorString(e));
  return LOOM_FAILED;
}

/* Load */

bool loom_whole_elf(const void *bytes, size_t size) {
  Elf64_Ehdr h;
  if (size < sizeof h) return false;
  memcpy(&h, bytes, sizeof h);
  if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64) return false;
  if (h.e_shnum == 0 || h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shoff > size) return false;
  if (h.e_shnum * sizeof(Elf64_Shdr) > size - h.e_shoff) return false;
  if (h.e_phoff > size || (size_t)h.e_phnum * h.e_phentsize > size - h.e_phoff) return false;
  for (unsigned i = 0; i < h.e_shnum; i++) {
    Elf64_Shdr s;
    memcpy(&s, (const char *)bytes + h.e_shoff + i * sizeof s, sizeof s);
    bool in_file = s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL;
    if (in_file && (s.sh_offset > size || s.sh_size > size - s.sh_offset)) return false;
  }
  return true;
}

/* What the kernel's instructions need: "sm_90a" means 9.0 alone, "sm_80" 8.0 or later. What the cubin
 * was compiled for is the CUDA loader's to refuse. */
static bool arch_runs(const char *arch, int major, int minor) {
  char *end;
  long needs = strtol(arch + 3, &end, 10), has = 10 * major + minor;
  return *end ? has == needs : has >= needs;
}

static enum loom_status check_device(loom_kernel *k, char *err) {
  static const enum cudaDeviceAttr wanted[] = {
      cudaDevAttrComputeCapabilityMajor, cudaDevAttrComputeCapabilityMinor,
      cudaDevAttrMultiProcessorCount, cudaDevAttrMaxSharedMemoryPerBlockOptin};
  int v[4];
  cudaError_t e = cudaGetDevice(&k->device);
  for (int i = 0; i < 4 && e == cudaSuccess; i++)
    e = cudaDeviceGetAttribute(&v[i], wanted[i], k->device);
  if (e != cudaSuccess) return failed(err, "cannot ask the device", e);
  k->sms = v[2];
  if (!arch_runs(k->desc.arch, v[0], v[1]))
    return loom_refuse(err, "kernel needs %s, the device is sm_%d%d", k->desc.arch, v[0], v[1]);
  if (k->desc.smem > v[3])
    return loom_refuse(err, "kernel needs %lld B of shared memory, the device has %d",
                       (long long)k->desc.smem, v[3]);
  return LOOM_OK;
}

static enum loom_status find_function(loom_kernel *k, char *err) {
  unsigned count = 0;
  cudaError_t e = cudaLibraryGetKernelCount(&count, k->library);
  if (e != cudaSuccess) return failed(err, "cannot list the cubin's kernels", e);
  if (count != 1) return loom_refuse(err, "cubin holds %u kernels, not one", count);
  e = cudaLibraryGetKernel(&k->function, k->library, k->desc.kernel);
  if (e != cudaSuccess) return failed(err, "cannot find the kernel in the cubin", e);
  return LOOM_OK;
}

static enum loom_status set_attributes(loom_kernel *k, char *err) {
  struct cudaFuncAttributes a;
  cudaError_t e = cudaKernelSetAttributeForDevice(
      k->function, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)k->desc.smem, k->device);
  if (e == cudaSuccess && k->desc.cluster > 8)
    e = cudaKernelSetAttributeForDevice(k->function, cudaFuncAttributeNonPortableClusterSizeAllowed,
                                        1, k->device);
  if (e == cudaSuccess) e = cudaFuncGetAttributes(&a, (const void *)k->function);
  if (e != cudaSuccess) return failed(err, "cannot set the kernel up", e);
  k->regs = a.numRegs;
  k->local_bytes = a.localSizeBytes;
  if (k->desc.block > a.maxThreadsPerBlock)
    return loom_refuse(err, "kernel takes %d threads, the descriptor says %lld",
                       a.maxThreadsPerBlock, (long long)k->desc.block);
  return LOOM_OK;
}

static cudaLaunchConfig_t config(const loom_desc *d, unsigned grid, cudaStream_t stream,
                                 cudaLaunchAttribute attrs[3], bool pdl) {
  cudaLaunchConfig_t c = {.gridDim = {grid, 1, 1},
                          .blockDim = {(unsigned)d->block, 1, 1},
                          .dynamicSmemBytes = (size_t)d->smem,
                          .stream = stream,
                          .attrs = attrs};
  if (d->cluster > 1) {
    attrs[c.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attrs[c.numAttrs].val.clusterDim.x = (unsigned)d->cluster;
    attrs[c.numAttrs].val.clusterDim.y = 1;
    attrs[c.numAttrs++].val.clusterDim.z = 1;
  }
  if (pdl) {
    attrs[c.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attrs[c.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (d->cooperative) {
    attrs[c.numAttrs].id = cudaLaunchAttributeCooperative;
    attrs[c.numAttrs++].val.cooperative = 1;
  }
  return c;
}

static enum loom_status ask_residency(loom_kernel *k, char *err) {
  cudaLaunchAttribute attrs[3];
  cudaLaunchConfig_t c = config(&k->desc, (unsigned)k->desc.cluster, NULL, attrs, false);
  cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &k->ctas_per_sm, (const void *)k->function, (int)k->desc.block, (size_t)k->desc.smem);
  if (e == cudaSuccess && k->desc.cluster > 1)
    e = cudaOccupancyMaxActiveClusters(&k->clusters, (const void *)k->function, &c);
  if (e != cudaSuccess) return failed(err, "cannot ask for the kernel's occupancy", e);
  if (k->ctas_per_sm < 1 || (k->desc.cluster > 1 && k->clusters < 1))
    return loom_refuse(err, "not one %s of the kernel fits on the device",
                       k->desc.cluster > 1 ? "cluster" : "CTA");
  return LOOM_OK;
}

static enum loom_status find_encode(loom_kernel *k, char *err) {
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  union {
    void *object;
    loom_encode *function;
  } entry = {NULL};
  if (k->desc.ntensors == 0) return LOOM_OK;
  cudaError_t e = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry.object, 12000,
                                                   cudaEnableDefault, &found);
  if (e != cudaSuccess) return failed(err, "cannot find cuTensorMapEncodeTiled", e);
  if (found != cudaDriverEntryPointSuccess || !entry.object)
    return loom_refuse(err, "the driver has no cuTensorMapEncodeTiled");
  k->encode = entry.function;
  return LOOM_OK;
}

enum loom_status loom_kernel_load(const void *cubin, size_t size, const loom_desc *desc,
                                  loom_kernel *out, char *err) {
  memset(out, 0, sizeof *out);
  out->desc = *desc;
  if (!loom_whole_elf(cubin, size)) return loom_refuse(err, "not a whole cubin (%zu bytes)", size);
  enum loom_status status = check_device(out, err);
  if (status != LOOM_OK) return status;
  cudaError_t e = cudaLibraryLoadData(&out->library, cubin, NULL, NULL, 0, NULL, NULL, 0);
  if (e != cudaSuccess) return failed(err, "cannot load the cubin", e);
  status = find_function(out, err);
  if (status == LOOM_OK) status = set_attributes(out, err);
  if (status == LOOM_OK) status = ask_residency(out, err);
  if (status == LOOM_OK) status = find_encode(out, err);
  if (status != LOOM_OK) (void)loom_kernel_unload(out); /* the first error is the one to tell */
  return status;
}

cudaError_t loom_kernel_unload(loom_kernel *kernel) {
  cudaError_t e = kernel->library ? cudaLibraryUnload(kernel->library) : cudaSuccess;
  kernel->library = NULL;
  return e;
}

/* Bind: grid */

static enum loom_status check_grid(const loom_kernel *k, unsigned grid, char *err) {
  const loom_desc *d = &k->desc;
  if (grid == 0) return loom_refuse(err, "problem has more tiles than a grid holds");
  if (grid % d->cluster != 0)
    return loom_refuse(err, "a grid of %u CTAs is not a multiple of the cluster of %lld", grid,
                       (long long)d->cluster);
  if (!d->resident && !d->cooperative) return LOOM_OK;
  int64_t room = d->cluster > 1 ? k->clusters * d->cluster : (int64_t)k->sms * k->ctas_per_sm;
  if (grid > room)
    return loom_refuse(err, "a grid of %u CTAs must be resident, the device holds %lld", grid,
                       (long long)room);
  return LOOM_OK;
}

/* Bind: tensor maps */

/* 0 32 64 128 and 0 64 128 256 are consecutive values of the two enums. */
static int step(int64_t bytes, int64_t first) {
  int n = 0;
  for (int64_t b = first; b <= bytes; b *= 2) n++;
  return n;
}

static CUresult encode(const loom_kernel *k, const struct loom_tensor *t, const loom_call *call,
                       CUtensorMap *out) {
  cuuint64_t size[2] = {(cuuint64_t)call->mnk[t->dims[0]], (cuuint64_t)call->mnk[t->dims[1]]};
  cuuint64_t stride[1] = {(cuuint64_t)loom_lead(call, t->operand) * 2};
  cuuint32_t box[2] = {(cuuint32_t)t->box[0], (cuuint32_t)t->box[1]};
  cuuint32_t ones[2] = {1, 1};
  union {
    const void *in;
    void *out;
  } address = {
      loom_pointer(call, t->operand)}; /* a map is read or written through: one type for both */
  return k->encode(out,
                   k->desc.dtype == LOOM_F16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                             : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                   2, address.out, size, stride, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   (CUtensorMapSwizzle)step(t->swizzle, 32),
                   (CUtensorMapL2promotion)step(t->l2, 64), CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static enum loom_status encode_all(const loom_kernel *k, const loom_call *call, loom_launch *out,
                                   char *err) {
  const loom_desc *d = &k->desc;
  for (int i = 0; i < d->ntensors; i++) {
    CUresult r = encode(k, &d->tensors[i], call, &out->maps[i]);
    if (r != CUDA_SUCCESS)
      return loom_refuse(err, "cuTensorMapEncodeTiled refuses '%s' (error %d)", d->tensors[i].name,
                         (int)r);
  }
  return LOOM_OK;
}

enum loom_status loom_kernel_bind(const loom_kernel *kernel, const loom_call *call,
                                  loom_launch *out, char *err) {
  memset(out, 0, sizeof *out);
  enum loom_status status = loom_legal(&kernel->desc, call, err);
  if (status != LOOM_OK) return status;
  out->kernel = kernel;
  out->grid = loom_grid(&kernel->desc, call->mnk, kernel->sms);
  status = check_grid(kernel, out->grid, err);
  if (status != LOOM_OK) return status;
  for (int i = 0; i < 3; i++) {
    const void *p = loom_pointer(call, i);
    memcpy(&out->pointers[i], &p, sizeof p);
    out->mnk[i] = (int32_t)call->mnk[i];
    out->ld[i] = (int32_t)loom_lead(call, i);
  }
  out->ws = call->ws;
  out->alpha = call->alpha;
  out->beta = call->beta;
  return encode_all(kernel, call, out, err);
}

/* Launch */

/* Where each argument lies in a loom_launch, by enum loom_arg. */
static const size_t arg_at[] = {
    offsetof(loom_launch, pointers[0]), offsetof(loom_launch, pointers[1]),
    offsetof(loom_launch, pointers[2]), offsetof(loom_launch, mnk[0]),
    offsetof(loom_launch, mnk[1]),      offsetof(loom_launch, mnk[2]),
    offsetof(loom_launch, ld[0]),       offsetof(loom_launch, ld[1]),
    offsetof(loom_launch, ld[2]),       offsetof(loom_launch, alpha),
    offsetof(loom_launch, beta),        offsetof(loom_launch, ws),
    offsetof(loom_launch, maps)};

cudaError_t loom_kernel_launch(const loom_launch *launch, cudaStream_t stream, bool pdl) {
  const loom_desc *d = &launch->kernel->desc;
  loom_launch values = *launch; /* the runtime takes pointers to non-const */
  void *args[LOOM_MAX_ARGS];
  for (int i = 0; i < d->nargs; i++) {
    size_t map = d->arg[i] == LOOM_ARG_TENSOR ? (size_t)d->arg_tensor[i] * sizeof(CUtensorMap) : 0;
    args[i] = (char *)&values + arg_at[d->arg[i]] + map;
  }
  cudaLaunchAttribute attrs[3];
  cudaLaunchConfig_t c = config(d, launch->grid, stream, attrs, pdl && d->pdl);
  return cudaLaunchKernelExC(&c, (const void *)launch->kernel->function, args);
}
