// families_test.cpp -- the families of inputs: whoever multiplies rightly gets the wanted bits,
// whatever the order of the sums; whoever narrows, leaves out or mixes up does not.
#include "families.h"
#include "ok.h"

extern "C" {
#include "desc.h"
}

#include <algorithm>
#include <functional>

namespace {

using cpu::Family;
using cpu::Problem;

struct Operands { // as numbers, row by row
  std::vector<double> a, b;
};

Problem problem(Family family, int dtype, bool narrow, int64_t m, int64_t n, int64_t k) {
  Problem p;
  p.family = family;
  p.dtype = dtype;
  p.narrow = narrow;
  p.M = m, p.N = n, p.K = k;
  cpu::problem_make(p, (uint64_t)(m + k));
  return p;
}

Operands operands(const Problem &p) {
  Operands o;
  for (uint16_t bits : p.a) o.a.push_back(cpu::value_of(p.dtype, bits));
  for (uint16_t bits : p.b) o.b.push_back(cpu::value_of(p.dtype, bits));
  return o;
}

double nearest(int dtype, double x) { return cpu::value_of(dtype, cpu::bits_of(dtype, x)); }

// How somebody multiplies: k in this order, in `parts` sums of which part(k) is one. A sum is rounded
// to `dtype` after every 16 of its terms, or only at its end.
struct Way {
  int parts = 1;
  std::function<int(int64_t)> part = [](int64_t) { return 0; };
  bool backwards = false, round_parts = false, round_steps = false;
  int64_t left_out = -1; // these 16 k
};

double element(const Problem &p, const Operands &o, const Way &w, int64_t m, int64_t n) {
  std::vector<double> sums((size_t)w.parts);
  for (int64_t i = 0; i < p.K; i++) {
    const int64_t k = w.backwards ? p.K - 1 - i : i;
    double &sum = sums[(size_t)w.part(k)];
    if (k / 16 != w.left_out) sum += o.a[(size_t)(m * p.K + k)] * o.b[(size_t)(k * p.N + n)];
    sum = static_cast<double>(static_cast<float>(sum));
    if (w.round_steps && (i % 16 == 15 || i == p.K - 1)) sum = nearest(LOOM_F16, sum);
  }
  double all = 0;
  for (double s : sums) all += w.round_parts ? nearest(p.dtype, s) : s;
  return all;
}

int64_t wrong(const Problem &p, const Way &w) { // elements that are not as wanted
  const Operands o = operands(p);
  int64_t count = 0;
  for (int64_t m = 0; m < p.M; m++)
    for (int64_t n = 0; n < p.N; n++) {
      const double got = nearest(p.dtype, element(p, o, w, m, n));
      const double want = cpu::value_of(p.dtype, p.want[(size_t)(m * p.N + n)]);
      count += got != want && (got == got || want == want); // NaNs are one
    }
  return count;
}

Way split(int parts, int64_t width) { // K in runs of `width`, dealt out to the parts in turn
  Way w;
  w.parts = parts;
  w.part = [=](int64_t k) { return (int)(k / width % parts); };
  w.round_parts = true;
  return w;
}

// ---- tests ----

void test_right() {
  static const char *const kinds[] = {", f16", ", f16 with sums in f16", ", bf16"};
  static const int64_t shapes[][3] = {{24, 40, 70}, {8, 8, 1},     {8, 16, 2},    {3, 5, 3},
                                      {40, 8, 24},  {4, 8, 16384}, {1, 8, 16384}, {300, 8, 64}};
  for (const auto &s : shapes)
    for (int f = 0; f < (int)Family::COUNT; f++)
      for (int kind = 0; kind < 3; kind++) {
        const Problem p =
            problem((Family)f, kind == 2 ? LOOM_BF16 : LOOM_F16, kind == 1, s[0], s[1], s[2]);
        Way w;
        w.backwards = f % 2 == 0;
        w.round_steps = p.narrow;
        ok(p.exact && wrong(p, w) == 0, "%s%s, %lldx%lldx%lld: the wanted bits",
           cpu::family_name(p.family), kinds[kind], (long long)s[0], (long long)s[1],
           (long long)s[2]);
      }
}

void test_left_out() {
  for (int64_t k : {16, 64, 512, 4096}) {
    const Problem p = problem(Family::TERNARY, LOOM_BF16, false, 8, 16, k);
    int64_t least = p.M * p.N;
    for (int64_t i = 0; i < k / 16; i += k / 16 < 40 ? 1 : 37) {
      Way w;
      w.left_out = i;
      least = std::min(least, wrong(p, w));
    }
    ok(least > p.M * p.N / 4, "K = %lld: without any 16 of it", (long long)k);
  }
}

void test_narrow() {
  for (int dtype : {LOOM_F16, LOOM_BF16})
    for (int64_t k : {64, 512, 4096}) {
      const Problem p = problem(Family::CANCEL, dtype, false, 16, 16, k);
      Way steps;
      steps.round_steps = true;
      ok(wrong(p, steps) > 0, "K = %lld: sums in f16", (long long)k);
      for (int parts : {2, 3, 4, 7})
        for (int64_t width : {int64_t{16}, (k / 16 + parts - 1) / parts * 16})
          ok(wrong(p, split(parts, width)) > 0,
             "K = %lld: %d sums of runs of %lld, rounded to 16 bits", (long long)k, parts,
             (long long)width);
    }
}

void test_mixed_up() {
  Problem p = problem(Family::ONEHOT, LOOM_F16, false, 32, 32, 48);
  for (int64_t at = 0; at + 1 < p.N; at += 5) {
    Problem q = p;
    for (int64_t k = 0; k < p.K; k++)
      std::swap(q.b[(size_t)(k * p.N + at)], q.b[(size_t)(k * p.N + at + 1)]);
    ok(wrong(q, Way()) > 0, "columns %lld and the next exchanged", (long long)at);
  }
  for (int64_t at = 0; at + 1 < p.K; at += 5) {
    Problem q = p;
    for (int64_t n = 0; n < p.N; n++)
      std::swap(q.b[(size_t)(at * p.N + n)], q.b[(size_t)((at + 1) * p.N + n)]);
    ok(wrong(q, Way()) > 0, "k of B: %lld and the next exchanged", (long long)at);
  }
}

// alpha*A*B + beta*C, rounded once.
void test_factors() {
  for (int dtype : {LOOM_F16, LOOM_BF16}) {
    Problem p;
    p.dtype = dtype;
    p.M = 16, p.N = 32, p.K = 256;
    p.factors = {13.625f, 0.375f};
    cpu::problem_make(p, 5);
    const Operands o = operands(p);
    int once = 0, twice = 0;
    for (int64_t i = 0; i < p.M * p.N; i++) {
      const double sum = 13.625 * element(p, o, Way(), i / p.N, i % p.N);
      const double c = 0.375 * cpu::value_of(dtype, p.c[(size_t)i]);
      const double want = cpu::value_of(dtype, p.want[(size_t)i]);
      once += nearest(dtype, sum + c) != want;
      twice += nearest(dtype, nearest(dtype, sum) + c) != want;
    }
    ok(p.exact && once == 0 && twice > 0, "alpha and beta: %d elements show a second rounding",
       twice);
  }
}

} // namespace

int main() {
  test_factors();
  test_right();
  test_left_out();
  test_narrow();
  test_mixed_up();
  return done();
}
