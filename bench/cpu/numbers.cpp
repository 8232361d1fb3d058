// numbers.cpp -- see numbers.h.
#include "numbers.h"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace cpu {

static u32 bits_of(float x) {
  u32 b;
  memcpy(&b, &x, sizeof b);
  return b;
}

static float float_of(u32 bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr u32 NAN_BITS = 0x7fffffff; // the NaN of the GPU's arithmetic

// ---- single values ----

float f16_value(u16 bits) {
  const u32 sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return float_of(fraction ? NAN_BITS : sign | 0x7f800000);
  if (exponent == 0) { // a multiple of 2^-24, exactly
    const float x = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -x : x;
  }
  return float_of(sign | (exponent + 112) << 23 | fraction << 13);
}

float bf16_value(u16 bits) { return float_of(static_cast<u32>(bits) << 16); }

// x / 2^shift, to the nearest, ties to even.
static u32 shifted(u32 x, u32 shift) {
  const u32 half = 1u << (shift - 1), rest = x & (2 * half - 1), whole = x >> shift;
  return whole + (rest > half || (rest == half && (whole & 1)));
}

u16 f16_nearest(float x) {
  const u32 bits = bits_of(x), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
  if (size > 0x7f800000) return 0x7fff;
  if (size >= 0x477ff000) return static_cast<u16>(sign | 0x7c00); // from 65520 on
  if (size >= 0x38800000) // a carry out of the fraction raises the exponent, as it should
    return static_cast<u16>(sign | shifted(size - (112u << 23), 13));
  const u32 exponent = size >> 23; // below 2^-14: a count of 2^-24
  if (exponent < 102) return static_cast<u16>(sign);
  return static_cast<u16>(sign | shifted((size & 0x7fffff) | 0x800000, 126 - exponent));
}

u16 bf16_nearest(float x) {
  const u32 bits = bits_of(x);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<u16>((bits & 0x80000000) >> 16 | shifted(bits & 0x7fffffff, 16));
}

static float value_of(Number type, u16 bits) {
  return type == Number::f16 ? f16_value(bits) : bf16_value(bits);
}

// ---- rows, on any machine ----

namespace plain {

void widen(Number type, float *to, const u16 *from, int n) {
  for (int i = 0; i < n; i++) to[i] = value_of(type, from[i]);
}

void widen_columns(Number type, float *to, int stride, const u16 *const rows[8]) {
  for (int r = 0; r < 8; r++)
    for (int k = 0; k < 8; k++) to[k * stride + r] = value_of(type, rows[r][k]);
}

void round_to_f16(float *x, int n) {
  for (int i = 0; i < n; i++) x[i] = f16_value(f16_nearest(x[i]));
}

void multiply(float *d, const float *a, const float *b, int rows, int n, int k, bool accumulate) {
  for (int r = 0; r < rows; r++, d += n, a += k) {
    if (!accumulate) memset(d, 0, sizeof(float) * static_cast<size_t>(n));
    for (int i = 0; i < k; i++)
      for (int j = 0; j < n; j++) d[j] += a[i] * b[i * n + j];
  }
}

} // namespace plain

// ---- rows, eight at once ----

#if defined(__x86_64__)
#define VECTOR __attribute__((target("avx2,f16c,fma")))

// Whatever has AVX2 has F16C, which not every compiler can ask for.
static bool have_vectors() {
  static const bool have = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return have;
}

VECTOR static inline __m256 widen8(Number type, const u16 *from) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i *>(from));
  if (type == Number::f16) return _mm256_cvtph_ps(bits);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

VECTOR static void widen_vector(Number type, float *to, const u16 *from, int n) {
  for (int i = 0; i < n; i += 8) _mm256_storeu_ps(to + i, widen8(type, from + i));
}

