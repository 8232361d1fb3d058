// families.cpp -- see families.h.
#include "families.h"

extern "C" {
#include "desc.h"
}

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cpu {

static const char *const names[] = {"ternary", "cancel", "onehot", "slice", "special"};

const char *family_name(Family f) { return names[static_cast<int>(f)]; }

Family family_of(const std::string &name) {
  int i = 0;
  while (i < static_cast<int>(Family::COUNT) && name != names[i]) i++;
  return static_cast<Family>(i);
}

// ---- numbers -------------------------------------------------------------------------------------

namespace {
struct Format {
  int digits, least, most; // bits of the fraction; exponents of normal numbers
};
} // namespace

static Format format_of(int dtype) {
  return dtype == LOOM_F16 ? Format{10, -14, 15} : Format{7, -126, 127};
}

uint16_t bits_of(int dtype, double x) {
  const Format f = format_of(dtype);
  const int sign = std::signbit(x) ? 0x8000 : 0, infinite = (f.most - f.least + 2) << f.digits;
  if (std::isnan(x)) return 0x7fff;
  if (std::isinf(x)) return static_cast<uint16_t>(sign | infinite);
  int e;
  std::frexp(x, &e);
  e = std::max(e - 1, f.least);
  if (e > f.most) return static_cast<uint16_t>(sign | infinite);
  const int unit = 1 << f.digits;
  int q = static_cast<int>(std::nearbyint(std::ldexp(std::fabs(x), f.digits - e)));
  if (q == 2 * unit) {
    q = unit;
    e++;
  }
  if (e > f.most) return static_cast<uint16_t>(sign | infinite);
  return static_cast<uint16_t>(sign | (q < unit ? q : (e - f.least + 1) * unit + q - unit));
}

double value_of(int dtype, uint16_t bits) {
  const Format f = format_of(dtype);
  const int unit = 1 << f.digits, e = (bits & 0x7fff) >> f.digits, q = bits & (unit - 1);
  double x =
      e == 0 ? std::ldexp(q, f.least - f.digits) : std::ldexp(unit + q, e - 1 + f.least - f.digits);
  if (e == f.most - f.least + 2) x = q ? NAN : INFINITY;
  return bits & 0x8000 ? -x : x;
}

uint16_t unwritten_mark(int dtype) { return dtype == LOOM_F16 ? 0x7e5a : 0x7fda; }

// ---- operands ------------------------------------------------------------------------------------

namespace {

class Random { // splitmix64
  uint64_t at;

public:
  explicit Random(uint64_t seed) : at(seed) {}
  uint64_t operator()() {
    uint64_t z = at += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  int64_t below(int64_t n) { // n of at most 32 bits
    return static_cast<int64_t>(((*this)() >> 32) * static_cast<uint64_t>(n) >> 32);
  }
};

struct Operands { // as floats, row by row
  std::vector<float> a, b;
  int64_t M, N, K;
  float &A(int64_t m, int64_t k) { return a[static_cast<size_t>(m * K + k)]; }
  float &B(int64_t k, int64_t n) { return b[static_cast<size_t>(k * N + n)]; }
};

} // namespace

static void ternary(std::vector<float> &x, Random &r) {
  for (float &v : x) v = static_cast<float>(r.below(3) - 1);
}

// Products of 2^13 (with f16 accumulators 2^8) and of the opposite, far apart in K. Rows take turns
// with several such pairs: no way to split K keeps them all together.
static void cancel(Operands &o, bool narrow, Random &r) {
  const int64_t half = o.K / 2, pairs = std::min<int64_t>(half, 4);
  const float a = narrow ? 16 : 128, b = narrow ? 16 : 64;
  for (int64_t i = 0; i < pairs; i++) {
    const int64_t width = half / pairs, k1 = i * width + r.below(width);
    const int64_t k2 = o.K - half + (i + 1) % pairs * width + r.below(width);
    for (int64_t m = 0; m < o.M; m++) {
      o.A(m, k1) = m % pairs == i ? a : 0;
      o.A(m, k2) = -o.A(m, k1);
    }
    for (int64_t n = 0; n < o.N; n++) o.B(k1, n) = o.B(k2, n) = b;
  }
}

// A normal number other than zero, of any exponent; or, where rows are added, an integer.
static float any_number(int dtype, int64_t rows_added, Random &r) {
  if (rows_added > 1) {
    const int64_t most = std::max<int64_t>((dtype == LOOM_F16 ? 2048 : 256) / rows_added, 1);
    return static_cast<float>(r.below(2 * most + 1) - most);
  }
  const Format f = format_of(dtype);
  const int64_t e = 1 + r.below(f.most - f.least + 1), q = r.below(1 << f.digits);
  return static_cast<float>(
      value_of(dtype, static_cast<uint16_t>(e << f.digits | q | (r() & 1) << 15)));
}

// Every k is picked by some row: by a row for each, or by rows that pick several.
static void onehot(Operands &o, const Problem &p, Random &r) {
  const int64_t each = (o.K + o.M - 1) / o.M;
  const bool plain = p.factors.alpha == 1 && p.factors.beta == 0;
  std::vector<int64_t> order(static_cast<size_t>(o.K));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; i--)
    std::swap(order[i - 1], order[static_cast<size_t>(r.below(static_cast<int64_t>(i)))]);
  std::fill(o.a.begin(), o.a.end(), 0.0f);
  for (int64_t m = 0; m < o.M; m++)
    for (int64_t i = 0; i < each; i++) o.A(m, order[static_cast<size_t>((m * each + i) % o.K)]) = 1;
  for (float &v : o.b) v = any_number(p.dtype, plain ? each : std::max<int64_t>(each, 8), r);
}

static void slice(Operands &o, Random &r) {
  const int64_t width = (o.K + 15) / 16, slices = (o.K + width - 1) / width,
                first = r.below(slices);
  for (int64_t m = 0; m < o.M; m++)
    for (int64_t k = 0; k < o.K; k++)
      o.A(m, k) = k / width == (m + first) % slices ? (r() & 1 ? 1.0f : -1.0f) : 0.0f;
}

static void special(Operands &o, Random &r) {
  o.A(r.below(o.M), r.below(o.K)) = NAN;
  o.B(r.below(o.K), r.below(o.N)) = INFINITY;
}

// ---- results -------------------------------------------------------------------------------------

// All sums are of integers (or of one number and zeros) that floats hold exactly, in any order. Zeros
// may be left out where nothing is infinite.
static void multiply(Operands &o, Problem &p) {
  const bool all = p.family == Family::SPECIAL;
  std::vector<float> sum(static_cast<size_t>(p.N));
  for (int64_t m = 0; m < p.M; m++) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (int64_t k = 0; k < p.K; k++) {
      const float a = o.A(m, k), *b = &o.B(k, 0);
      if (a == 0 && !all) continue;
      for (size_t n = 0; n < sum.size(); n++) sum[n] += a * b[n];
    }
    for (size_t n = 0; n < sum.size(); n++) {
      const size_t at = static_cast<size_t>(m * p.N) + n;
      double x = static_cast<double>(p.factors.alpha) * static_cast<double>(sum[n]);
      if (p.factors.beta != 0)
        x += static_cast<double>(p.factors.beta) * value_of(p.dtype, p.c[at]);
      p.want[at] = bits_of(p.dtype, x);
    }
  }
}

