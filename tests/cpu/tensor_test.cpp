// tensor_test.cpp -- descriptors, matrices, mma, wgmma: what each computes, in the plainest way to say it.
//
// Kernels here are functions that the CPU device runs; their results go to ordinary arrays, by the
// thread's number. Values are small integers, so that every sum is exact.
#include "loom.cuh"

#include "descriptor.h"
#include "memory.h"
#include "numbers.h"
#include "ok.h"

#include <cstring>

namespace {

using cpu::Number;

constexpr u32 SMEM = 128 << 10;

u32 at(u32 offset) { return smem_base() + offset; }
int value(int i, int j) { return (i * 7 + j * 3 + i * j) % 9 - 4; }

bool launch(void (*kernel)(void **), unsigned block, int number) {
  cpu::findings_clear();
  cpu::Launch l;
  l.entry = kernel;
  l.block = block;
  l.smem = SMEM;
  l.schedule = cpu::schedule_of(number, 1);
  cpu::launch(l);
  if (!cpu::findings().empty()) printf("# %s", cpu::findings_text().c_str());
  return cpu::findings().empty();
}

// ---- descriptors ----

// Chunks are exchanged by the line's number within the pattern of 8: said without address bits.
u32 placed(int swizzle, u32 base, u32 line, u32 chunk) {
  const u32 w = swizzle ? (u32)swizzle : 16;
  const u32 turn = swizzle == 128  ? line % 8
                   : swizzle == 64 ? line / 2 % 4
                   : swizzle       ? line / 4 % 2
                                   : 0;
  return base + line % 8 * w + 16 * (chunk ^ turn);
}

struct Layout {
  int swizzle, major;
  u32 leading, stride;
};

// Where element (mn, k) lies, in the picture of a tile that `start` bytes of a line precede.
u32 oracle(const Layout &l, u32 base, u32 skip, int mn, int k) {
  const u32 m = (u32)mn, q = (u32)k, w = (u32)l.swizzle;
  if (l.major == K_MAJOR) {
    if (!w) return base + m / 8 * l.stride + m % 8 * 16 + q / 8 * l.leading + q % 8 * 2;
    return placed(l.swizzle, base + m / 8 * l.stride, m, skip / 16 + q / 8) + q % 8 * 2;
  }
  if (!w) return base + m / 8 * l.stride + q / 8 * l.leading + q % 8 * 16 + m % 8 * 2;
  const u32 block = m / (w / 2), in_block = m % (w / 2);
  return placed(l.swizzle, base + block * l.leading + q / 8 * l.stride, q, in_block / 8) +
         m % 8 * 2;
}

const Layout layouts[] = {
    {0, K_MAJOR, 128, 256},      {0, K_MAJOR, 4096, 128},     {32, K_MAJOR, 16, 256},
    {64, K_MAJOR, 16, 512},      {128, K_MAJOR, 16, 1024},    {0, MN_MAJOR, 128, 256},
    {0, MN_MAJOR, 4096, 128},    {32, MN_MAJOR, 1024, 256},   {64, MN_MAJOR, 1024, 512},
    {128, MN_MAJOR, 2048, 1024}, {128, MN_MAJOR, 8192, 1024},
};

u64 describe(const Layout &l, u32 start) {
  switch (l.swizzle) {
  case 0:
    return smem_desc<0>(start, l.leading, l.stride);
  case 32:
    return smem_desc<32>(start, l.leading, l.stride);
  case 64:
    return smem_desc<64>(start, l.leading, l.stride);
  default:
    return smem_desc<128>(start, l.leading, l.stride);
  }
}

bool same_places(const Layout &l, u32 skip) {
  cpu::Operand o;
  if (cpu::operand_of(describe(l, 0x2000 + skip), l.major == MN_MAJOR, &o)) return false;
  for (int mn = 0; mn < 256; mn++)
    for (int k = 0; k < 16; k++) {
      const bool by_k = l.major == K_MAJOR;
      const u32 chunk = cpu::chunk_address(o, by_k ? mn : k, (by_k ? k : mn) / 8);
      if (chunk + (u32)(by_k ? k : mn) % 8 * 2 != oracle(l, 0x2000, skip, mn, k)) return false;
    }
  return true;
}

void test_descriptors() {
  for (const Layout &l : layouts)
    for (u32 skip = 0; skip < (l.major == K_MAJOR && l.swizzle ? (u32)l.swizzle : 1); skip += 32)
      ok(same_places(l, skip), "%s-major, swizzle %d, offsets %u %u, %u bytes into the line",
         l.major == K_MAJOR ? "K" : "MN", l.swizzle, l.leading, l.stride, skip);
  cpu::Operand o;
  ok(cpu::operand_of(smem_desc(0x2000, 16, 1024) | 1ull << 49, false, &o) != nullptr,
     "a base offset");
  ok(cpu::operand_of(smem_desc(0x2000, 16, 1024) + (1 << 14), false, &o) != nullptr, "an overflow");
}

// ---- matrices ----

u32 results[128][128]; // by thread

void put_row(u32 address, int row) { // 8 elements 100 * row + column
  words<4> v;
  for (u32 i = 0; i < 4; i++)
    v.w[i] = ((u32)(100 * row) + 2 * i) | ((u32)(100 * row) + 2 * i + 1) << 16;
  sts_words<4>(address, v);
}

void matrices(void **) {
  const u32 lane = threadIdx.x;
  put_row(at(16 * (lane ^ 3)), (int)lane); // row l lies at another row's place
  warp_sync();
  u32 r[4], *out = results[lane];
  ldmatrix_x4(r, at(16 * (lane ^ 3)));
  for (int i = 0; i < 4; i++) out[i] = r[i];
  ldmatrix_x4_trans(r, at(16 * (lane ^ 3)));
  for (int i = 0; i < 4; i++) out[4 + i] = r[i];
  u32 two[2], one[1];
  ldmatrix_x2(two, lane < 16 ? at(16 * (lane ^ 3)) : 1); // only the first 16 lanes' addresses count
  ldmatrix_x1_trans(one, lane < 8 ? at(16 * (lane ^ 3)) : 1);
  out[8] = two[0] == out[0] && two[1] == out[1] && one[0] == out[4];
  stmatrix_x4(at(1024 + 16 * (31 - lane)), out[0], out[1], out[2], out[3]);
  stmatrix_x4_trans(at(2048 + 16 * (31 - lane)), out[4], out[5], out[6], out[7]);
  warp_sync();
  for (u32 i = 0; i < 4; i++) {
    out[9 + i] = lds_words<4>(at(1024 + 16 * (31 - lane))).w[i];
    out[13 + i] = lds_words<4>(at(2048 + 16 * (31 - lane))).w[i];
  }
}

u32 two_of(int row, int column, int next_row, int next_column) {
  return (u32)(100 * row + column) | (u32)(100 * next_row + next_column) << 16;
}

void test_matrices() {
  bool right = launch(matrices, 32, 0);
  for (int l = 0; l < 32; l++) {
    const u32 *r = results[l];
    const int g = l / 4, t = l % 4 * 2;
    for (int i = 0; i < 4; i++) {
      right = right && r[i] == two_of(8 * i + g, t, 8 * i + g, t + 1);
      right = right && r[4 + i] == two_of(8 * i + t, g, 8 * i + t + 1, g);
      right = right && r[9 + i] == two_of(l, 2 * i, l, 2 * i + 1) && r[13 + i] == r[9 + i];
    }
    right = right && r[8];
  }
  ok(right, "ldmatrix and stmatrix of 1, 2 and 4 matrices, transposed or not");
}

u32 pair_at(int row, int column, int next_row, int next_column) {
  return pack<f16>((float)value(row, column), (float)value(next_row, next_column));
}

void products(void **) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
  u32 a[4], half[2], b[2];
  for (int i = 0; i < 4; i++) {
    const int row = g + i % 2 * 8, k = t + i / 2 * 8;
    a[i] = pair_at(row, k, row, k + 1);
  }
  for (int i = 0; i < 2; i++) {
    half[i] = a[i];
    b[i] = pair_at(50 + t + 8 * i, g, 51 + t + 8 * i, g);
  }
  float d[2][4] = {{1, 2, 3, 4}, {1, 2, 3, 4}};
  u32 h[2][2] = {{pack<f16>(1, 2), pack<f16>(3, 4)}, {pack<f16>(1, 2), pack<f16>(3, 4)}};
  mma_m16n8k16<f16>(d[0], a, b[0], b[1]);
  mma_m16n8k8<f16>(d[1], half, b[0]);
  mma_m16n8k16_f16(h[0], a, b[0], b[1]);
  mma_m16n8k8_f16(h[1], half, b[0]);
  for (int i = 0; i < 2; i++) {
    memcpy(&results[threadIdx.x][8 * i], d[i], 16);
    memcpy(&results[threadIdx.x][8 * i + 4], h[i], 8);
  }
}

