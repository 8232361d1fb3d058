/* legal.c - may this descriptor run this call, and on how many CTAs?
**
** The launcher asks here before it starts a kernel on a GPU, the CPU device before
** it runs one: both refuse the same calls, in the same words.
*/
#include "legal.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const dim_names[] = {"M", "N", "K"};
static const char *const ld_names[] = {"lda", "ldb", "ldc"};
static const char *const operand_names[] = {"A", "B", "C"};

enum loom_status loom_refuse(char *err, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(err, LOOM_ERROR_TEXT, format, args);
  va_end(args);
  return LOOM_REFUSED;
}

int64_t loom_lead(const loom_call *call, int operand) {
  int dims[2];
  if (call->ld[operand] != 0) return call->ld[operand];
  loom_stored_dims(call->layout, operand, dims);
  return call->mnk[dims[0]];
}

const void *loom_pointer(const loom_call *call, int operand) {
  const void *const all[] = {call->a, call->b, call->c};
  return all[operand];
}

static enum loom_status check_kind(const loom_desc *d, const loom_call *call, char *err) {
  if (call->layout != d->layout)
    return loom_refuse(err, "kernel is for layout %s, not %s", loom_layout_name(d->layout),
                       loom_layout_name(call->layout));
  if (call->dtype != d->dtype)
    return loom_refuse(err, "kernel is for %s, not %s", loom_dtype_name(d->dtype),
                       loom_dtype_name(call->dtype));
  if (call->acc != d->acc)
    return loom_refuse(err, "kernel accumulates in %s", d->acc == LOOM_ACC_F16 ? "f16" : "f32");
  return LOOM_OK;
}

static enum loom_status check_dims(const loom_desc *d, const loom_call *call, char *err) {
  for (int i = 0; i < 3; i++) {
    long long v = (long long)call->mnk[i], by = (long long)d->legal_mnk[i];
    if (v < 1 || v > LOOM_MAX_DIM)
      return loom_refuse(err, "%s=%lld is out of range", dim_names[i], v);
    if (v % by != 0)
      return loom_refuse(err, "%s=%lld is not a multiple of %lld", dim_names[i], v, by);
    if (d->baked[i] && v != d->baked[i])
      return loom_refuse(err, "%s=%lld, but the kernel is made for %lld alone", dim_names[i], v,
                         (long long)d->baked[i]);
  }
  return LOOM_OK;
}

static enum loom_status check_operands(const loom_desc *d, const loom_call *call, char *err) {
  for (int i = 0; i < 3; i++) {
    int dims[2];
    loom_stored_dims(call->layout, i, dims);
    long long ld = (long long)loom_lead(call, i), row = (long long)call->mnk[dims[0]];
    if (ld < row || ld > INT32_MAX)
      return loom_refuse(err, "%s=%lld for rows of %lld", ld_names[i], ld, row);
    if (ld % d->legal_ld != 0)
      return loom_refuse(err, "%s=%lld is not a multiple of %lld", ld_names[i], ld,
                         (long long)d->legal_ld);
    if ((uintptr_t)loom_pointer(call, i) % (uintptr_t)d->legal_align != 0)
      return loom_refuse(err, "%s is not aligned to %lld bytes", operand_names[i],
                         (long long)d->legal_align);
    if (!loom_pointer(call, i)) return loom_refuse(err, "%s is a null pointer", operand_names[i]);
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
    return loom_refuse(err, "alpha=%g, but the kernel takes none", (double)call->alpha);
  if (!has_arg(d, LOOM_ARG_BETA) && call->beta != 0.0f)
    return loom_refuse(err, "beta=%g, but the kernel takes none", (double)call->beta);
  for (int i = 0; i < 3; i++) {
    int dims[2];
    bool told = has_arg(d, LOOM_ARG_LDA + i);
    for (int t = 0; t < d->ntensors; t++) told = told || d->tensors[t].operand == i;
    loom_stored_dims(call->layout, i, dims);
    if (!told && loom_lead(call, i) != call->mnk[dims[0]])
      return loom_refuse(err, "%s=%lld, but the kernel takes packed rows of %lld", ld_names[i],
                         (long long)loom_lead(call, i), (long long)call->mnk[dims[0]]);
  }
  if (d->ws_bytes > 0 && !call->ws)
    return loom_refuse(err, "kernel needs a workspace of %lld bytes", (long long)d->ws_bytes);
  return LOOM_OK;
}

static enum loom_status check_tensors(const loom_desc *d, const loom_call *call, char *err) {
  for (int i = 0; i < d->ntensors; i++) {
    int operand = d->tensors[i].operand;
    if (loom_lead(call, operand) % 8 != 0)
      return loom_refuse(err, "%s=%lld is not a multiple of 8 (tensor map)", ld_names[operand],
                         (long long)loom_lead(call, operand));
    if ((uintptr_t)loom_pointer(call, operand) % 16 != 0)
      return loom_refuse(err, "%s is not aligned to 16 bytes (tensor map)", operand_names[operand]);
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