// 8 x 8 in three rounds: pairs, fours, halves.
VECTOR static void widen_columns_vector(Number type, float *to, int stride,
                                        const u16 *const rows[8]) {
  __m256 v[8], w[8];
  for (int r = 0; r < 8; r++) v[r] = widen8(type, rows[r]);
  for (int i = 0; i < 8; i += 2) {
    w[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
    w[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
  }
  for (int i = 0; i < 8; i += 4)
    for (int h = 0; h < 2; h++) {
      v[i + 2 * h] = _mm256_shuffle_ps(w[i + h], w[i + h + 2], 0x44);
      v[i + 2 * h + 1] = _mm256_shuffle_ps(w[i + h], w[i + h + 2], 0xee);
    }
  for (int i = 0; i < 4; i++) {
    _mm256_storeu_ps(to + i * stride, _mm256_permute2f128_ps(v[i], v[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * stride, _mm256_permute2f128_ps(v[i], v[i + 4], 0x31));
  }
}

VECTOR static void round_vector(float *x, int n) {
  for (int i = 0; i < n; i += 8) {
    const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
    _mm256_storeu_ps(x + i, _mm256_cvtph_ps(half));
  }
}

// The loops over them are no loops, so that the sums stay in registers.
#define UNROLLED _Pragma("GCC unroll 4")

// Four rows by 8 * wide columns.
template <int wide>
VECTOR static inline void multiply_block(float *d, const float *a, const float *b, int n, int k,
                                         bool accumulate) {
  __m256 sum[4][wide];
  UNROLLED
  for (int r = 0; r < 4; r++) UNROLLED
  for (int j = 0; j < wide; j++)
    sum[r][j] = accumulate ? _mm256_loadu_ps(d + r * n + 8 * j) : _mm256_setzero_ps();
  for (int i = 0; i < k; i++) {
    __m256 line[wide];
    UNROLLED
    for (int j = 0; j < wide; j++) line[j] = _mm256_loadu_ps(b + i * n + 8 * j);
    UNROLLED
    for (int r = 0; r < 4; r++) {
      const __m256 x = _mm256_broadcast_ss(a + r * k + i);
      UNROLLED
      for (int j = 0; j < wide; j++) sum[r][j] = _mm256_fmadd_ps(x, line[j], sum[r][j]);
    }
  }
  UNROLLED
  for (int r = 0; r < 4; r++) UNROLLED
  for (int j = 0; j < wide; j++) _mm256_storeu_ps(d + r * n + 8 * j, sum[r][j]);
}

VECTOR static void multiply_vector(float *d, const float *a, const float *b, int rows, int n, int k,
                                   bool accumulate) {
  for (int r = 0; r < rows; r += 4) {
    int j = 0;
    for (; j + 16 <= n; j += 16)
      multiply_block<2>(d + r * n + j, a + r * k, b + j, n, k, accumulate);
    if (j < n) multiply_block<1>(d + r * n + j, a + r * k, b + j, n, k, accumulate);
  }
}

#define EITHER(vector, other) (have_vectors() ? vector : other)
#else
#define EITHER(vector, other) other
#endif

void widen(Number type, float *to, const u16 *from, int n) {
  EITHER(widen_vector(type, to, from, n), plain::widen(type, to, from, n));
}

void widen_columns(Number type, float *to, int stride, const u16 *const rows[8]) {
  EITHER(widen_columns_vector(type, to, stride, rows),
         plain::widen_columns(type, to, stride, rows));
}

void round_to_f16(float *x, int n) { EITHER(round_vector(x, n), plain::round_to_f16(x, n)); }

void multiply(float *d, const float *a, const float *b, int rows, int n, int k, bool accumulate) {
  EITHER(multiply_vector(d, a, b, rows, n, k, accumulate),
         plain::multiply(d, a, b, rows, n, k, accumulate));
}

} // namespace cpu

namespace loom_engine {

float to_float(number type, u16 bits) {
  return type == number::f16 ? cpu::f16_value(bits) : cpu::bf16_value(bits);
}

u16 from_float(number type, float x) {
  return type == number::f16 ? cpu::f16_nearest(x) : cpu::bf16_nearest(x);
}

} // namespace loom_engine
