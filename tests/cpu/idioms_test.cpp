// idioms_test.cpp -- how kernels hand work to and fro, between warps, CTAs and launches: the ways that
// are right run to the end in every schedule without a finding, and each way's faults are found.
#include "loom.cuh"

#include "kit.h"

namespace cpu {
void atomics_launch_begin(); // atomics.cpp
}

namespace {

gptr<u32> ws() { return loom_address::to<u32>(cpu::global_find("ws")->address); }
gptr<float> sums() { return gptr_at<float>(ws(), 0); }
u32 read(i64 i) { return ldg<u32>(ws(), i); }
u32 word(u32 offset) { return lds_words<1>(at(offset)).w[0]; }
void put(u32 offset, u32 value) { sts_words<1>(at(offset), {{value}}); }
int warp() { return threadIdx.x / 32; }
bool first() { return threadIdx.x == 0; }
i64 own(i64 cta) { return 64 + 64 * cta + threadIdx.x; } // behind the flags

// ---- polls -------------------------------------------------------------------------------------------

void sweep(void **) { // flags in a row are no wait, however many they are
  u32 sum = 0;
  for (int i = 0; i < 1000; i++) sum += ld_acquire(ws(), i);
  for (int i = 0; i < 20; i++) sum += ld_acquire(ws(), 0);
  check(sum == 0);
}
void all_flags(void **) { // one waits for three
  if (!first()) return;
  if (blockIdx.x > 0) {
    st_release(ws(), blockIdx.x, 1u);
    return;
  }
  for (u32 set = 0; set != gridDim.x - 1;) {
    set = 0;
    for (unsigned i = 1; i < gridDim.x; i++) set += ld_acquire(ws(), i);
  }
}
void atomic_poll(void **) {
  if (!first()) return;
  if (blockIdx.x == 0) {
    stg(ws(), 1, 7u);
    atom_add_acq_rel(ws(), 0, 1);
    return;
  }
  while (atom_add_acq_rel(ws(), 0, 0) == 0) {}
  check(read(1) == 7);
}
void peek(void **) { // a try, and a wait where it fails
  if (first()) mbar_init(at(0), 32);
  cta_sync();
  for (u32 i = 0; i < 4; i++) {
    if (warp() == 0)
      mbar_arrive(at(0));
    else if (!mbar_try(at(0), i & 1))
      mbar_wait(at(0), i & 1);
    cta_sync();
  }
}
void never(void **) {
  for (ld_acquire(ws(), 9); ld_acquire(ws(), 0) == 0 || ld_acquire(ws(), 1) == 0;) {}
}
void never_atomic(void **) {
  while (atom_add(ws(), 0, 0) == 0) {}
}

// ---- between CTAs ------------------------------------------------------------------------------------

void chain(void **) { // each adds what the next one has left
  stg(ws(), own(blockIdx.x), 1u);
  if (blockIdx.x + 1 < gridDim.x) {
    if (first()) {
      while (ld_relaxed(ws(), blockIdx.x + 1) == 0) {}
      fence_gpu();
    }
    cta_sync();
    stg(ws(), own(blockIdx.x), 1 + read(own(blockIdx.x + 1)));
  }
  cta_sync();
  check(read(own(blockIdx.x)) == gridDim.x - blockIdx.x);
  if (first()) {
    fence_gpu();
    atom_add(ws(), blockIdx.x, 1);
  }
}
void in_turn(void **) { // a semaphore: one CTA after the other adds to the same words
  if (first())
    while (ld_acquire(ws(), 0) != blockIdx.x) {}
  cta_sync();
  stg(ws(), own(0), 1 + (blockIdx.x ? read(own(0)) : 0));
  cta_sync();
  if (first()) st_release(ws(), 0, blockIdx.x + 1);
}
void grid_barrier(void **) {
  for (u32 round = 1; round < 4; round++) {
    stg(ws(), own(blockIdx.x), round);
    for (int half = 0; half < 2; half++) { // all have written; all have read
      cta_sync();
      if (first()) {
        fence_gpu();
        red_add(ws(), half, 1u);
        while (ld_relaxed(ws(), half) < round * gridDim.x) {}
        fence_gpu();
      }
      cta_sync();
      if (half == 0) check(read(own((blockIdx.x + 1) % gridDim.x)) == round);
    }
  }
}
void sum_by_atomics(void **) { // the last one reads the sums and clears them
  red_add(sums(), own(0), 1.f);
  cta_sync();
  if (first()) put(0, atom_inc_acq_rel(ws(), 0, gridDim.x - 1));
  cta_sync();
  if (word(0) != gridDim.x - 1) return;
  check(ldg<float>(sums(), own(0)) == static_cast<float>(gridDim.x));
  stg(sums(), own(0), 0.f);
}
void next_tile(void **) { // a counter gives out tiles
  for (;;) {
    if (first()) put(0, atom_add(ws(), 0, 1));
    cta_sync();
    const u32 tile = word(0);
    cta_sync();
    if (tile >= 9) break;
    stg(ws(), own(tile), tile);
  }
}

enum Fence { NONE, OF_WRITERS, OF_READER, OF_WRITERS_AND_GPU };
// What CTA 0 has written is loaded by CTA 1's TMA engine.
template <Fence fence> void to_tma(void **) {
  constexpr bool relaxed = fence == OF_WRITERS_AND_GPU;
  if (blockIdx.x == 0) {
    stg(ws(), own(0), threadIdx.x);
    if (fence == OF_WRITERS || relaxed) fence_proxy_async_all();
    cta_sync();
    if (first() && relaxed) {
      fence_gpu();
      atom_add(ws(), 0, 1);
    } else if (first()) {
      st_release(ws(), 0, 1u);
    }
    return;
  }
  if (first()) {
    mbar_init(at(0), 1);
    fence_mbar_init();
    while ((relaxed ? ld_relaxed(ws(), 0) : ld_acquire(ws(), 0)) == 0) {}
    if (relaxed) fence_gpu();
    if (fence == OF_READER) fence_proxy_async_all();
    mbar_expect_tx(at(0), 256);
    bulk_load(at(128), gptr<const u32>(ws()), 64, 256, at(0));
  }
  cta_sync();
  mbar_wait(at(0), 0);
  check(word(128 + 4 * threadIdx.x) == threadIdx.x);
}
// What CTA 0's bulk store has written is read by CTA 1.
template <bool complete> void from_tma(void **) {
  if (blockIdx.x == 0) {
    put(4 * threadIdx.x, threadIdx.x);
    fence_proxy_async();
    cta_sync();
    if (!first()) return;
    bulk_store(ws(), 64, at(0), 256);
    tma_store_commit();
    tma_store_wait_read<0>();
    if (complete) tma_store_wait<0>();
    st_release(ws(), 0, 1u);
    return;
  }
  if (first())
    while (ld_acquire(ws(), 0) == 0) {}
  cta_sync();
  check(read(own(0)) == threadIdx.x || !complete);
}

enum Fault { FENCE_TOO_EARLY, FENCE_ELSEWHERE, WRITTEN_AGAIN };
template <Fault fault> void wrong_handover(void **) {
  if (blockIdx.x == 0) {
    if (fault == FENCE_TOO_EARLY) fence_gpu();
    stg(ws(), own(0), 3u);
    cta_sync();
    if (first() && fault != FENCE_TOO_EARLY) fence_gpu();
    if (first()) atom_add(ws(), 0, 1);
    if (fault == WRITTEN_AGAIN) stg(ws(), own(0), 4u);
    return;
  }
  if (first())
    while (ld_relaxed(ws(), 0) == 0) {}
  if (first() && fault != FENCE_ELSEWHERE) fence_gpu();
  cta_sync();
  if (threadIdx.x == 32) fence_gpu(); // of what thread 0 has seen it knows nothing
  cta_sync();
  read(own(0));
}

// ---- barriers in shared memory -----------------------------------------------------------------------

void pipeline(void **) { // two warps fill slots, three empty them, each released by one lane
  const u32 full = at(0), empty = at(64);
  for (u32 s = 0; s < 3 && first(); s++) {
    mbar_init(full + 8 * s, 64);
    mbar_init(empty + 8 * s, 3);
  }
  cta_sync();
  for (u32 i = 0; i < 11; i++) {
    const u32 s = i % 3, parity = i / 3 & 1, slot = 1024 + 256 * s;
    if (warp() < 2) {
      mbar_wait(empty + 8 * s, parity ^ 1);
      put(slot + 4 * threadIdx.x, i);
      mbar_arrive(full + 8 * s);
    } else {
      mbar_wait(full + 8 * s, parity);
      check(word(slot + 4 * (threadIdx.x % 64)) == i);
      warp_sync();
      if (elect_one()) mbar_arrive(empty + 8 * s);
    }
  }
}
void tile_after_tile(void **) { // loads, an epilogue in the same place, a store, and again
  if (first()) {
    mbar_init(at(0), 1);
    fence_proxy_async(); // does for the TMA engine what fence_mbar_init does
  }
  cta_sync();
  for (u32 t = 0; t < 4; t++) {
    if (first()) {
      mbar_expect_tx(at(0), 256);
      bulk_load(at(1024), gptr<const u32>(ws()), 0, 256, at(0));
    }
    mbar_wait(at(0), t & 1);
    const u32 v = word(1024 + 4 * threadIdx.x);
    cta_sync();
    put(1024 + 4 * (63 - threadIdx.x), v + t);
    fence_proxy_async();
    cta_sync();
    if (first()) {
      bulk_store(ws(), 64 + 64 * t, at(1024), 256);
      tma_store_commit();
      tma_store_wait_read<0>();
    }
    cta_sync();
  }
}
void another_use(void **) { // the memory of a barrier becomes data's, and a barrier's again
  if (first()) mbar_init(at(0), 64);
  cta_sync();
  mbar_arrive(at(0));
  mbar_wait(at(0), 0);
  cta_sync();
  if (first()) mbar_inval(at(0));
  cta_sync();
  if (threadIdx.x == 33) sts_words<2>(at(0), {{1, 2}});
  cta_sync();
  check(word(4) == 2);
  cta_sync();
  if (threadIdx.x == 40) mbar_init(at(0), 1);
  cta_sync();
  if (threadIdx.x == 41) mbar_arrive(at(0));
  mbar_wait(at(0), 0);
}
void other_use_too_early(void **) {
  if (first()) mbar_init(at(0), 32);
  cta_sync();
  if (warp() == 1) mbar_arrive(at(0));
  mbar_wait(at(0), 0);
  if (first()) mbar_inval(at(0)); // warp 1 may not have asked yet
}
void gone_while_waited_for(void **) {
  if (first()) mbar_init(at(0), 1);
  cta_sync();
  if (first()) {
    mbar_arrive(at(0));
    mbar_inval(at(0));
  } else if (warp() == 1) {
    mbar_wait(at(0), 0);
  }
}
void read_after_inval(void **) {
  if (!first()) return;
  mbar_init(at(0), 1);
  mbar_inval(at(0));
  word(0);
}

// ---- named barriers and clusters ---------------------------------------------------------------------

void three_turns(void **) { // three warps one after the other
  if (warp() == 2) named_arrive(1, 64);
  for (int i = 0; i < 5; i++) {
    named_sync(1 + warp(), 64);
    put(0, static_cast<u32>(i));
    named_arrive(1 + (warp() + 1) % 3, 64);
  }
  if (warp() == 0) named_sync(1, 64);
}
void half_warps(void **) {
  if (threadIdx.x % 32 < 16) named_sync(1, 32);
  cta_sync();
}
void twice_in_a_round(void **) {
  if (warp() > 0) return;
  named_arrive(1, 64);
  named_sync(1, 64);
}
void meet_split(void **) { // a warp leaves early; the others work between arrival and wait
  if (warp() == 3) return;
  put(4 * threadIdx.x, threadIdx.x);
  cluster_arrive();
  put(1024 + 4 * threadIdx.x, 1);
  cluster_wait();
  check(ldc_words<1>(map_shared(at(4 * threadIdx.x), cluster_rank() ^ 1)).w[0] == threadIdx.x);
  cluster_sync();
}
void meet_diverged(void **) {
  if (threadIdx.x % 32 < 16)
    cluster_arrive();
  else
    cluster_arrive();
  cluster_wait();
}
void release_both(
    void **) { // who waits for all releases of its slots may end without a cluster_sync
  if (first()) mbar_init(at(0), 2);
  cluster_sync();
  if (threadIdx.x >= 32 && threadIdx.x < 34)
    mbar_arrive_cluster(map_shared(at(0), threadIdx.x - 32));
  if (first()) mbar_wait_cluster(at(0), 0);
}
void releases_outlive(void **) {
  if (first()) mbar_init(at(0), 2);
  cluster_sync();
  if (threadIdx.x >= 32 && threadIdx.x < 34)
    mbar_arrive_cluster(map_shared(at(0), threadIdx.x - 32));
}

const Case cases[] = {
    {"flags in a row", sweep, 32, 1, nullptr, "", 1},
    {"one CTA waits for three", all_flags, 32, 1, nullptr, "", 4},
    {"polls by an atomic", atomic_poll, 32, 1, nullptr, "", 3},
    {"a try before the wait", peek, 64, 1, nullptr, "", 1},
    {"two flags that nobody sets", never, 32, 1, "deadlock", "no thread", 1},
    {"an atomic that nobody answers", never_atomic, 32, 1, "deadlock", "no thread", 1},
    {"a chain of CTAs", chain, 64, 1, nullptr, "", 6},
    {"CTAs in turn", in_turn, 64, 1, nullptr, "", 5},
    {"barriers of the grid", grid_barrier, 64, 1, nullptr, "", 5},
    {"sums by atomics", sum_by_atomics, 64, 1, nullptr, "", 7},
    {"a counter of tiles", next_tile, 64, 1, nullptr, "", 3},
    {"the reader's proxy fence", to_tma<OF_READER>, 64, 1, nullptr, "", 2},
    {"the writers' proxy fence", to_tma<OF_WRITERS>, 64, 1, nullptr, "", 2},
    {"the same by fences", to_tma<OF_WRITERS_AND_GPU>, 64, 1, nullptr, "", 2},
    {"no proxy fence", to_tma<NONE>, 64, 1, "race", "fence_proxy_async_all", 2},
    {"a flag after a bulk store", from_tma<true>, 64, 1, nullptr, "", 2},
    {"one that has only read", from_tma<false>, 64, 1, "race", "", 2},
    {"a fence before the writes", wrong_handover<FENCE_TOO_EARLY>, 64, 1, "race", "", 2},
    {"a fence by another thread", wrong_handover<FENCE_ELSEWHERE>, 64, 1, "race", "", 2},
    {"written again unasked", wrong_handover<WRITTEN_AGAIN>, 64, 1, "race", "", 2},
    {"a ring of slots", pipeline, 160, 1, nullptr, ""},
    {"tile after tile", tile_after_tile, 64, 1, nullptr, ""},
    {"another use of a barrier's memory", another_use, 64, 1, nullptr, ""},
    {"the same too early", other_use_too_early, 64, 1, "race", ""},
    {"a barrier gone while waited for", gone_while_waited_for, 64, 1, "barrier", ""},
    {"a barrier's remains read", read_after_inval, 32, 1, "uninitialised", ""},
    {"three warps in turn", three_turns, 96, 1, nullptr, ""},
    {"halves of warps", half_warps, 64, 1, "diverged", "whole warps"},
    {"twice in a round", twice_in_a_round, 64, 1, "barrier", "twice in one round"},
    {"a cluster barrier in two halves", meet_split, 128, 2, nullptr, ""},
    {"one in two branches", meet_diverged, 64, 2, "diverged", "part of the warp"},
    {"released by both, and waited for", release_both, 64, 2, nullptr, ""},
    {"released, and not waited for", releases_outlive, 64, 2, "remote-after-exit", ""},
};

void prepare() {
  cpu::global_clear();
  cpu::global_add("ws", cpu::Use::WORKSPACE, 8192, 0).shadow.set_initialised(0, 8192, true);
  cpu::global_launch_begin();
  cpu::atomics_launch_begin();
}

} // namespace

int main() {
  for (const Case &c : cases)
    for (int number = 0; number < 8; number++) {
      prepare();
      run(c, number, "");
    }
  return done();
}
