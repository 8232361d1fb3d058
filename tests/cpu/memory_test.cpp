// memory_test.cpp -- shared and global memory as a kernel sees them, what accesses cost, and 16-bit
// numbers: small kernels, launched here.
#include "loom.cuh"

#include "families.h"
#include "memory.h"
#include "ok.h"

extern "C" {
#include "desc.h"
}

#include <cmath>
#include <cstring>

namespace cpu {
void atomics_launch_begin(); // atomics.cpp
}

namespace {

struct Case {
  const char *name;
  void (*kernel)(void **);
  unsigned grid, block, cluster;
  const char *kind; // of the first finding; null: none
  const char *text; // a part of what it says
};

u32 at(u32 offset) { return smem_base() + offset; }
template <class T> gptr<T> array(const char *name) {
  return loom_address::to<T>(cpu::global_find(name)->address);
}
gptr<u32> words_of_ws() { return array<u32>("ws"); }

// ---- shared memory ----

void fits(void **) { sts_words<4>(at(1008), {{1, 2, 3, 4}}); }
void past_end(void **) { sts_words<4>(at(1016), {{1, 2, 3, 4}}); }
void before_begin(void **) { sts_f32(at(0) - 8, 0); }
void crooked(void **) { lds_words<2>(at(4)); }
void nothing_there(void **) { lds_f32(at(0)); }
void on_barrier(void **) {
  mbar_init(at(64), 1);
  sts_f32(at(68), 1);
}
void one_warp_writes(void **) {
  if (threadIdx.x < 32) sts_f32(at(4 * threadIdx.x), 1);
  if (threadIdx.x >= 32) lds_f32(at(4 * threadIdx.x - 128));
}
void other_cta(void **) { sts_f32(map_shared(at(0), cluster_rank() ^ 1), 1); }
void early_remote(void **) {
  stc_words<1>(map_shared(at(4 * threadIdx.x), cluster_rank() ^ 1), {{1}});
  cluster_sync();
}
void good_remote(void **) {
  cluster_sync();
  stc_words<1>(map_shared(at(4 * threadIdx.x), cluster_rank() ^ 1), {{1}});
  cluster_sync();
  lds_f32(at(4 * threadIdx.x));
}
void counts_in_shared(void **) {
  if (threadIdx.x == 0) sts_words<1>(at(0), {{0}});
  cta_sync();
  atom_add_shared(at(0), 1);
  cta_sync();
  if (lds_words<1>(at(0)).w[0] != blockDim.x) sts_f32(at(1 << 20), 0);
}

// ---- global memory ----

void writes_input(void **) {
  stg(loom_address::to<f16>(cpu::global_find("A")->address), 0, f16{0});
}
void reads_padding_end(void **) { ldg<f16>(array<const f16>("A"), 7 * 12 + 8); }
void writes_padding(void **) { stg(array<f16>("C"), 12 + 8, f16{0}); }
void writes_twice(void **) {
  stg(array<f16>("C"), 12, f16{0});
  cta_sync();
  stg(array<f16>("C"), 12, f16{0});
}
void reads_result(void **) { ldg<f16>(array<const f16>("C"), 0); }
void nobodys(void **) { ldg<f16>(loom_address::to<const f16>(64), 0); }
void too_early(void **) { ldg<f16>(array<const f16>("A"), 0); }
void after_wait(void **) {
  grid_dep_wait();
  ldg<f16>(array<const f16>("A"), 0);
}
void streams(void **) {
  stg_words_stream<4>(words_of_ws(), 4, ldg_words_stream<4>(array<const f16>("A"), 8));
}
void streams_workspace(void **) { ldg_words_stream<2>(array<const u32>("ws"), 2); }
void streams_crooked(void **) { stg_words_stream<4>(words_of_ws(), 2, {{1, 2, 3, 4}}); }
void both_write(void **) { stg(words_of_ws(), 0, 1u); }

// CTA 0 hands a word to CTA 1, by a flag.
template <bool fences, bool strong> void handover(void **) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    stg(words_of_ws(), 0, 42u);
    if (fences) fence_gpu();
    if (strong)
      st_release(words_of_ws(), 1, 1u);
    else
      red_add(words_of_ws(), 1, 1u);
  } else {
    while ((strong ? ld_acquire(words_of_ws(), 1) : ld_relaxed(words_of_ws(), 1)) == 0) {}
    if (fences) fence_gpu();
    if (ldg<u32>(words_of_ws(), 0) != 42) stg(words_of_ws(), -1, 0u);
  }
}
// The last of the CTAs to come sums what all have written.
void last_sums(void **) {
  if (threadIdx.x != 0) return;
  stg(words_of_ws(), 4 + (i64)blockIdx.x, blockIdx.x);
  if (atom_inc_acq_rel(words_of_ws(), 1, gridDim.x - 1) != gridDim.x - 1) return;
  u32 sum = 0;
  for (unsigned i = 0; i < gridDim.x; i++) sum += ldg<u32>(words_of_ws(), 4 + i);
  if (sum != gridDim.x * (gridDim.x - 1) / 2) stg(words_of_ws(), -1, 0u);
}
void waits_for_next(void **) { // which need not be resident
  if (blockIdx.x == 0) {
    while (ld_acquire(words_of_ws(), 1) == 0) {}
  } else {
    st_release(words_of_ws(), 1, 1u);
  }
}

