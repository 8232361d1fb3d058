// numbers_test.cpp -- f16 and bf16: every value there and back, every rounding, and rows of them
// with the machine's vectors against the plain loops.
#include "numbers.h"
#include "ok.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace {

using cpu::Number;

double exact(Number type, u16 bits) { // by the definition of the formats
  const int fraction = type == Number::f16 ? 10 : 7, bias = type == Number::f16 ? 15 : 127;
  const int e = (bits & 0x7fff) >> fraction, f = bits & ((1 << fraction) - 1);
  const double size =
      e ? std::ldexp(1 + std::ldexp(f, -fraction), e - bias) : std::ldexp(f, 1 - bias - fraction);
  return bits >> 15 ? -size : size;
}

bool all_values(Number type) {
  const u16 infinity = type == Number::f16 ? 0x7c00 : 0x7f80;
  for (u32 i = 0; i < 65536; i++) {
    const u16 bits = (u16)i;
    const float x = loom_engine::to_float(type, bits);
    const u16 back = loom_engine::from_float(type, x);
    const u16 size = bits & 0x7fff;
    if (size > infinity) {
      if (!std::isnan(x) || back != 0x7fff) return false;
    } else if (back != bits || (size == infinity ? !std::isinf(x) : x != exact(type, bits))) {
      return false;
    }
  }
  return true;
}

// Between two neighbours: the middle goes to the even one, all else to the nearer one.
bool all_middles(Number type) {
  const u16 infinity = type == Number::f16 ? 0x7c00 : 0x7f80;
  for (u16 low = 0; low < infinity; low++) {
    const u16 high = (u16)(low + 1);
    const double step = exact(type, low) - (low ? exact(type, (u16)(low - 1)) : -exact(type, 1));
    const double top = high == infinity ? exact(type, low) + step : exact(type, high);
    const float middle = (float)((exact(type, low) + top) / 2);
    const u16 even = low & 1 ? high : low;
    for (int sign = 0; sign < 2; sign++) {
      const u16 s = (u16)(sign << 15);
      const float m = sign ? -middle : middle, out = sign ? -INFINITY : INFINITY;
      if (loom_engine::from_float(type, m) != (s | even)) return false;
      if (loom_engine::from_float(type, std::nextafterf(m, out)) != (s | high)) return false;
      if (loom_engine::from_float(type, std::nextafterf(m, 0)) != (s | low)) return false;
    }
  }
  return true;
}

void test_rows() {
  for (Number type : {Number::f16, Number::bf16}) {
    const char *name = type == Number::f16 ? "f16" : "bf16";
    std::vector<u16> all(65536);
    for (u32 i = 0; i < 65536; i++) all[i] = (u16)i;
    std::vector<float> x(65536), y(65536);
    cpu::widen(type, x.data(), all.data(), 65536);
    cpu::plain::widen(type, y.data(), all.data(), 65536);
    bool same = true;
    for (u32 i = 0; i < 65536; i++)
      same = same && (memcmp(&x[i], &y[i], 4) == 0 || (std::isnan(x[i]) && std::isnan(y[i])));
    ok(same, "%s: a row is its values", name);
  }
}

void test_products() {
  u16 in[8][8];
  const u16 *rows[8];
  float x[8 * 16] = {}, y[8 * 16] = {};
  for (int i = 0; i < 64; i++) in[i / 8][i % 8] = (u16)(i * 997);
  for (int r = 0; r < 8; r++) rows[r] = in[r];
  cpu::widen_columns(Number::bf16, x, 16, rows);
  cpu::plain::widen_columns(Number::bf16, y, 16, rows);
  ok(memcmp(x, y, sizeof x) == 0, "eight rows become columns");
  std::vector<float> a(8 * 5), b(5 * 40), d(8 * 40, 1.f), e = d;
  for (size_t i = 0; i < a.size(); i++) a[i] = (float)(i % 7);
  for (size_t i = 0; i < b.size(); i++) b[i] = (float)(i % 5);
  cpu::multiply(d.data(), a.data(), b.data(), 8, 40, 5, true);
  cpu::plain::multiply(e.data(), a.data(), b.data(), 8, 40, 5, true);
  ok(d == e, "a product is one without vectors");
  for (size_t i = 0; i < d.size(); i++) d[i] = e[i] = (float)i * 1.0003e-6f;
  cpu::round_to_f16(d.data(), 320);
  cpu::plain::round_to_f16(e.data(), 320);
  ok(d == e, "rounding to f16 is one without vectors");
}

} // namespace

int main() {
  ok(all_values(Number::f16), "f16: every value there and back");
  ok(all_values(Number::bf16), "bf16: every value there and back");
  ok(all_middles(Number::f16), "f16: nearest, ties to even");
  ok(all_middles(Number::bf16), "bf16: nearest, ties to even");
  test_rows();
  test_products();
  return done();
}