static std::vector<uint16_t> bits_of_all(int dtype, const std::vector<float> &x) {
  const uint16_t one = bits_of(dtype, 1);
  std::vector<uint16_t> bits(x.size());
  for (size_t i = 0; i < x.size(); i++) // most are -1, 0 or 1
    bits[i] = x[i] == 0    ? uint16_t{0}
              : x[i] == 1  ? one
              : x[i] == -1 ? static_cast<uint16_t>(one | 0x8000)
                           : bits_of(dtype, static_cast<double>(x[i]));
  return bits;
}

// Then a float holds alpha*sum + beta*c exactly.
static bool plain_factor(float f) { return std::fabs(f) <= 16 && f * 8 == std::nearbyint(f * 8); }

void problem_make(Problem &p, uint64_t seed) {
  Random r(seed * 8 + static_cast<uint64_t>(p.family));
  Operands o{std::vector<float>(static_cast<size_t>(p.M * p.K)),
             std::vector<float>(static_cast<size_t>(p.K * p.N)), p.M, p.N, p.K};
  ternary(o.a, r);
  ternary(o.b, r);
  if (p.family == Family::CANCEL) cancel(o, p.narrow, r);
  if (p.family == Family::ONEHOT) onehot(o, p, r);
  if (p.family == Family::SLICE) slice(o, r);
  if (p.family == Family::SPECIAL) special(o, r);
  p.exact = plain_factor(p.factors.alpha) && plain_factor(p.factors.beta);
  p.a = bits_of_all(p.dtype, o.a);
  p.b = bits_of_all(p.dtype, o.b);
  p.c.assign(static_cast<size_t>(p.M * p.N), unwritten_mark(p.dtype));
  if (p.factors.beta != 0)
    for (uint16_t &v : p.c) v = bits_of(p.dtype, static_cast<double>(2 * r.below(3) - 2));
  p.want.resize(p.c.size());
  multiply(o, p);
}

} // namespace cpu
