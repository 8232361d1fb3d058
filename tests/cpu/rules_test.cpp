// rules_test.cpp -- what wgmma demands of fences, registers, operands and waits: kernels that break
// a rule are found in every schedule. What it computes: see tensor_test.cpp.
#include "loom.cuh"

#include "kit.h"

namespace {

void operands() { // 2 KiB of A at 1024, 256 bytes of B after it: rows of 32 bytes
  for (u32 i = threadIdx.x; i < 288; i += 128) sts_words<4>(at(1024 + 16 * i), {{0, 0, 0, 0}});
  fence_proxy_async();
  cta_sync();
}
u64 desc_a() { return smem_desc<32>(at(1024), 16, 256); }
u64 desc_b() { return smem_desc<32>(at(1024 + 4096), 16, 256); }
void issue(float (&d)[4], int accumulate) {
  wgmma<f16, 8, K_MAJOR, K_MAJOR>(d, desc_a(), desc_b(), accumulate);
}
template <int n> void issue_wide(float (&d)[n / 2], int accumulate) { // B is where A is
  wgmma<f16, n, K_MAJOR, K_MAJOR>(d, desc_a(), desc_a(), accumulate);
}
void add_all(float (&d)[4]) {
  operands();
  wgmma_fence();
  issue(d, 1);
}

void rules(void **) { // nothing wrong: two groups in flight, chained, then again without a fence
  float d[4] = {1, 2, 3, 4};
  add_all(d);
  wgmma_commit();
  issue(d, 1);
  wgmma_commit();
  wgmma_wait<1>();
  wgmma_wait<0>();
  check(d[0] == 1 && d[3] == 4);
  issue(d, 1);
  wgmma_commit();
  wgmma_wait<0>();
  check(d[0] == 1 && d[3] == 4);
}
void load(u32 (&a)[4], u32 seed) {
  for (u32 i = 0; i < 4; i++) a[i] = 4 * seed + i;
}
void two_fragments(void **) { // one is loaded while the other is multiplied
  float d[4] = {};
  u32 a[2][4];
  operands();
  load(a[0], 0);
  for (u32 k = 0; k < 6; k++) {
    wgmma_fence();
    wgmma_rs<f16, 8, K_MAJOR>(d, a[k % 2], desc_b(), 1);
    wgmma_commit();
    wgmma_wait<1>();
    load(a[(k + 1) % 2], k + 1);
  }
  wgmma_wait<0>();
  check(d[0] == 0);
}
void four_fragments(void **) { // two groups in flight, and the next slot's first fragment
  float d[4] = {};
  u32 a[4][4];
  operands();
  load(a[0], 0);
  for (u32 slot = 0; slot < 4; slot++) {
    for (u32 k = 0; k < 4; k++) {
      if (k < 3) load(a[k + 1], 4 * slot + k + 1);
      wgmma_fence();
      wgmma_rs<f16, 8, K_MAJOR>(d, a[k], desc_b(), 1);
      wgmma_commit();
      wgmma_wait<2>();
    }
    load(a[0], 4 * slot + 4); // its group is the fourth last
  }
  wgmma_wait<0>();
}
void two_sets(
    void **) { // of accumulators: one is looked at and cleared while the other is in flight
  float d[4] = {}, e[4] = {1, 1, 1, 1};
  operands();
  wgmma_fence();
  for (int k = 0; k < 6; k++) {
    issue(d, 1);
    wgmma_commit();
    if (k > 0) wgmma_wait<1>();
    check(k == 0 || e[0] == 1);
    wgmma_fence();
    issue(e, 1);
    wgmma_commit();
    wgmma_wait<1>();
    check(d[0] == 0);
    for (float &x : d) x = 0;
    wgmma_fence();
  }
  wgmma_wait<0>();
}
// Accumulators of a function of its own: the next one's lie where these did.
template <int n> __attribute__((noinline)) float sum_of(float first, int accumulate) {
  float d[n / 2];
  for (float &x : d) x = first;
  wgmma_fence();
  issue_wide<n>(d, accumulate);
  issue_wide<n>(d, 1);
  wgmma_commit();
  wgmma_wait<0>();
  return d[n / 2 - 1];
}
void helpers(void **) {
  operands();
  for (int i = 0; i < 4; i++) {
    check(sum_of<64>((float)i, 1) == (float)i);
    check(sum_of<32>((float)i, i % 2) == (i % 2 ? (float)i : 0));
  }
}
struct Sums {
  float v[2][4];
};
void copied(void **) {
  Sums x = {};
  operands();
  wgmma_fence();
  issue(x.v[0], 1);
  issue(x.v[1], 1);
  wgmma_commit();
  wgmma_wait<0>();
  Sums y = x;
  y.v[1][2] += 3;
  const auto both = [&] {
    for (auto &d : y.v) issue(d, 1);
  };
  wgmma_fence();
  both();
  wgmma_commit();
  wgmma_wait<0>();
  check(y.v[1][2] == 3 && y.v[0][2] == 0);
}
void nan_sums(void **) { // NaNs of f16: kept, and not taken for what somebody wrote
  operands();
  if (threadIdx.x < 8) sts_words<4>(at(1024 + 16 * threadIdx.x), {{0xfe01fe01, 0, 0, 0}});
  fence_proxy_async();
  cta_sync();
  u32 d[2] = {};
  wgmma_fence();
  for (int i = 0; i < 3; i++) {
    wgmma_f16<8, K_MAJOR, K_MAJOR>(d, desc_a(), desc_b(), 1);
    wgmma_commit();
    wgmma_wait<0>();
  }
  if (threadIdx.x < 16) check(d[0] == 0x7fff7fff);
}
void other_shape(void **) {
  float d[8];
  operands();
  wgmma_fence();
  issue_wide<16>(d, 0);
  wgmma_commit();
  wgmma_wait<0>();
  issue(reinterpret_cast<float(&)[4]>(d), 1);
  wgmma_commit();
  wgmma_wait<0>();
}
void no_fence(void **) {
  float d[4] = {};
  operands();
  issue(d, 0);
  wgmma_commit();
  wgmma_wait<0>();
}
void fence_too_early(void **) {
  float d[4] = {};
  add_all(d);
  wgmma_commit();
  wgmma_wait<0>();
  wgmma_fence();
  d[1] += 1;
  issue(d, 1);
  wgmma_commit();
  wgmma_wait<0>();
}
void first_fence_too_early(void **) {
  float d[4];
  operands();
  wgmma_fence();
  for (float &x : d) x = 0;
  issue(d, 1);
  wgmma_commit();
  wgmma_wait<0>();
}
void first_fragment_late(void **) {
  float d[4];
  u32 a[4];
  operands();
  wgmma_fence();
  load(a, 3);
  wgmma_rs<f16, 8, K_MAJOR>(d, a, desc_b(), 0);
  wgmma_commit();
  wgmma_wait<0>();
}
void touched(void **) {
  float d[4] = {};
  add_all(d);
  d[2] = 5;
  wgmma_commit();
  wgmma_wait<0>();
}
void fragment_touched(void **) {
  float d[4] = {};
  u32 a[4] = {};
  operands();
  wgmma_fence();
  wgmma_rs<f16, 8, K_MAJOR>(d, a, desc_b(), 0);
  wgmma_commit();
  a[3] = 1;
  wgmma_wait<0>();
}
void fragment_late(void **) {
  float d[4] = {};
  u32 a[4] = {};
  operands();
  for (u32 i = 0; i < 2; i++) {
    wgmma_fence();
    a[0] = i;
    wgmma_rs<f16, 8, K_MAJOR>(d, a, desc_b(), 0);
    wgmma_commit();
    wgmma_wait<0>();
  }
}
void uncommitted(void **) {
  float d[4] = {};
  add_all(d);
  wgmma_wait<0>();
}
void unwaited(void **) {
  float d[4] = {};
  add_all(d);
  wgmma_commit();
}
void different(void **) {
  float d[4] = {};
  operands();
  wgmma_fence();
  wgmma<f16, 8, K_MAJOR, K_MAJOR>(d, desc_a() + (threadIdx.x == 77 ? 16 : 0), desc_b(), 0);
  wgmma_commit();
  wgmma_wait<0>();
}
void unfenced_operand(void **) {
  float d[4] = {};
  operands();
  if (threadIdx.x == 0) sts_words<1>(at(1024), {0});
  cta_sync();
  wgmma_fence();
  issue(d, 0);
  wgmma_commit();
  wgmma_wait<0>();
}
void operand_overwritten(void **) {
  float d[4] = {};
  add_all(d);
  wgmma_commit();
  if (threadIdx.x == 0) sts_words<1>(at(1024), {0});
  wgmma_wait<0>();
}
void operand_outside(void **) {
  float d[4] = {};
  operands();
  wgmma_fence();
  wgmma<f16, 8, K_MAJOR, K_MAJOR>(d, smem_desc<32>(at(7168), 16, 256), desc_b(), 0);
  wgmma_commit();
  wgmma_wait<0>();
}
void operand_unset(void **) {
  float d[4] = {};
  operands();
  wgmma_fence();
  wgmma<f16, 8, K_MAJOR, K_MAJOR>(d, smem_desc<32>(at(4096), 16, 256), desc_b(), 0);
  wgmma_commit();
  wgmma_wait<0>();
}

const Case cases[] = {
    {"rules", rules, 128, 1, nullptr, ""},
    {"two_fragments", two_fragments, 128, 1, nullptr, ""},
    {"four_fragments", four_fragments, 128, 1, nullptr, ""},
    {"two_sets", two_sets, 128, 1, nullptr, ""},
    {"helpers", helpers, 128, 1, nullptr, ""},
    {"copied", copied, 128, 1, nullptr, ""},
    {"nan_sums", nan_sums, 128, 1, nullptr, ""},
    {"other_shape", other_shape, 128, 1, "registers", "of another shape"},
    {"no_fence", no_fence, 128, 1, "registers", "no wgmma_fence"},
    {"fence_too_early", fence_too_early, 128, 1, "registers", "since the last wgmma_fence"},
    {"first_fence_too_early", first_fence_too_early, 128, 1, "registers",
     "accumulators were written"},
    {"first_fragment_late", first_fragment_late, 128, 1, "registers", "registers of A"},
    {"touched", touched, 128, 1, "registers", "between wgmma and wgmma_wait"},
    {"fragment_touched", fragment_touched, 128, 1, "registers", "registers of A"},
    {"fragment_late", fragment_late, 128, 1, "registers", "registers of A"},
    {"uncommitted", uncommitted, 128, 1, "registers", "wgmma_commit is missing"},
    {"unwaited", unwaited, 128, 1, "registers", "wgmma_wait"},
    {"different", different, 128, 1, "diverged", "thread 77"},
    {"unfenced_operand", unfenced_operand, 128, 1, "race", "fence_proxy_async"},
    {"operand_overwritten", operand_overwritten, 128, 1, "race", "wgmma_wait"},
    {"operand_outside", operand_outside, 128, 1, "out-of-bounds", ""},
    {"operand_unset", operand_unset, 128, 1, "uninitialised", ""},
};

} // namespace

int main() {
  for (const Case &c : cases)
    for (int number = 0; number < 8; number++) run(c, number, "");
  return done();
}
