/* launch.c - the one launcher of generated kernels
**
** bench times with it and the runtime library ships it, so what was measured is
** what runs later. Three steps, each refusing as early as it can: load looks at
** the cubin and the device, bind at the problem and the pointers, launch at
** nothing. A refusal names the condition and the number that broke it.
*/
#include "launch.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dim_names[] = {"M", "N", "K"};
static const char *const ld_names[] = {"lda", "ldb", "ldc"};
static const char *const operand_names[] = {"A", "B", "C"};

__attribute__((format(printf, 2, 3))) static enum loom_status refuse(char *err, const char *format,
                                                                     ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(err, LOOM_ERROR_TEXT, format, args);
  va_end(args);
  return LOOM_REFUSED;
}

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
    return refuse(err, "kernel needs %s, the device is sm_%d%d", k->desc.arch, v[0], v[1]);
  if (k->desc.smem > v[3])
    return refuse(err, "kernel needs %lld B of shared memory, the device has %d",
                  (long long)k->desc.smem, v[3]);
  return LOOM_OK;
}

static enum loom_status find_function(loom_kernel *k, char *err) {
  unsigned count = 0;
  cudaError_t e = cudaLibraryGetKernelCount(&count, k->library);
  if (e != cudaSuccess) return failed(err, "cannot list the cubin's kernels", e);
  if (count != 1) return refuse(err, "cubin holds %u kernels, not one", count);
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
    return refuse(err, "kernel takes %d threads, the descriptor says %lld", a.maxThreadsPerBlock,
                  (long long)k->desc.block);
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
    return refuse(err, "not one %s of the kernel fits on the device",
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
    return refuse(err, "the driver has no cuTensorMapEncodeTiled");
  k->encode = entry.function;
  return LOOM_OK;
}

enum loom_status loom_kernel_load(const void *cubin, size_t size, const loom_desc *desc,
                                  loom_kernel *out, char *err) {
  memset(out, 0, sizeof *out);
  out->desc = *desc;
  if (!loom_whole_elf(cubin, size)) return refuse(err, "not a whole cubin (%zu bytes)", size);
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

/* Bind: legality */

static int64_t lead(const loom_call *call, int operand) {
  int dims[2];
  if (call->ld[operand] != 0) return call->ld[operand];
  loom_stored_dims(call->layout, operand, dims);
  return call->mnk[dims[0]];
}

static const void *pointer(const loom_call *call, int operand) {
  const void *const all[] = {call->a, call->b, call->c};
  return all[operand];
}

static enum loom_status check_kind(const loom_desc *d, const loom_call *call, char *err) {
  if (call->layout != d->layout)
    return refuse(err, "kernel is for layout %s, not %s", loom_layout_name(d->layout),
                  loom_layout_name(call->layout));
  if (call->dtype != d->dtype)
    return refuse(err, "kernel is for %s, not %s", loom_dtype_name(d->dtype),
                  loom_dtype_name(call->dtype));
  if (call->acc != d->acc)
    return refuse(err, "kernel accumulates in %s", d->acc == LOOM_ACC_F16 ? "f16" : "f32");
  return LOOM_OK;
}

static enum loom_status check_dims(const loom_desc *d, const loom_call *call, char *err) {
  for (int i = 0; i < 3; i++) {
    long long v = (long long)call->mnk[i], by = (long long)d->legal_mnk[i];
    if (v < 1 || v > LOOM_MAX_DIM) return refuse(err, "%s=%lld is out of range", dim_names[i], v);
    if (v % by != 0) return refuse(err, "%s=%lld is not a multiple of %lld", dim_names[i], v, by);
    if (d->baked[i] && v != d->baked[i])
      return refuse(err, "%s=%lld, but the kernel is made for %lld alone", dim_names[i], v,
                    (long long)d->baked[i]);
  }
  return LOOM_OK;
}

static enum loom_status check_operands(const loom_desc *d, const loom_call *call, char *err) {
  for (int i = 0; i < 3; i++) {
    int dims[2];
    loom_stored_dims(call->layout, i, dims);
    long long ld = (long long)lead(call, i), row = (long long)call->mnk[dims[0]];
    if (ld < row || ld > INT32_MAX)
      return refuse(err, "%s=%lld for rows of %lld", ld_names[i], ld, row);
    if (ld % d->legal_ld != 0)
      return refuse(err, "%s=%lld is not a multiple of %lld", ld_names[i], ld,
                    (long long)d->legal_ld);
    if ((uintptr_t)pointer(call, i) % (uintptr_t)d->legal_align != 0)
      return refuse(err, "%s is not aligned to %lld bytes", operand_names[i],
                    (long long)d->legal_align);
    if (!pointer(call, i)) return refuse(err, "%s is a null pointer", operand_names[i]);
  }
  return LOOM_OK;
}

static bool has_arg(const loom_desc *d, int arg) {
  for (int i = 0; i < d->nargs; i++)
    if (d->arg[i] == arg) return true;
  return false;
}

/* What a kernel is not told it takes as packed, alpha = 1, beta = 0. */
static enum loom_status check_untold(const loom_desc *d, const loom_call *call, char *err) {
  if (!has_arg(d, LOOM_ARG_ALPHA) && call->alpha != 1.0f)
    return refuse(err, "alpha=%g, but the kernel takes none", (double)call->alpha);
  if (!has_arg(d, LOOM_ARG_BETA) && call->beta != 0.0f)
    return refuse(err, "beta=%g, but the kernel takes none", (double)call->beta);
  for (int i = 0; i < 3; i++) {
    int dims[2];
    bool told = has_arg(d, LOOM_ARG_LDA + i);
    for (int t = 0; t < d->ntensors; t++) told = told || d->tensors[t].operand == i;
    loom_stored_dims(call->layout, i, dims);
    if (!told && lead(call, i) != call->mnk[dims[0]])
      return refuse(err, "%s=%lld, but the kernel takes packed rows of %lld", ld_names[i],
                    (long long)lead(call, i), (long long)call->mnk[dims[0]]);
  }
  if (d->ws_bytes > 0 && !call->ws)
    return refuse(err, "kernel needs a workspace of %lld bytes", (long long)d->ws_bytes);
  return LOOM_OK;
}

static enum loom_status check_tensors(const loom_desc *d, const loom_call *call, char *err) {
  for (int i = 0; i < d->ntensors; i++) {
    int operand = d->tensors[i].operand;
    if (lead(call, operand) % 8 != 0)
      return refuse(err, "%s=%lld is not a multiple of 8 (tensor map)", ld_names[operand],
                    (long long)lead(call, operand));
    if ((uintptr_t)pointer(call, operand) % 16 != 0)
      return refuse(err, "%s is not aligned to 16 bytes (tensor map)", operand_names[operand]);
  }
  return LOOM_OK;
}

enum loom_status loom_legal(const loom_desc *desc, const loom_call *call, char *err) {
  typedef enum loom_status rule(const loom_desc *, const loom_call *, char *);
  static rule *const rules[] = {check_kind, check_dims, check_operands, check_untold,
                                check_tensors};
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    enum loom_status status = rules[i](desc, call, err);
    if (status != LOOM_OK) return status;
  }
  return LOOM_OK;
}

/* Bind: grid */

unsigned loom_grid(const loom_desc *desc, const int64_t mnk[3], int sms) {
  int64_t rows = (mnk[LOOM_M] + desc->tile[0] - 1) / desc->tile[0];
  int64_t columns = (mnk[LOOM_N] + desc->tile[1] - 1) / desc->tile[1];
  if (columns > INT32_MAX / desc->split_k || rows > INT32_MAX / (columns * desc->split_k)) return 0;
  int64_t tiles = rows * columns * desc->split_k;
  if (desc->rule == LOOM_GRID_TILES) return (unsigned)tiles;
  int64_t most = sms * desc->ctas_per_sm;
  int64_t grid = tiles < most ? tiles : most;
  if (grid > desc->cluster) grid -= grid % desc->cluster; /* a persistent grid may be any size */
  return (unsigned)grid;
}

static enum loom_status check_grid(const loom_kernel *k, unsigned grid, char *err) {
  const loom_desc *d = &k->desc;
  if (grid == 0) return refuse(err, "problem has more tiles than a grid holds");
  if (grid % d->cluster != 0)
    return refuse(err, "a grid of %u CTAs is not a multiple of the cluster of %lld", grid,
                  (long long)d->cluster);
  if (!d->resident && !d->cooperative) return LOOM_OK;
  int64_t room = d->cluster > 1 ? k->clusters * d->cluster : (int64_t)k->sms * k->ctas_per_sm;
  if (grid > room)
    return refuse(err, "a grid of %u CTAs must be resident, the device holds %lld", grid,
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
  cuuint64_t stride[1] = {(cuuint64_t)lead(call, t->operand) * 2};
  cuuint32_t box[2] = {(cuuint32_t)t->box[0], (cuuint32_t)t->box[1]};
  cuuint32_t ones[2] = {1, 1};
  union {
    const void *in;
    void *out;
  } address = {pointer(call, t->operand)}; /* a map is read or written through: one type for both */
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
      return refuse(err, "cuTensorMapEncodeTiled refuses '%s' (error %d)", d->tensors[i].name,
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
    const void *p = pointer(call, i);
    memcpy(&out->pointers[i], &p, sizeof p);
    out->mnk[i] = (int32_t)call->mnk[i];
    out->ld[i] = (int32_t)lead(call, i);
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
