// registers.cpp -- accumulators and fragments of wgmma: between a warpgroup's registers and rows.
//
// Thread t of the 128 (warp w, lane l) holds, of every 8 columns, columns 2*(l%4) and +1 of rows
// 16*w + l/4 and 16*w + l/4 + 8. The arrays are other threads' locals, and one that is not in
// use may have been left: reading it is harmless, but no business of an address sanitizer's.
#include "wgmma_queue.h"

#include <cstring>

#define OTHERS_LOCALS __attribute__((no_sanitize("address")))

namespace cpu {

constexpr u32 POISON = 0x7fdd7fdd; // a NaN as one float, and as two of f16

static size_t first_at(const Tile &t, int thread) { // of a thread's elements in value
  const int row = thread / WARP * 16 + thread % WARP / 4;
  return static_cast<size_t>(row * t.n + thread % 4 * 2);
}

static u32 pair_of(const float *x) {
  return f16_nearest(x[0]) | static_cast<u32>(f16_nearest(x[1])) << 16;
}

static void unpack(u32 bits, float *x) {
  x[0] = f16_value(static_cast<u16>(bits));
  x[1] = f16_value(static_cast<u16>(bits >> 16));
}

// Two neighbours to value; had value others?
static bool differs(float *value, const float *now) {
  uint64_t old, fresh;
  memcpy(&old, value, sizeof old);
  memcpy(&fresh, now, sizeof fresh);
  memcpy(value, &fresh, sizeof fresh);
  return old != fresh;
}

OTHERS_LOCALS static bool take_f32(Tile &t, int thread) {
  const float *d = static_cast<const float *>(t.d[thread]);
  float *upper = &t.value[first_at(t, thread)], *lower = upper + 8 * t.n;
  bool changed = false;
  for (int j = 0; j < t.n; j += 8, d += 4) {
    const float pairs[4] = {d[0], d[1], d[2], d[3]};
    changed |= differs(upper + j, pairs);
    changed |= differs(lower + j, pairs + 2);
  }
  return changed;
}

OTHERS_LOCALS static bool take_f16(Tile &t, int thread) {
  const u32 *d = static_cast<const u32 *>(t.d[thread]);
  float *upper = &t.value[first_at(t, thread)], *lower = upper + 8 * t.n;
  bool changed = false;
  for (int j = 0; j < t.n; j += 8, d += 2) {
    float pairs[4];
    unpack(d[0], pairs);
    unpack(d[1], pairs + 2);
    changed |= differs(upper + j, pairs);
    changed |= differs(lower + j, pairs + 2);
  }
  return changed;
}

bool tile_take(Tile &t) {
  bool changed = false;
  for (int i = 0; i < WARPGROUP; i++) changed |= t.f16_acc ? take_f16(t, i) : take_f32(t, i);
  return !changed;
}

static void give_f32(const Tile &t, int thread) {
  float *d = static_cast<float *>(t.d[thread]);
  const float *upper = &t.value[first_at(t, thread)], *lower = upper + 8 * t.n;
  for (int j = 0; j < t.n; j += 8, d += 4) {
    memcpy(d, upper + j, 8);
    memcpy(d + 2, lower + j, 8);
  }
}

static void give_f16(const Tile &t, int thread) {
  u32 *d = static_cast<u32 *>(t.d[thread]);
  const float *upper = &t.value[first_at(t, thread)], *lower = upper + 8 * t.n;
  for (int j = 0; j < t.n; j += 8, d += 2) {
    d[0] = pair_of(upper + j);
    d[1] = pair_of(lower + j);
  }
}

void tile_give(const Tile &t) {
  for (int i = 0; i < WARPGROUP; i++) t.f16_acc ? give_f16(t, i) : give_f32(t, i);
}

static int register_count(const Tile &t) { return t.f16_acc ? t.n / 4 : t.n / 2; }

void tile_poison(Tile &t) {
  const int n = register_count(t);
  for (int i = 0; i < WARPGROUP; i++) {
    u32 *d = static_cast<u32 *>(t.d[i]);
    for (int j = 0; j < n; j++) d[j] = POISON;
  }
}

OTHERS_LOCALS bool tile_poisoned(const Tile &t) {
  const int n = register_count(t);
  u32 other = 0;
  for (int i = 0; i < WARPGROUP; i++) {
    const u32 *d = static_cast<const u32 *>(t.d[i]);
    for (int j = 0; j < n; j++) other |= d[j] ^ POISON;
  }
  return other == 0;
}

OTHERS_LOCALS bool fragment_take(Fragment &f) {
  u32 other = 0;
  for (int i = 0; i < WARPGROUP; i++)
    for (int j = 0; j < 4; j++) {
      other |= f.bits[i][j] ^ f.at[i][j];
      f.bits[i][j] = f.at[i][j];
    }
  return other == 0;
}

OTHERS_LOCALS void frames_take(Frames &f, const void *begin, const void *end) {
  f.begin = static_cast<const unsigned char *>(begin);
  f.bytes.resize(static_cast<size_t>(static_cast<const unsigned char *>(end) - f.begin));
  for (size_t i = 0; i < f.bytes.size(); i++) f.bytes[i] = f.begin[i];
}

OTHERS_LOCALS bool frames_hold(const Frames &f, const void *at, size_t bytes) {
  const unsigned char *now = static_cast<const unsigned char *>(at);
  if (now < f.begin || now + bytes > f.begin + f.bytes.size()) return true;
  const unsigned char *then = f.bytes.data() + (now - f.begin);
  unsigned char other = 0;
  for (size_t i = 0; i < bytes; i++) other |= static_cast<unsigned char>(now[i] ^ then[i]);
  return other == 0;
}

} // namespace cpu
