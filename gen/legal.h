/* legal.h - what a descriptor allows, and the grid of a problem: no CUDA here
**
** The CUDA launcher (launch.h) and the CPU device link this.
*/
#ifndef LOOM_LEGAL_H
#define LOOM_LEGAL_H

/* The largest M, N or K: kernels add a tile to one in int32. */
#define LOOM_MAX_DIM 0x40000000

#include "desc.h"

enum { LOOM_ERROR_TEXT = 256 }; /* size of every 'err' buffer */

enum loom_status {
  LOOM_OK,
  LOOM_REFUSED, /* the descriptor or the device does not allow it; nothing was started */
  LOOM_FAILED   /* CUDA said no */
};

/* What to multiply: C = alpha*A*B + beta*C. A leading dimension of 0 means packed. */
typedef struct loom_call {
  int layout, dtype, acc; /* enum loom_layout, loom_dtype, loom_acc */
  int64_t mnk[3];         /* M N K */
  int64_t ld[3];          /* lda ldb ldc, elements */
  const void *a, *b;
  void *c, *ws; /* ws: at least ws_bytes of the descriptor, in the state ws_init asks for */
  float alpha, beta;
} loom_call;

/* May this descriptor run this call? If not, 'err' names the condition and the number that broke it. */
enum loom_status loom_legal(const loom_desc *desc, const loom_call *call, char *err);

/* CTAs of a problem under the descriptor's grid rule; 0 if more than a grid can hold. */
unsigned loom_grid(const loom_desc *desc, const int64_t mnk[3], int sms);

/* Leading dimension and address of an operand (LOOM_A, LOOM_B, LOOM_C) of a call. */
int64_t loom_lead(const loom_call *call, int operand);
const void *loom_pointer(const loom_call *call, int operand);

/* Writes a refusal's text. */
__attribute__((format(printf, 2, 3))) enum loom_status loom_refuse(char *err, const char *format,
                                                                   ...);

#endif
