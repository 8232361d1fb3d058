// matrix.cpp -- 8x8 matrices between shared memory and a warp's registers, and mma.sync on them.
//
// A matrix of 16-bit elements is spread over a warp: lane l holds elements 2*(l%4) and +1 of row
// l/4, in one register. A transposing instruction gives it those of column l/4 instead.
#include "memory.h"
#include "numbers.h"

#include <cstring>

namespace cpu {

namespace {

struct MatrixLane { // operands of ldmatrix or stmatrix
  u32 *to;
  const u32 *from;
  u32 address;
  int count;
  bool trans;
};

struct MmaLane {
  void *d;
  const u32 *a, *b;
};

using Matrix = u16[8][8];

} // namespace

static u32 pair(u16 low, u16 high) { return low | static_cast<u32>(high) << 16; }

static u32 piece(const Matrix &x, int lane, bool trans) {
  const int g = lane / 4, t = lane % 4 * 2;
  return trans ? pair(x[t][g], x[t + 1][g]) : pair(x[g][t], x[g][t + 1]);
}

static void put_piece(Matrix &x, int lane, bool trans, u32 v) {
  const int g = lane / 4, t = lane % 4 * 2;
  const u16 low = static_cast<u16>(v), high = static_cast<u16>(v >> 16);
  (trans ? x[t][g] : x[g][t]) = low;
  (trans ? x[t + 1][g] : x[g][t + 1]) = high;
}

static MatrixLane &matrix_lane(Meeting *m, int lane) {
  return *static_cast<MatrixLane *>(m->operands[lane]);
}

// The rows' addresses: row j of matrix i is what lane 8 * i + j says.
static void count_rows(Meeting *m, Site site) {
  u32 addresses[WARP] = {};
  const int count = matrix_lane(m, 0).count;
  for (int l = 0; l < 8 * count; l++) addresses[l] = matrix_lane(m, l).address;
  count_matrix(site, addresses, count);
}

static unsigned char *row_at(Meeting *m, int lane, const Access &a) {
  const SharedSpan row = shared_at(matrix_lane(m, lane).address, 16, 16, false, a.by.site);
  if (!row) return nullptr;
  shared_touch(*row.cta, row.offset, 16, a);
  return row.bytes;
}

static void load_matrices(Meeting *m, Site site) {
  count_rows(m, site);
  const MatrixLane how = matrix_lane(m, 0);
  const Access read = ordinary(false, site);
  for (int i = 0; i < how.count; i++) {
    Matrix x;
    memset(x, 0xff, sizeof x);
    for (int j = 0; j < 8; j++)
      if (const unsigned char *row = row_at(m, 8 * i + j, read)) memcpy(x[j], row, 16);
    for (int l = 0; l < WARP; l++) matrix_lane(m, l).to[i] = piece(x, l, how.trans);
  }
}

static void store_matrices(Meeting *m, Site site) {
  count_rows(m, site);
  const MatrixLane how = matrix_lane(m, 0);
  const Access write = ordinary(true, site);
  for (int i = 0; i < how.count; i++) {
    Matrix x;
    for (int l = 0; l < WARP; l++) put_piece(x, l, how.trans, matrix_lane(m, l).from[i]);
    for (int j = 0; j < 8; j++)
      if (unsigned char *row = row_at(m, 8 * i + j, write)) memcpy(row, x[j], 16);
  }
}

static void need_whole_warp(Site site) {
  if (me->warp->size != WARP)
    find_and_stop(Kind::DIVERGED, site, 0, "an instruction of 32 lanes in a warp that has only %d",
                  me->warp->size);
}

static Site matrix_site(bool store, int count, bool trans, loom_engine::site at) {
  static const char *const names[2][2][3] = {
      {{"ldmatrix_x1", "ldmatrix_x2", "ldmatrix_x4"},
       {"ldmatrix_x1_trans", "ldmatrix_x2_trans", "ldmatrix_x4_trans"}},
      {{"stmatrix_x1", "stmatrix_x2", "stmatrix_x4"},
       {"stmatrix_x1_trans", "stmatrix_x2_trans", "stmatrix_x4_trans"}}};
  return site_of(names[store][trans][count / 2], at);
}

// ---- mma.sync ----

// a[16][k] and b[k][8] of a warp's fragments; k is 8 or 16.
static void gather(Meeting *m, int k, u16 (&a)[16][16], u16 (&b)[16][8]) {
  for (int l = 0; l < WARP; l++) {
    const MmaLane &lane = *static_cast<MmaLane *>(m->operands[l]);
    const int g = l / 4, t = l % 4 * 2;
    for (int i = 0; i < k / 4; i++)
      for (int h = 0; h < 2; h++)
        a[g + i % 2 * 8][i / 2 * 8 + t + h] = static_cast<u16>(lane.a[i] >> 16 * h);
    for (int i = 0; i < k / 8; i++)
      for (int h = 0; h < 2; h++) b[i * 8 + t + h][g] = static_cast<u16>(lane.b[i] >> 16 * h);
  }
}

static void add_f32(Meeting *m, const float (&product)[16][8]) {
  for (int l = 0; l < WARP; l++) {
    float *d = static_cast<float *>(static_cast<MmaLane *>(m->operands[l])->d);
    for (int i = 0; i < 4; i++) d[i] += product[l / 4 + i / 2 * 8][l % 4 * 2 + i % 2];
  }
}

static void add_f16(Meeting *m, const float (&product)[16][8]) {
  for (int l = 0; l < WARP; l++) {
    u32 *d = static_cast<u32 *>(static_cast<MmaLane *>(m->operands[l])->d);
    for (int i = 0; i < 2; i++) {
      const float *row = &product[l / 4 + i * 8][l % 4 * 2];
      const float low = f16_value(static_cast<u16>(d[i])) + row[0];
      const float high = f16_value(static_cast<u16>(d[i] >> 16)) + row[1];
      d[i] = pair(f16_nearest(low), f16_nearest(high));
    }
  }
}

static void multiply_warp(Meeting *m, int k, Number type, bool f16_acc) {
  u16 a[16][16], b[16][8];
  float x[16][16], y[16][8], product[16][8];
  gather(m, k, a, b);
  for (int r = 0; r < 16; r++) widen(type, &x[0][0] + r * k, a[r], k);
  widen(type, &y[0][0], &b[0][0], 8 * k);
  multiply(&product[0][0], &x[0][0], &y[0][0], 16, 8, k, false);
  if (f16_acc)
    add_f16(m, product);
  else
    add_f32(m, product);
}

} // namespace cpu