const Case cases[] = {
    {"an access at the end of shared memory", fits, 1, 1, 1, nullptr, nullptr},
    {"one past it", past_end, 1, 1, 1, "out-of-bounds", "8 bytes past the end"},
    {"one before its begin", before_begin, 1, 1, 1, "out-of-bounds", "8 bytes before its begin"},
    {"an address not aligned", crooked, 1, 1, 1, "misaligned", "aligned to 8"},
    {"memory that nothing wrote", nothing_there, 1, 1, 1, "uninitialised", "nothing wrote"},
    {"data over an mbarrier", on_barrier, 1, 1, 1, "barrier", "touches the mbarrier at +64"},
    {"a read that no barrier orders", one_warp_writes, 1, 64, 1, nullptr, nullptr},
    {"an address of another CTA", other_cta, 2, 32, 2, "out-of-bounds", "reaches only its own"},
    {"a write to a CTA that may not run yet", early_remote, 2, 32, 2, "race",
     "may not have started"},
    {"the same after a cluster_sync", good_remote, 2, 32, 2, nullptr, nullptr},
    {"atomics in shared memory", counts_in_shared, 1, 64, 1, nullptr, nullptr},
    {"a write to an input", writes_input, 1, 1, 1, "input-written", "A[0][0]"},
    {"a read past the last element", reads_padding_end, 1, 1, 1, "out-of-bounds",
     "A[7][8]: 2 bytes past"},
    {"a write between rows", writes_padding, 1, 1, 1, "padding-written", "C[1][8]"},
    {"a result written twice", writes_twice, 1, 1, 1, "written-twice", "C[1][0]"},
    {"a result read as an input", reads_result, 1, 1, 1, "uninitialised", "beta is 0"},
    {"an address of no region", nobodys, 1, 1, 1, "out-of-bounds", "nobody"},
    {"a read before grid_dep_wait", too_early, 1, 1, 1, "before-grid-wait", "A[0][0]"},
    {"and one after it", after_wait, 1, 1, 1, nullptr, nullptr},
    {"words in passing", streams, 1, 1, 1, nullptr, nullptr},
    {"words in passing of what may be written", streams_workspace, 1, 1, 1, "race",
     "nobody writes while it runs"},
    {"words in passing, not aligned", streams_crooked, 1, 1, 1, "misaligned", "aligned to 16"},
    {"writes of two CTAs", both_write, 2, 1, 1, "race", "nothing orders the two"},
    {"a word handed over by release and acquire", handover<false, true>, 2, 32, 1, nullptr,
     nullptr},
    {"by fences and relaxed atomics", handover<true, false>, 2, 32, 1, nullptr, nullptr},
    {"by relaxed atomics alone", handover<false, false>, 2, 32, 1, "race",
     "release and an acquire"},
    {"the last CTA sums", last_sums, 8, 32, 1, nullptr, nullptr},
    {"a wait for a later CTA", waits_for_next, 2, 32, 1, "not-resident", "need not be resident"},
};

void prepare(bool pdl) {
  cpu::global_clear();
  for (const char *name : {"A", "C"}) { // 8 rows of 8, 12 elements from row to row
    cpu::Region &r = cpu::global_add(name, *name == 'A' ? cpu::Use::INPUT : cpu::Use::OUTPUT,
                                     2 * (7 * 12 + 8), 0);
    r.rows = r.columns = 8;
    r.ld = 12;
    r.writer.assign(8 * 12, 0);
    r.previous = pdl;
  }
  cpu::global_add("ws", cpu::Use::WORKSPACE, 64, 0).shadow.set_initialised(0, 64, true);
  cpu::global_launch_begin();
  cpu::atomics_launch_begin();
}

