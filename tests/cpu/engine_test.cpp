// engine_test.cpp -- the scheduler and everything that waits: right kernels end in every schedule
// without a finding, wrong ones with the finding that names their fault.
#include "loom.cuh"

#include "memory.h"
#include "ok.h"

#include <cstring>

namespace {

struct Case {
  const char *name;
  void (*kernel)(void **);
  unsigned grid, block, cluster;
  const char *kind; // of a finding; null: none
  const char *text; // a part of what it says
};

u32 at(u32 offset) { return smem_base() + offset; }

// ---- right ones ----

void ring(void **) { // a producer and a consumer hand a slot to and fro, by two mbarriers
  const u32 full = at(0), empty = at(8), slot = at(16);
  if (threadIdx.x == 0) {
    mbar_init(full, 1);
    mbar_init(empty, 1);
    fence_mbar_init();
  }
  cta_sync();
  for (u32 i = 0; i < 5; i++) {
    if (threadIdx.x == 0) {
      mbar_wait(empty, (i & 1) ^ 1);
      sts_words<1>(slot, {i});
      mbar_arrive(full);
    }
    if (threadIdx.x == 32) {
      mbar_wait(full, i & 1);
      if (lds_words<1>(slot).w[0] != i) sts_words<1>(at(1 << 20), {0});
      mbar_arrive(empty);
    }
  }
}

void turns(void **) { // two warps take turns through named barriers
  const int warp = threadIdx.x / 32;
  if (warp == 1) named_arrive(1, 64);
  for (int i = 0; i < 3; i++) {
    named_sync(1 + warp, 64);
    sts_words<1>(at(0), {(u32)i});
    named_arrive(1 + (warp ^ 1), 64);
  }
  if (warp == 0) named_sync(1, 64);
}

void exchange(void **) { // each CTA of a cluster reads what the other wrote
  sts_words<1>(at(4 * threadIdx.x), {cluster_rank()});
  cluster_sync();
  const u32 got = ldc_words<1>(map_shared(at(4 * threadIdx.x), cluster_rank() ^ 1)).w[0];
  if (got != (cluster_rank() ^ 1)) sts_words<1>(at(1 << 20), {0});
  cluster_sync();
}

void leave_early(void **) { // threads that have ended are not waited for
  if (threadIdx.x >= 32) return;
  cta_sync();
}

void shuffles(void **) {
  const u32 lane = threadIdx.x % 32;
  if (shfl(lane, 7) != 7 || shfl_xor(lane, 5) != (lane ^ 5)) sts_words<1>(at(1 << 20), {0});
  const bool first = elect_one();
  if (warpgroup_index() != 0 || first != (lane == 0)) sts_words<1>(at(1 << 20), {0});
  warp_sync();
}

// ---- wrong ones ----

void lost_arrival(void **) {
  if (threadIdx.x == 0) {
    mbar_init(at(0), 2);
    mbar_arrive(at(0));
  }
  cta_sync();
  mbar_wait(at(0), 0);
}
void over_arrival(void **) {
  if (threadIdx.x == 0) {
    mbar_init(at(0), 1);
    mbar_add_tx(at(0), 16);
    mbar_arrive(at(0));
    mbar_arrive(at(0));
  }
}
void no_init(void **) { mbar_arrive(at(0)); }
void init_unseen(void **) {
  if (threadIdx.x == 0) mbar_init(at(0), 1);
  warp_sync();
  if (threadIdx.x == 32) mbar_try(at(0), 1);
}
void twice(void **) {
  if (threadIdx.x == 0) {
    mbar_init(at(0), 1);
    mbar_init(at(0), 1);
  }
}
void lapped(void **) { // the second warp waits for a phase while two pass by
  if (threadIdx.x == 0) mbar_init(at(0), 1);
  cta_sync();
  if (threadIdx.x == 0)
    for (int i = 0; i < 2; i++) mbar_arrive(at(0));
  else if (threadIdx.x == 32)
    mbar_wait(at(0), 0);
}
void half_warp(void **) {
  if (threadIdx.x < 16)
    cta_sync();
  else
    cta_sync();
}
void missing_lanes(void **) {
  if (threadIdx.x < 16) warp_sync();
}
void two_places(void **) {
  if (threadIdx.x < 16)
    warp_sync();
  else
    warp_sync();
}
void wrong_count(void **) {
  if (threadIdx.x < 64) named_sync(1, threadIdx.x < 32 ? 64 : 96);
}
void bad_barrier(void **) { named_sync(16, 32); }
void lost_turn(void **) {
  if (threadIdx.x < 32) named_sync(3, 64);
}
void race(void **) { sts_words<1>(at(0), {threadIdx.x}); }
void unordered_read(void **) {
  if (threadIdx.x == 0) sts_words<1>(at(0), {1});
  if (threadIdx.x == 32) lds_words<1>(at(0));
}
void outside(void **) { sts_words<1>(at(4096), {1}); }
void odd(void **) { sts_words<4>(at(8), {{1, 2, 3, 4}}); }
void nothing_there(void **) { lds_words<1>(at(64)); }
void on_a_barrier(void **) {
  if (threadIdx.x == 0) {
    mbar_init(at(0), 1);
    sts_words<1>(at(4), {0});
  }
}
void too_early(void **) { // before the other CTA has started
  if (threadIdx.x == 0) stc_words<1>(map_shared(at(0), cluster_rank() ^ 1), {1});
  cluster_sync();
}
void too_late(void **) {
  cluster_sync();
  if (threadIdx.x == 0 && cluster_rank() == 0) stc_words<1>(map_shared(at(0), 1), {1});
}
void arrive_twice(void **) {
  cluster_arrive();
  cluster_arrive();
}
void wait_only(void **) { cluster_wait(); }

const Case cases[] = {
    {"ring", ring, 1, 64, 1, nullptr, ""},
    {"turns", turns, 1, 64, 1, nullptr, ""},
    {"exchange", exchange, 4, 64, 2, nullptr, ""},
    {"leave_early", leave_early, 2, 64, 1, nullptr, ""},
    {"shuffles", shuffles, 1, 64, 1, nullptr, ""},
    {"lost_arrival", lost_arrival, 1, 64, 1, "deadlock", "no thread"},
    {"over_arrival", over_arrival, 1, 32, 1, "barrier", "one arrival more"},
    {"no_init", no_init, 1, 32, 1, "barrier", "no mbarrier is initialised"},
    {"init_unseen", init_unseen, 1, 64, 1, "barrier", ""},
    {"twice", twice, 1, 32, 1, "barrier", "while it is in use"},
    {"half_warp", half_warp, 1, 32, 1, "diverged", "part of the warp"},
    {"missing_lanes", missing_lanes, 1, 32, 1, "deadlock", "no thread"},
    {"two_places", two_places, 1, 32, 1, "diverged", "aligned instruction"},
    {"wrong_count", wrong_count, 1, 96, 1, "barrier", "others came to it for"},
    {"bad_barrier", bad_barrier, 1, 32, 1, "barrier", "1 to 15"},
    {"lost_turn", lost_turn, 1, 64, 1, "deadlock", "no thread"},
    {"race", race, 1, 64, 1, "race", ""},
    {"unordered_read", unordered_read, 1, 64, 1, "race", ""},
    {"outside", outside, 1, 32, 1, "out-of-bounds", ""},
    {"odd", odd, 1, 32, 1, "misaligned", ""},
    {"nothing_there", nothing_there, 1, 32, 1, "uninitialised", ""},
    {"on_a_barrier", on_a_barrier, 1, 32, 1, "barrier", ""},
    {"too_early", too_early, 2, 32, 2, "race", ""},
    {"too_late", too_late, 2, 32, 2, "remote-after-exit", ""},
    {"arrive_twice", arrive_twice, 2, 32, 2, "barrier", "twice"},
    {"wait_only", wait_only, 2, 32, 2, "barrier", "without a cluster_arrive"},
};

bool has(const char *kind, const char *text) {
  for (const cpu::Finding &f : cpu::findings())
    if (strcmp(cpu::kind_name(f.kind), kind) == 0 &&
        (f.text + f.more).find(text) != std::string::npos)
      return true;
  return false;
}

void run(const Case &c, int number) {
  cpu::findings_clear();
  cpu::Launch l;
  l.entry = c.kernel;
  l.grid = c.grid;
  l.block = c.block;
  l.cluster = c.cluster;
  l.smem = 4096;
  l.schedule = cpu::schedule_of(number, 1);
  cpu::launch(l);
  const bool right = c.kind ? has(c.kind, c.text) : cpu::findings().empty();
  ok(right, "%s, schedule %d", c.name, number);
  if (!right) printf("# schedule %d\n%s", number, cpu::findings_text().c_str());
}

} // namespace

int main() {
  for (const Case &c : cases)
    for (int number = 0; number < 8; number++) run(c, number);
  // only a schedule that starves the waiting warp sees it
  bool seen = false;
  for (int number = 0; number < 16 && !seen; number++) {
    cpu::findings_clear();
    cpu::Launch l;
    l.entry = lapped;
    l.block = 64;
    l.smem = 64;
    l.schedule = cpu::schedule_of(number, 1);
    cpu::launch(l);
    seen = !cpu::findings().empty();
  }
  ok(seen, "a schedule in which a waiter is lapped by two phases");
  return done();
}
