// operation.cpp -- one wgmma: its operands in shared memory, and the product.
#include "memory.h"
#include "wgmma_queue.h"

#include <algorithm>

namespace cpu {

// ---- operands ----

// Chunks of an operand: `lines` across and `chunks` along.
struct Extent {
  int lines, chunks;
};
static Extent extent_of(const Operand &o, int mn) {
  return o.mn_major ? Extent{WGMMA_K, mn / 8} : Extent{mn, WGMMA_K / 8};
}

// Marks its chunks and checks them, run by run.
bool operand_touch(Cta &c, const Operand &o, int mn, const Access &a) {
  static std::vector<uint64_t> marks((OFFSET_MASK + 1) / 16 / 64);
  const Extent e = extent_of(o, mn);
  u32 low = UINT32_MAX, high = 0;
  for (int i = 0; i < e.lines; i++)
    for (int j = 0; j < e.chunks; j++) {
      const u32 at = chunk_address(o, i, j) & OFFSET_MASK;
      marks[at / 16 / 64] |= 1ull << at / 16 % 64;
      low = std::min(low, at);
      high = std::max(high, at);
    }
  const u32 rank = static_cast<u32>(c.rank) << RANK_SHIFT;
  const bool inside =
      static_cast<bool>(shared_at(rank | low, high + 16 - low, 16, false, a.by.site));
  u32 begin = 0, end = 0; // a run of chunks
  for (u32 word = low / 16 / 64; word <= high / 16 / 64; word++) {
    for (; marks[word]; marks[word] &= marks[word] - 1) {
      const u32 at = (word * 64 + static_cast<u32>(__builtin_ctzll(marks[word]))) * 16;
      if (inside && at != end && end) shared_touch(c, begin - SMEM_BASE, end - begin, a);
      if (at != end) begin = at;
      end = at + 16;
    }
  }
  if (inside) shared_touch(c, begin - SMEM_BASE, end - begin, a);
  return inside;
}

// ---- an operation is carried out ----

static const u16 *chunk_at(const Cta &c, const Operand &o, int line, int chunk) {
  const u32 offset = (chunk_address(o, line, chunk) & OFFSET_MASK) - SMEM_BASE;
  return reinterpret_cast<const u16 *>(c.smem.data() + offset);
}

// To x[16][mn].
static void read_by_k(const Cta &c, const Operand &o, Number type, int mn, float *x) {
  const Extent e = extent_of(o, mn);
  if (o.mn_major) {
    for (int k = 0; k < e.lines; k++)
      for (int j = 0; j < e.chunks; j++) widen(type, x + k * mn + 8 * j, chunk_at(c, o, k, j), 8);
    return;
  }
  for (int i = 0; i < e.lines; i += 8)
    for (int j = 0; j < e.chunks; j++) {
      const u16 *rows[8];
      for (int r = 0; r < 8; r++) rows[r] = chunk_at(c, o, i + r, j);
      widen_columns(type, x + 8 * j * mn + i, mn, rows);
    }
}

// To x[mn][16].
static void read_by_mn(const Cta &c, const Operand &o, Number type, int mn, float *x) {
  const Extent e = extent_of(o, mn);
  if (!o.mn_major) {
    for (int i = 0; i < e.lines; i++)
      for (int j = 0; j < e.chunks; j++)
        widen(type, x + i * WGMMA_K + 8 * j, chunk_at(c, o, i, j), 8);
    return;
  }
  for (int k = 0; k < e.lines; k += 8)
    for (int j = 0; j < e.chunks; j++) {
      const u16 *lines[8];
      for (int r = 0; r < 8; r++) lines[r] = chunk_at(c, o, k + r, j);
      widen_columns(type, x + 8 * j * WGMMA_K + k, WGMMA_K, lines);
    }
}

static void read_fragment(const Fragment &f, Number type, float *x) {
  u16 row[WGMMA_M][WGMMA_K];
  for (int i = 0; i < WARPGROUP; i++)
    for (int r = 0; r < 4; r++)
      for (int h = 0; h < 2; h++) {
        const int m = i / WARP * 16 + i % WARP / 4 + r % 2 * 8, k = r / 2 * 8 + i % 4 * 2 + h;
        row[m][k] = static_cast<u16>(f.bits[i][r] >> 16 * h);
      }
  widen(type, x, &row[0][0], WGMMA_M * WGMMA_K);
}

void operation_carry_out(const Cta &c, const Operation &o) {
  static float a[WGMMA_M * WGMMA_K], b[WGMMA_K * WGMMA_N];
  Tile &t = *o.tile;
  if (!o.usable) {
    std::fill(t.value.begin(), t.value.end(), __builtin_nanf(""));
    return;
  }
  if (o.fragment)
    read_fragment(*o.fragment, o.type, a);
  else
    read_by_mn(c, o.a, o.type, WGMMA_M, a);
  read_by_k(c, o.b, o.type, o.n, b);
  multiply(t.value.data(), a, b, WGMMA_M, o.n, WGMMA_K, o.accumulate);
  if (t.f16_acc) round_to_f16(t.value.data(), WGMMA_M * o.n);
}

} // namespace cpu
