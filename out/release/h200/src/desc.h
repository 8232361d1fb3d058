/* desc.h - the launch descriptor, version 1
**
** A descriptor is one JSON line beside each kernel. It says how the kernel is
** launched and what it must not be launched on. lua/desc.lua writes it; this
** reader is the only one in C. It has no dependency and allocates nothing, so
** that the runtime library can carry it.
*/
#ifndef LOOM_DESC_H
#define LOOM_DESC_H

#include <stdbool.h>
#include <stdint.h>

enum {
  LOOM_MAX_ARGS = 24,
  LOOM_MAX_TENSORS = 4,
  LOOM_MAX_NAME = 64, /* kernel, argument and tensor names, with the final 0 */
  LOOM_MAX_KEY = 1024
};

enum loom_layout { LOOM_NN, LOOM_TN, LOOM_NT, LOOM_TT }; /* first letter: A, second: B swapped */
enum loom_dtype { LOOM_F16, LOOM_BF16 };
enum loom_acc { LOOM_ACC_F32, LOOM_ACC_F16 };
enum loom_rule { LOOM_GRID_TILES, LOOM_GRID_PERSISTENT };
enum loom_init {
  LOOM_WS_NONE,
  LOOM_WS_ZERO
}; /* what the workspace holds before the first launch */
enum loom_operand { LOOM_A, LOOM_B, LOOM_C };
enum loom_dim { LOOM_M, LOOM_N, LOOM_K };

/* What a kernel argument is; LOOM_ARG_TENSOR is followed by an index into tensors. */
enum loom_arg {
  LOOM_ARG_A,
  LOOM_ARG_B,
  LOOM_ARG_C,
  LOOM_ARG_M,
  LOOM_ARG_N,
  LOOM_ARG_K,
  LOOM_ARG_LDA,
  LOOM_ARG_LDB,
  LOOM_ARG_LDC,
  LOOM_ARG_ALPHA,
  LOOM_ARG_BETA,
  LOOM_ARG_WS,
  LOOM_ARG_TENSOR
};

struct loom_tensor {
  char name[LOOM_MAX_NAME];
  int operand; /* enum loom_operand */
  int dims[2]; /* enum loom_dim, innermost first: the stored matrix's row length, then its rows */
  int stride;  /* enum loom_operand: whose leading dimension, always the operand's own */
  int64_t box[2];
  int64_t swizzle; /* bytes: 0 32 64 128 */
  int64_t l2;      /* bytes of L2 promotion: 0 64 128 256 */
};

struct loom_desc {
  int64_t version;
  char kernel[LOOM_MAX_NAME];
  char key[LOOM_MAX_KEY];
  char arch[16];
  int layout, dtype, acc;
  int nargs;
  char arg_name[LOOM_MAX_ARGS][LOOM_MAX_NAME];
  int arg[LOOM_MAX_ARGS];        /* enum loom_arg */
  int arg_tensor[LOOM_MAX_ARGS]; /* index into tensors where arg is LOOM_ARG_TENSOR */
  int rule;
  int64_t tile[2]; /* rows, columns of C per tile */
  int64_t split_k, ctas_per_sm;
  int64_t block, cluster, smem;
  bool cooperative, pdl;
  int ntensors;
  struct loom_tensor tensors[LOOM_MAX_TENSORS];
  int64_t ws_bytes;
  int ws_init;
  int64_t legal_mnk[3], legal_ld, legal_align; /* divisors: M N K, leading dimensions, bytes */
  int64_t baked[3];                            /* M N K must equal it; 0: any */
  bool resident;   /* every CTA of the grid must be on the chip at once */
  char error[192]; /* the text loom_desc_parse returns */
};
typedef struct loom_desc loom_desc;

/* Reads one descriptor. NULL, or what is wrong with it; the text lives in *out. */
const char *loom_desc_parse(const char *json, loom_desc *out);

/* Index of a layout's or dtype's name ("tn", "bf16"), -1 for an unknown one; and back. */
int loom_layout_of(const char *name);
int loom_dtype_of(const char *name);
const char *loom_layout_name(int layout);
const char *loom_dtype_name(int dtype);

/* Is the operand's stored matrix the transpose of the mathematical one (A of nt, B of tn ...)? */
bool loom_swapped(int layout, int operand);

/* The two dimensions of an operand as stored: row length first, then number of rows. */
void loom_stored_dims(int layout, int operand, int dims[2]);

#endif
