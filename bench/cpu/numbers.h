// numbers.h -- f16 and bf16: single values as the GPU's cvt.rn makes them, and rows of them for the
// tensor cores' products.
//
// Products are of floats: an f16 or bf16 is one exactly, and so is the product of two. Sums are
// float too, in an order of their own. AVX2 does the rows where the machine has it.
#pragma once

#include "loom_engine.h"

namespace cpu {

using Number = loom_engine::number;

float f16_value(u16 bits);
float bf16_value(u16 bits);
u16 f16_nearest(float x); // ties to even; a NaN becomes 0x7fff
u16 bf16_nearest(float x);

// A row of n values, a multiple of 8, as floats.
void widen(Number type, float *to, const u16 *from, int n);
// Eight rows of 8 values, transposed: value k of row r goes to to[k * stride + r].
void widen_columns(Number type, float *to, int stride, const u16 *const rows[8]);
// Each float to the nearest f16, and back.
void round_to_f16(float *x, int n);

// d[rows][n] = a[rows][k] * b[k][n], added to d where `accumulate`. rows: a multiple of 4, n: of 8.
void multiply(float *d, const float *a, const float *b, int rows, int n, int k, bool accumulate);

// The same without the machine's vectors: what other machines run, and what tests compare with.
namespace plain {
void widen(Number type, float *to, const u16 *from, int n);
void widen_columns(Number type, float *to, int stride, const u16 *const rows[8]);
void round_to_f16(float *x, int n);
void multiply(float *d, const float *a, const float *b, int rows, int n, int k, bool accumulate);
} // namespace plain

} // namespace cpu
