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
    {"no_fence", no_fence, 128, 1, "registers", "no wgmma_fence"},
    {"fence_too_early", fence_too_early, 128, 1, "registers", "since the last wgmma_fence"},
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
