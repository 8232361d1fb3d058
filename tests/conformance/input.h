/* input.h - the input words of conformance cases: functions of the case and the index
**
** Shared by the runners on the GPU and on the CPU, C and C++. Integers small enough that sums of
** products are exact in every accumulator.
*/
#ifndef CONFORM_INPUT_H
#define CONFORM_INPUT_H

#include <stdint.h>

enum conform_input {
  IN_BITS,     /* random bits */
  IN_F16,      /* two f16 integers, -3..3 */
  IN_BF16,     /* two bf16 integers, -3..3 */
  IN_NEAR_F16, /* floats around f16's limits, many halfway between two f16 */
  IN_NEAR_BF16
};

/* What 'out' holds before the kernel runs. */
#define CONFORM_UNTOUCHED 0xa5a5a5a5u

static inline uint32_t conform_hash(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return (uint32_t)(x ^ (x >> 33));
}

static inline uint64_t conform_fnv(const void *bytes, uint64_t size) {
  const unsigned char *b = (const unsigned char *)bytes;
  uint64_t h = 0xcbf29ce484222325ULL;
  for (uint64_t i = 0; i < size; i++) h = (h ^ b[i]) * 0x100000001b3ULL;
  return h;
}

static inline uint32_t conform_integer(uint32_t r, int bf16) {
  static const uint16_t half[] = {0xc200, 0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000, 0x4200};
  static const uint16_t brain[] = {0xc040, 0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000, 0x4040};
  return bf16 ? brain[r % 7] : half[r % 7];
}

/* A float whose exponent is within `low`..`low + span` and whose mantissa has `keep` random bits and,
** below them, one of the patterns that decide how it is rounded. Now and then 0, inf or a NaN. */
static inline uint32_t conform_near(uint32_t r, uint32_t low, uint32_t span, int keep) {
  static const uint32_t special[] = {0x00000000, 0x7f800000, 0x7fc00000, 0x00000001,
                                     0x7f7fffff, 0x007fffff, 0x00800000, 0x7f800001};
  uint32_t rest = 23u - (uint32_t)keep, half = 1u << (rest - 1);
  const uint32_t below[] = {0, half, half - 1, half + 1, 2 * half - 1, 1};
  uint32_t sign = r >> 31 << 31;
  if (r % 16 == 0) return sign | special[r / 16 % 8];
  uint32_t exponent = low + r / 16 % span, mantissa = (r >> 9) & ((1u << keep) - 1);
  return sign | exponent << 23 | mantissa << rest | below[(r >> 20) % 6];
}

static inline uint32_t conform_word(enum conform_input kind, uint32_t salt, uint32_t i) {
  uint32_t r = conform_hash((uint64_t)salt << 32 | i);
  switch (kind) {
  case IN_F16:
    return conform_integer(r & 0xffff, 0) | conform_integer(r >> 16, 0) << 16;
  case IN_BF16:
    return conform_integer(r & 0xffff, 1) | conform_integer(r >> 16, 1) << 16;
  case IN_NEAR_F16:
    return conform_near(r, 127 - 27, 45, 10);
  case IN_NEAR_BF16:
    return conform_near(r, i % 2 ? 0 : 100, i % 2 ? 3 : 155, 7);
  default:
    return r;
  }
}

#endif