void test_products() {
  bool right = launch(products, 32, 0);
  for (int l = 0; l < 32; l++)
    for (int deep = 0; deep < 2; deep++)
      for (int i = 0; i < 4; i++) {
        const int row = l / 4 + i / 2 * 8, column = l % 4 * 2 + i % 2;
        float sum = (float)(i + 1), got;
        for (int k = 0; k < (deep ? 8 : 16); k++)
          sum += (float)(value(row, k) * value(50 + k, column));
        const u32 *r = results[l] + 8 * deep;
        memcpy(&got, r + i, 4);
        const u16 half = (u16)(r[4 + i / 2] >> 16 * (i % 2));
        right = right && got == sum && loom_engine::to_float(Number::f16, half) == sum;
      }
  ok(right, "mma of 8 and 16 k, with sums in f32 and f16");
}

// ---- wgmma ----

struct Multiply { // what the kernel below does
  Layout a, b;
  Number type;
  bool f16_acc, registers;
} now;

u16 bits_of(int x) { return loom_engine::from_float(now.type, (float)x); }

void put(const Layout &l, u32 base, int rows, int seed) {
  for (int i = (int)threadIdx.x; i < rows * 16; i += 128) {
    const u32 byte = oracle(l, base, 0, i / 16, i % 16) - cpu::SMEM_BASE;
    const u16 bits = bits_of(value(seed + i / 16, i % 16));
    memcpy(&cpu::me->cta->smem[byte], &bits, 2);
  }
}