void launch(const Case &c, int schedule) {
  cpu::Launch l;
  l.entry = c.kernel;
  l.grid = c.grid;
  l.block = c.block;
  l.cluster = c.cluster;
  l.smem = 1024;
  l.whole_grid = c.kernel != waits_for_next && c.grid <= 2;
  l.pdl = c.kernel == too_early || c.kernel == after_wait;
  l.schedule = cpu::schedule_of(schedule, 1);
  l.schedule.shuffled = false;
  if (c.kernel == waits_for_next) l.schedule.resident = 1;
  cpu::findings_clear();
  prepare(l.pdl);
  cpu::launch(l);
}

void run(const Case &c) {
  for (int schedule = 0; schedule < 4; schedule++) {
    launch(c, schedule);
    const auto &all = cpu::findings();
    // Who reads first decides what an unordered read finds.
    if (c.kernel == one_warp_writes) {
      ok(!all.empty(), "%s, schedule %d", c.name, schedule);
      continue;
    }
    const bool right = c.kind ? !all.empty() && !strcmp(cpu::kind_name(all[0].kind), c.kind) &&
                                    all[0].text.find(c.text) != std::string::npos
                              : all.empty();
    ok(right, "%s, schedule %d: %s", c.name, schedule, cpu::findings_text().c_str());
  }
}

// ---- costs ----

void costs(void **) {
  const u32 t = threadIdx.x;
  const gptr<f16> c = array<f16>("C");
  sts_f32(at(4 * t), 0);
  sts_words<1>(at(128 * (t % 8) + 4 * (t / 8)), {{0}});
  sts_words<4>(at(16 * t), {{0}});
  sts_words<2>(at(8 * (t % 16)), {{0}});
  if (t < 8) stg(c, t, f16{0});
  if (t >= 24) stg(c, 12 * (i64)(t - 24 < 7 ? t - 24 + 1 : 0) + 4, f16{0});
}

void count() {
  Case c = {"costs", costs, 1, 32, 1, nullptr, nullptr};
  cpu::Counters got[4][6] = {};
  for (int schedule = 0; schedule < 4; schedule++) {
    cpu::sites_clear_counters();
    launch(c, schedule);
    int n = 0;
    for (cpu::Site s : cpu::sites_sorted())
      if (cpu::site_info(s).count.visits && n < 6) got[schedule][n++] = cpu::site_info(s).count;
  }
  const cpu::Counters *g = got[0];
  ok(g[0].visits == 1 && g[0].wavefronts == 1 && g[0].wavefronts_ideal == 1,
     "32 words in a row: one pass");
  ok(g[1].wavefronts == 8 && g[1].wavefronts_ideal == 1, "8 rows of one bank: %d passes",
     (int)g[1].wavefronts);
  ok(g[2].wavefronts == 4 && g[2].wavefronts_ideal == 4, "16 bytes a lane: four passes");
  ok(g[3].wavefronts == 2 && g[3].wavefronts_ideal == 2, "8 bytes a lane: two passes");
  ok(g[4].sectors == 1 && g[4].sectors_ideal == 1, "16 bytes of a row: a sector");
  ok(g[5].visits == 1 && g[5].sectors == 6 && g[5].sectors_ideal == 1, "a column: %d sectors",
     (int)g[5].sectors);
  ok(!memcmp(got[0], got[1], sizeof got[0]) && !memcmp(got[0], got[3], sizeof got[0]),
     "in every schedule");
}

// ---- numbers ----

void numbers() {
  bool same = true;
  for (int dtype : {LOOM_F16, LOOM_BF16})
    for (int bits = 0; bits < 0x10000; bits++) {
      const double x = cpu::value_of(dtype, (uint16_t)bits);
      same = same && (std::isnan(x) || cpu::bits_of(dtype, x) == bits);
      const loom_engine::number type =
          dtype == LOOM_F16 ? loom_engine::number::f16 : loom_engine::number::bf16;
      const float f = loom_engine::to_float(type, (u16)bits);
      same = same && (std::isnan(x) ? std::isnan(f) : f == (float)x);
    }
  ok(same, "every 16-bit number is itself, and the same as the primitives say");
  for (float x : {65519.0f, 65520.0f, 2049.0f, 2051.0f, 1e-7f, 3e-8f, 1e-8f, -0.0f, 1e38f, 3.4e38f,
                  257.0f, 259.0f})
    ok(cpu::bits_of(LOOM_F16, x) == loom_engine::from_float(loom_engine::number::f16, x) &&
           cpu::bits_of(LOOM_BF16, x) == loom_engine::from_float(loom_engine::number::bf16, x),
       "%g is rounded alike", (double)x);
}

} // namespace

int main() {
  for (const Case &c : cases) run(c);
  count();
  numbers();
  return done();
}