namespace loom_engine {

using namespace cpu;

void ldmatrix(u32 *r, int count, bool trans, u32 address, site at) {
  const Site s = matrix_site(false, count, trans, at);
  need_whole_warp(s);
  MatrixLane mine = {r, nullptr, address, count, trans};
  if (Meeting *m = meet_warp(s, &mine)) {
    load_matrices(m, s);
    meeting_over(m);
  }
}

void stmatrix(u32 address, const u32 *r, int count, bool trans, site at) {
  const Site s = matrix_site(true, count, trans, at);
  need_whole_warp(s);
  MatrixLane mine = {nullptr, r, address, count, trans};
  if (Meeting *m = meet_warp(s, &mine)) {
    store_matrices(m, s);
    meeting_over(m);
  }
}

void mma(void *d, const u32 *a, const u32 *b, int k, number type, bool f16_acc, site at) {
  static const char *const names[2][2] = {{"mma_m16n8k8", "mma_m16n8k16"},
                                          {"mma_m16n8k8_f16", "mma_m16n8k16_f16"}};
  const Site s = site_of(names[f16_acc][k == 16], at);
  need_whole_warp(s);
  MmaLane mine = {d, a, b};
  if (Meeting *m = meet_warp(s, &mine)) {
    multiply_warp(m, k, type, f16_acc);
    site_info(s).count.flops += static_cast<uint64_t>(2 * 16 * 8 * k);
    meeting_over(m);
  }
}

} // namespace loom_engine