template <class T, int n, int major_a, int major_b>
void multiply_f32(u64 a, u64 b, const u32 (&r)[4]) {
  float d[n / 2];
  for (int i = 0; i < n / 2; i++) d[i] = (float)(i % 5);
  wgmma_fence();
  for (int twice = 0; twice < 2; twice++) {
    if (now.registers)
      wgmma_rs<T, n, major_b>(d, r, b, 1);
    else
      wgmma<T, n, major_a, major_b>(d, a, b, 1);
  }
  wgmma_commit();
  wgmma_wait<0>();
  memcpy(results[threadIdx.x], d, sizeof d);
}

template <int n, int major_a, int major_b> void multiply_f16(u64 a, u64 b, const u32 (&r)[4]) {
  u32 h[n / 4];
  for (int i = 0; i < n / 4; i++) h[i] = pack<f16>((float)(2 * i % 5), (float)((2 * i + 1) % 5));
  wgmma_fence();
  for (int twice = 0; twice < 2; twice++) {
    if (now.registers)
      wgmma_f16_rs<n, major_b>(h, r, b, 1);
    else
      wgmma_f16<n, major_a, major_b>(h, a, b, 1);
  }
  wgmma_commit();
  wgmma_wait<0>();
  for (int i = 0; i < n / 2; i++) {
    const float x = i % 2 ? unpack_hi<f16>(h[i / 2]) : unpack_lo<f16>(h[i / 2]);
    memcpy(&results[threadIdx.x][i], &x, 4);
  }
}

template <int n, int major_a, int major_b> void multiply_any(u64 a, u64 b, const u32 (&r)[4]) {
  if (now.f16_acc)
    multiply_f16<n, major_a, major_b>(a, b, r);
  else if (now.type == Number::f16)
    multiply_f32<f16, n, major_a, major_b>(a, b, r);
  else
    multiply_f32<bf16, n, major_a, major_b>(a, b, r);
}

template <int n> void tensor(void **) {
  const u32 base_a = 0x400, base_b = 0x4000;
  const int lane = threadIdx.x % 32, t = lane % 4 * 2;
  put(now.a, base_a, 64, 0);
  put(now.b, base_b, n, 100);
  if (threadIdx.x == 0) cpu::me->cta->shadow.reset(SMEM, true);
  cta_sync();
  u32 r[4];
  for (int i = 0; i < 4; i++) {
    const int row = threadIdx.x / 32 * 16 + lane / 4 + i % 2 * 8, k = t + i / 2 * 8;
    r[i] = bits_of(value(row, k)) | (u32)bits_of(value(row, k + 1)) << 16;
  }
  const u64 a = describe(now.a, base_a), b = describe(now.b, base_b);
  switch (now.a.major * 2 + now.b.major) {
  case 0:
    return multiply_any<n, 0, 0>(a, b, r);
  case 1:
    return multiply_any<n, 0, 1>(a, b, r);
  case 2:
    return multiply_any<n, 1, 0>(a, b, r);
  default:
    return multiply_any<n, 1, 1>(a, b, r);
  }
}

bool right_sums(int n) {
  for (int thread = 0; thread < 128; thread++)
    for (int i = 0; i < n / 2; i++) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2);
      const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      float sum = (float)(i % 5), got;
      for (int k = 0; k < 16; k++) sum += (float)(2 * value(row, k) * value(100 + column, k));
      memcpy(&got, &results[thread][i], 4);
      if (got != sum) return false;
    }
  return true;
}

template <int n> void test_wgmma(const Multiply &m, int number) {
  now = m;
  memset(results, 0xff, sizeof results);
  const bool right = launch(tensor<n>, 128, number) && right_sums(n);
  ok(right, "wgmma n = %d, %s%s, A %s swizzle %d, B %s swizzle %d", n,
     m.type == Number::f16 ? "f16" : "bf16", m.f16_acc ? " sums" : "",
     m.registers ? "registers"
     : m.a.major ? "MN"
                 : "K",
     m.a.swizzle, m.b.major ? "MN" : "K", m.b.swizzle);
}

void test_tensor_cores() {
  int number = 0;
  for (const Layout &a : layouts)
    for (const Layout &b : layouts) {
      test_wgmma<64>({a, b, number % 2 ? Number::bf16 : Number::f16, false, false}, number % 6);
      number++;
    }
  for (const Layout &b : layouts) {
    test_wgmma<256>({layouts[4], b, Number::f16, true, false}, 0);
    test_wgmma<24>({layouts[4], b, Number::f16, true, true}, 1);
    test_wgmma<8>({layouts[0], b, Number::bf16, false, true}, 2);
    test_wgmma<176>({layouts[9], b, Number::f16, false, true}, 3);
  }
}

} // namespace

int main() {
  test_descriptors();
  test_matrices();
  test_products();
  test_tensor_cores();
  return done();
}
