// verify.cpp -- see verify.h.
#include "verify.h"

#include <algorithm>
#include <cmath>

namespace cpu {

namespace {

struct Spot {
  int64_t m, n;
};

} // namespace

// ---- what bad elements have in common ------------------------------------------------------------

// "columns 8..15 of each 64": the residues that occur, where they are one run that leaves some out.
static std::string residues(const char *what, const std::vector<Spot> &bad, int64_t Spot::*axis,
                            int64_t size) {
  for (int64_t period : {16, 32, 64, 128, 256}) {
    if (period >= size) break;
    std::vector<bool> seen(static_cast<size_t>(period));
    for (const Spot &s : bad) seen[static_cast<size_t>(s.*axis % period)] = true;
    const auto first = std::find(seen.begin(), seen.end(), true);
    const auto end = std::find(first, seen.end(), false);
    if (std::find(end, seen.end(), true) != seen.end() || end - first > period / 2) continue;
    return format(", all in %s %d..%d of each %d", what, static_cast<int>(first - seen.begin()),
                  static_cast<int>(end - seen.begin()) - 1, static_cast<int>(period));
  }
  return "";
}

// Whole tiles: then it is the loop over tiles, or a copy, rather than a fragment.
static std::string tiles(const std::vector<Spot> &bad, const Problem &p, const loom_desc &d) {
  const int64_t across = (p.N + d.tile[1] - 1) / d.tile[1];
  std::vector<int64_t> count(static_cast<size_t>((p.M + d.tile[0] - 1) / d.tile[0] * across));
  for (const Spot &s : bad)
    count[static_cast<size_t>(s.m / d.tile[0] * across + s.n / d.tile[1])]++;
  size_t hit = 0, whole = 0;
  for (size_t i = 0; i < count.size(); i++) {
    const int64_t m = static_cast<int64_t>(i) / across * d.tile[0],
                  n = static_cast<int64_t>(i) % across * d.tile[1];
    hit += count[i] > 0;
    whole += count[i] == std::min(d.tile[0], p.M - m) * std::min(d.tile[1], p.N - n);
  }
  const char *how = whole == hit ? "the whole of" : "in";
  return format("; %s %zu of %zu tiles of %lldx%lld", how, hit, count.size(),
                static_cast<long long>(d.tile[0]), static_cast<long long>(d.tile[1]));
}

static std::string pattern(const std::vector<Spot> &bad, const Problem &p, const loom_desc &d) {
  std::string s = format("%zu of %lld elements", bad.size(), static_cast<long long>(p.M * p.N));
  if (bad.size() < 2) return s;
  return s + tiles(bad, p, d) + residues("rows", bad, &Spot::m, p.M) +
         residues("columns", bad, &Spot::n, p.N);
}

// ---- one element ---------------------------------------------------------------------------------

// Numbers in order, so that neighbours differ by one.
static int ordinal(uint16_t bits) { return bits & 0x8000 ? -(bits & 0x7fff) : bits; }

static bool right(const Problem &p, uint16_t got, uint16_t want) {
  if (got == want) return true;
  const double g = value_of(p.dtype, got), w = value_of(p.dtype, want);
  if (std::isnan(w) || std::isnan(g)) return std::isnan(w) && std::isnan(g);
  if (g == 0 && w == 0) return true;
  return !p.exact && std::abs(ordinal(got) - ordinal(want)) <= 1;
}

static void tell_wrong(const std::vector<Spot> &bad, const Binding &b, const Problem &p,
                       const loom_desc &d) {
  const Spot s = bad[0];
  const double got = value_of(p.dtype, b.result(s.m, s.n));
  const double want = value_of(p.dtype, p.want[static_cast<size_t>(s.m * p.N + s.n)]);
  const char *nan = std::isnan(got) && !std::isnan(want)
                        ? " (NaN: data used before it arrived, memory that nothing wrote, or the "
                          "special values of another row or column)"
                        : "";
  find_text(Kind::WRONG_RESULT, 0, 0,
            format("C[%lld][%lld] is %g, not %g%s; wrong: %s", static_cast<long long>(s.m),
                   static_cast<long long>(s.n), got, want, nan, pattern(bad, p, d).c_str()));
}

void verify(const Binding &b, const Problem &p, const loom_desc &d) {
  std::vector<Spot> unwritten, wrong;
  for (int64_t m = 0; m < p.M; m++)
    for (int64_t n = 0; n < p.N; n++)
      if (!b.writer(m, n))
        unwritten.push_back({m, n});
      else if (!right(p, b.result(m, n), p.want[static_cast<size_t>(m * p.N + n)]))
        wrong.push_back({m, n});
  if (!unwritten.empty())
    find_text(Kind::UNWRITTEN, 0, 0,
              format("C[%lld][%lld] was never written; unwritten: %s",
                     static_cast<long long>(unwritten[0].m), static_cast<long long>(unwritten[0].n),
                     pattern(unwritten, p, d).c_str()));
  if (!wrong.empty()) tell_wrong(wrong, b, p, d);
  if (b.inputs_changed()) find_text(Kind::INPUT_WRITTEN, 0, 0, "A or B changed");
}

} // namespace cpu
