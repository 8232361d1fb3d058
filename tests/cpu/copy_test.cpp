// copy_test.cpp -- cp.async, TMA and bulk copies: right kernels move the right bytes in every
// schedule, wrong ones are found and the finding names their fault.
#include "loom.cuh"

#include "kit.h"

namespace {

constexpr int ROWS = 40, COLUMNS = 70, PITCH = 80; // of the tensor: `from` and `to` have the same

tensor_map maps[2][4]; // of from, of to; swizzle 0 32 64 128
gptr<const f16> from;
gptr<f16> to;
int now; // swizzle's index in maps, where a case runs for each

u16 element(int row, int column) { return (u16)(row * 100 + column + 1); }
const cpu::Region &region(const char *name) { return *cpu::global_find(name); }
int inner() { return now ? 8 << now : 32; } // elements of a box's row

u16 half_at(u32 address) { // without an access
  u16 v;
  memcpy(&v, &cpu::me->cta->smem[(address & cpu::OFFSET_MASK) - cpu::SMEM_BASE], 2);
  return v;
}

void start_barrier(u32 arrivals) {
  if (threadIdx.x == 0) {
    mbar_init(at(0), arrivals);
    fence_mbar_init();
  }
  cta_sync();
}

// Column c of row r of a box in shared memory, with its chunks exchanged by the row.
u32 in_box(u32 base, int row, int column) {
  const int chunks = inner() / 8, line = row * chunks / 8; // of 128 bytes
  const int turn = now == 3 ? line % 8 : now == 2 ? line % 4 : now == 1 ? line % 2 : 0;
  return base + (u32)(row * inner() * 2 + 16 * (column / 8 ^ turn) + column % 8 * 2);
}

bool box_is(u32 base, int x, int y) { // what a load has to bring
  for (int r = 0; r < 16; r++)
    for (int c = 0; c < inner(); c++) {
      const bool inside = x + c >= 0 && x + c < COLUMNS && y + r >= 0 && y + r < ROWS;
      const u16 want = inside ? element(y + r, x + c) : 0;
      if (half_at(in_box(base, r, c)) != want) return false;
    }
  return true;
}

// ---- right ones ----

void loads(void **) {
  static const int corners[][2] = {{0, 0}, {-8, 5}, {56, 30}, {8, -7}, {200, 0}, {40, 100}};
  start_barrier(1);
  u32 parity = 0;
  for (const auto &c : corners) {
    if (threadIdx.x == 0) {
      mbar_expect_tx(at(0), (u32)(inner() * 2 * 16));
      tma_load_2d(at(1024), &maps[0][now], c[0], c[1], at(0));
    }
    mbar_wait(at(0), parity);
    parity ^= 1;
    if (threadIdx.x == 0) check(box_is(at(1024), c[0], c[1]));
    cta_sync();
  }
}

void narrow(void **) { // rows of 48 bytes, each in a line of 128 with its gap
  static tensor_map map;
  check(!cpu::tensor_map_encode({region("from").address, {COLUMNS, ROWS}, PITCH * 2, {24, 16}, 128},
                                &map));
  start_barrier(1);
  for (u32 i = 0; i < 4; i++) sts_words<4>(at(1024 + 16 * (threadIdx.x + 32 * i)), {{5, 5, 5, 5}});
  fence_proxy_async();
  warp_sync();
  if (threadIdx.x == 0) {
    mbar_expect_tx(at(0), 48 * 16);
    tma_load_2d(at(1024), &map, 8, 2, at(0));
  }
  mbar_wait(at(0), 0);
  for (int r = 0; r < 16; r++)
    for (int c = 0; c < 24; c++) {
      const u32 chunk = (u32)(c / 8 ^ r % 8);
      check(half_at(at(1024 + 128 * (u32)r + 16 * chunk + (u32)c % 8 * 2)) ==
            element(2 + r, 8 + c));
    }
  check(lds_words<1>(at(1024 + 3 * 16)).w[0] == 5); // row 0 has chunks 0 1 2
}

void stores(void **) { // an even number of rows up, clipped at the right and below
  for (int i = (int)threadIdx.x; i < 16 * inner(); i += 32) {
    const u32 place = in_box(at(1024), i / inner(), i % inner());
    const u16 v = element(32 + i / inner(), 56 + i % inner());
    memcpy(&cpu::me->cta->smem[(place & cpu::OFFSET_MASK) - cpu::SMEM_BASE], &v, 2);
  }
  if (threadIdx.x == 0) cpu::me->cta->shadow.reset(8192, true);
  warp_sync();
  if (threadIdx.x == 0) {
    fence_proxy_async();
    tma_store_2d(&maps[1][now], at(1024), 56, 32);
    tma_store_commit();
    tma_store_wait<0>();
    const u16 *memory = reinterpret_cast<const u16 *>(region("to").bytes.data());
    for (int r = 0; r < ROWS; r++)
      for (int c = 0; c < PITCH; c++) {
        const int edge = (COLUMNS + 7) / 8 * 8; // whole chunks of 16 bytes are written
        const bool written = r >= 32 && c >= 56 && c < edge && c < 56 + inner();
        check(memory[r * PITCH + c] == (written ? element(r, c) : 0));
      }
  }
}

void store_clipped(void **) { // only what lies in the tensor was written: 8 rows of 16 columns
  const u32 t = threadIdx.x;
  if (t < 16) sts_words<4>(at(1024 + 64 * (t / 2) + 16 * (t % 2)), {{7, 7, 7, 7}});
  fence_proxy_async();
  warp_sync();
  if (t == 0) {
    tma_store_2d(&maps[1][0], at(1024), 56, 32);
    tma_store_commit();
    tma_store_wait<0>();
    check(region("to").bytes[2 * (39 * PITCH + 70)] == 7);
  }
}

void multicast(void **) { // one CTA loads for both
  start_barrier(1);
  if (threadIdx.x == 0) mbar_expect_tx(at(0), 1024);
  cluster_sync();
  if (threadIdx.x == 0 && cluster_rank() == 1)
    tma_load_2d_multicast(at(1024), &maps[0][0], 0, 0, at(0), 3);
  mbar_wait(at(0), 0);
  if (threadIdx.x == 0) check(box_is(at(1024), 0, 0));
}

void copies(void **) {
  const int t = (int)threadIdx.x;
  cp_async_16<f16>(at((u32)(16 * t)), from, 8 * t, true);
  cp_async_commit();
  cp_async_8<f16>(at((u32)(1024 + 8 * t)), from, 4 * t, t % 2 == 0);
  cp_async_4<f16>(at((u32)(2048 + 4 * t)), from, 2 * t, true);
  cp_async_commit();
  cp_async_wait<1>();
  check(lds_words<1>(at((u32)(16 * t))).w[0] != 0xffffffff);
  cp_async_wait<0>();
  const auto *memory = region("from").bytes.data();
  const auto *smem = cpu::me->cta->smem.data();
  static const unsigned char zeros[8] = {};
  check(memcmp(smem + 16 * t, memory + 16 * t, 16) == 0);
  check(memcmp(smem + 1024 + 8 * t, t % 2 ? zeros : memory + 8 * t, 8) == 0);
  check(memcmp(smem + 2048 + 4 * t, memory + 4 * t, 4) == 0);
}

void copies_in_groups(void **) { // empty ones too, and not as many in each lane
  const u32 t = threadIdx.x, more = t % 3;
  cp_async_commit();
  for (u32 i = 0; i <= more; i++) {
    cp_async_16<f16>(at(512 * i + 16 * t), from, 8 * (int)t, true);
    cp_async_commit();
  }
  if (t % 2) cp_async_commit();
  cp_async_wait<2>(); // all but the last two groups, whatever is in them
  if (t % 6 == 5) check(lds_words<1>(at(16 * t)).w[0] != 0xffffffff);
  cp_async_wait<0>();
  warp_sync();
  const u32 other = t ^ 1;
  for (u32 i = 0; i <= other % 3; i++)
    check(lds_words<1>(at(512 * i + 16 * other)).w[0] != 0xffffffff);
}

void copies_arrive(void **) { // at an mbarrier, one arrival of each thread
  start_barrier(32);
  const u32 t = threadIdx.x;
  if (t < 32) {
    cp_async_16<f16>(at(1024 + 16 * t), from, 8 * t, true);
    cp_async_mbar_arrive(at(0));
  } else {
    mbar_wait(at(0), 0);
    check(lds_words<1>(at(1024 + 16 * (t - 32))).w[0] != 0xffffffff);
  }
}

void bulk(void **) { // in, over to the other CTA, and out
  start_barrier(1);
  cluster_sync();
  if (threadIdx.x == 0) {
    const u32 other = map_shared(at(0), cluster_rank() ^ 1);
    if (cluster_rank() == 0) {
      mbar_expect_tx(at(0), 64);
      bulk_load(at(1024), from, 8, 64, at(0));
      mbar_wait(at(0), 0);
      bulk_push(other + 2048, at(1024), 64, other);
      st_async<2>(other + 4096, words<2>{{7, 9}}, other);
    } else {
      mbar_expect_tx(at(0), 72);
      mbar_wait(at(0), 0);
      check(lds_words<2>(at(4096)).w[1] == 9);
      bulk_store(to, 16, at(2048), 64);
      tma_store_commit();
      tma_store_wait<0>();
      check(memcmp(&region("to").bytes[32], &region("from").bytes[16], 64) == 0);
    }
  }
  cluster_sync();
}

void hinted(void **) { // a policy changes nothing, a prefetch neither
  static const int corners[][2] = {{0, 0}, {-8, -5}, {200, 0}, {40, 100}};
  const u64 policies[] = {l2_evict_first(), l2_evict_last(), l2_evict_normal()};
  start_barrier(1);
  if (threadIdx.x == 0) {
    for (const auto &c : corners) tma_prefetch_2d(&maps[0][now], c[0], c[1]);
    mbar_expect_tx(at(0), (u32)(inner() * 2 * 16));
    tma_load_2d_hint(at(1024), &maps[0][now], 8, 5, at(0), policies[now % 3]);
  }
  mbar_wait(at(0), 0);
  check(box_is(at(1024), 8, 5));
  if (threadIdx.x != 0) return;
  tma_store_2d_hint(&maps[1][now], at(1024), 8, 5, policies[(now + 1) % 3]);
  tma_store_commit();
  tma_store_wait<0>();
  const size_t first = 2 * (5 * PITCH + 8), bytes = (size_t)(2 * inner() - 2);
  check(memcmp(&region("to").bytes[first], &region("from").bytes[first], bytes) == 0);
}

// ---- wrong ones: copies ----

void store_words() { // of a box
  for (u32 i = 0; i < 8; i++) sts_words<4>(at(1024 + 16 * (threadIdx.x + 32 * i)), {{1, 1, 1, 1}});
}
void load_unwaited(void **) {
  start_barrier(1);
  if (threadIdx.x == 0) {
    mbar_expect_tx(at(0), 1024);
    tma_load_2d(at(1024), &maps[0][0], 0, 0, at(0));
    lds_words<1>(at(1024));
  }
}
void load_into_unread(void **) { // the slot is still being read by another warp
  start_barrier(1);
  if (threadIdx.x < 32) store_words();
  cta_sync();
  if (threadIdx.x == 32) lds_words<1>(at(1024));
  if (threadIdx.x == 0) {
    mbar_expect_tx(at(0), 1024);
    tma_load_2d(at(1024), &maps[0][0], 0, 0, at(0));
  }
  mbar_wait(at(0), 0);
}
void load_lost(void **) {
  start_barrier(1);
  if (threadIdx.x == 0) tma_load_2d(at(1024), &maps[0][0], 0, 0, at(0));
}
void load_misplaced(void **) {
  start_barrier(1);
  if (threadIdx.x == 0) tma_load_2d(at(1152), &maps[0][3], 0, 0, at(0));
}
void load_odd_x(void **) {
  start_barrier(1);
  if (threadIdx.x == 0) tma_load_2d(at(1024), &maps[0][0], 3, 0, at(0));
}
void load_not_a_map(void **) {
  static tensor_map nothing;
  start_barrier(1);
  if (threadIdx.x == 0) tma_load_2d(at(1024), &nothing, 0, 0, at(0));
}
void load_no_fence(void **) {
  if (threadIdx.x == 0) {
    mbar_init(at(0), 1);
    tma_load_2d(at(1024), &maps[0][0], 0, 0, at(0));
  }
}
void load_no_policy(void **) {
  start_barrier(1);
  if (threadIdx.x == 0) tma_load_2d_hint(at(1024), &maps[0][0], 0, 0, at(0), 0);
}
void multicast_no_policy(void **) {
  start_barrier(1);
  if (threadIdx.x == 0)
    tma_load_2d_multicast_hint(at(1024), &maps[0][0], 0, 0, at(0), 1, l2_evict_last() + 1);
}
void store_no_policy(void **) {
  if (threadIdx.x == 0) tma_store_2d_hint(&maps[1][0], at(1024), 0, 0, l2_evict_first() << 1);
}
void prefetch_odd_x(void **) {
  if (threadIdx.x == 0) tma_prefetch_2d(&maps[0][0], 3, 0);
}
void prefetch_not_a_map(void **) {
  static tensor_map nothing;
  if (threadIdx.x == 0) tma_prefetch_2d(&nothing, 0, 0);
}
void prefetch_past_end(void **) { // the map has a row that the memory has not
  static tensor_map map;
  check(!cpu::tensor_map_encode(
      {region("from").address, {COLUMNS, ROWS + 1}, PITCH * 2, {32, 16}, 0}, &map));
  if (threadIdx.x == 0) tma_prefetch_2d(&map, 0, ROWS - 8);
}
void store_unfenced(void **) {
  store_words();
  warp_sync();
  if (threadIdx.x == 0) {
    tma_store_2d(&maps[1][0], at(1024), 0, 0);
    tma_store_commit();
    tma_store_wait_read<0>();
  }
}
void store_unset(void **) { // the last 16 bytes of what it takes
  const u32 t = threadIdx.x;
  if (t < 15) sts_words<4>(at(1024 + 64 * (t / 2) + 16 * (t % 2)), {{7, 7, 7, 7}});
  fence_proxy_async();
  warp_sync();
  if (t == 0) {
    tma_store_2d(&maps[1][0], at(1024), 56, 32);
    tma_store_commit();
    tma_store_wait_read<0>();
  }
}
void store_unwaited(void **) {
  store_words();
  fence_proxy_async();
  warp_sync();
  if (threadIdx.x == 0) {
    tma_store_2d(&maps[1][0], at(1024), 0, 0);
    tma_store_commit();
  }
}
void store_uncommitted(void **) {
  store_words();
  fence_proxy_async();
  warp_sync();
  if (threadIdx.x == 0) {
    tma_store_2d(&maps[1][0], at(1024), 0, 0);
    tma_store_wait_read<0>();
  }
}
void store_overwritten(void **) {
  store_words();
  fence_proxy_async();
  warp_sync();
  if (threadIdx.x == 0) {
    tma_store_2d(&maps[1][0], at(1024), 0, 0);
    tma_store_commit();
    sts_words<1>(at(1024), {0});
    tma_store_wait_read<0>();
  }
}
void copy_unwaited(void **) {
  cp_async_16<f16>(at(16 * threadIdx.x), from, 0, true);
  cp_async_commit();
  lds_words<1>(at(16 * threadIdx.x));
}
void copy_uncommitted(void **) { // a wait is for groups
  cp_async_16<f16>(at(16 * threadIdx.x), from, 0, true);
  cp_async_wait<0>();
  lds_words<1>(at(16 * threadIdx.x));
}
void copy_odd(void **) { cp_async_16<f16>(at(16 * threadIdx.x), from, 4, true); }
void bulk_odd(void **) {
  start_barrier(1);
  if (threadIdx.x == 0) bulk_load(at(1024), from, 0, 40, at(0));
}

const Case cases[] = {
    {"loads", loads, 64, 1, nullptr, ""},
    {"stores", stores, 32, 1, nullptr, ""},
    {"narrow", narrow, 32, 1, nullptr, ""},
    {"store_clipped", store_clipped, 32, 1, nullptr, ""},
    {"multicast", multicast, 32, 2, nullptr, ""},
    {"copies", copies, 32, 1, nullptr, ""},
    {"copies_in_groups", copies_in_groups, 32, 1, nullptr, ""},
    {"copies_arrive", copies_arrive, 64, 1, nullptr, ""},
    {"bulk", bulk, 32, 2, nullptr, ""},
    {"hinted", hinted, 32, 1, nullptr, ""},
    {"load_unwaited", load_unwaited, 32, 1, "race", "wait for the mbarrier"},
    {"load_into_unread", load_into_unread, 64, 1, "race", "read"},
    {"load_lost", load_lost, 32, 1, "remote-after-exit", "nobody there waits"},
    {"load_misplaced", load_misplaced, 32, 1, "misaligned", "1024"},
    {"load_odd_x", load_odd_x, 32, 1, "misaligned", "x = 3"},
    {"load_not_a_map", load_not_a_map, 32, 1, "descriptor", "nothing encoded it"},
    {"load_no_policy", load_no_policy, 32, 1, "descriptor", "0x0 is no L2 policy"},
    {"multicast_no_policy", multicast_no_policy, 32, 1, "descriptor", "no L2 policy"},
    {"store_no_policy", store_no_policy, 32, 1, "descriptor", "no L2 policy"},
    {"prefetch_odd_x", prefetch_odd_x, 32, 1, "misaligned", "x = 3"},
    {"prefetch_not_a_map", prefetch_not_a_map, 32, 1, "descriptor", "nothing encoded it"},
    {"prefetch_past_end", prefetch_past_end, 32, 1, "out-of-bounds", "past the end"},
    {"load_no_fence", load_no_fence, 32, 1, "barrier", ""},
    {"store_unfenced", store_unfenced, 32, 1, "race", "fence_proxy_async"},
    {"store_unset", store_unset, 32, 1, "uninitialised", ""},
    {"store_unwaited", store_unwaited, 32, 1, "remote-after-exit", "tma_store_wait_read"},
    {"store_uncommitted", store_uncommitted, 32, 1, "remote-after-exit", "tma_store_commit"},
    {"store_overwritten", store_overwritten, 32, 1, "race", "tma_store_wait_read"},
    {"copy_unwaited", copy_unwaited, 32, 1, "race", "cp_async_wait"},
    {"copy_uncommitted", copy_uncommitted, 32, 1, "race", "cp_async_wait"},
    {"copy_odd", copy_odd, 32, 1, "misaligned", ""},
    {"bulk_odd", bulk_odd, 32, 1, "misaligned", "multiple of 16"},
};

void make_memory() {
  cpu::global_clear();
  const size_t bytes = ROWS * PITCH * 2;
  cpu::Region &in = cpu::global_add("from", cpu::Use::INPUT, bytes, 0);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < PITCH; c++) {
      const u16 v = element(r, c);
      memcpy(&in.bytes[(size_t)(2 * (r * PITCH + c))], &v, 2);
    }
  cpu::Region &out = cpu::global_add("to", cpu::Use::SCRATCH, bytes, 0);
  memset(out.bytes.data(), 0, bytes);
  from = loom_address::to<const f16>(in.address);
  to = loom_address::to<f16>(out.address);
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < 2; i++)
      cpu::tensor_map_encode({(i ? out : in).address,
                              {COLUMNS, ROWS},
                              PITCH * 2,
                              {s ? 8u << s : 32u, 16},
                              s ? 16 << s : 0},
                             &maps[i][s]);
}

void run_on(const Case &c, int number, int swizzle) {
  static const char *const names[] = {"", ", swizzle 32", ", swizzle 64", ", swizzle 128"};
  now = swizzle;
  make_memory();
  run(c, number, names[swizzle]);
}

void test_encode() {
  const cpu::TensorShape good = {1024, {72, 40}, 160, {64, 16}, 128};
  tensor_map map;
  ok(!cpu::tensor_map_encode(good, &map), "a tensor map");
  struct {
    const char *what;
    cpu::TensorShape shape;
  } bad[] = {{"address", {1032, {72, 40}, 160, {64, 16}, 128}},
             {"stride of 8", {1024, {72, 40}, 152, {64, 16}, 128}},
             {"stride below a row", {1024, {72, 40}, 128, {64, 16}, 128}},
             {"no rows", {1024, {72, 0}, 160, {64, 16}, 128}},
             {"box of 257", {1024, {72, 40}, 160, {64, 257}, 128}},
             {"box of 12 bytes", {1024, {72, 40}, 160, {6, 16}, 0}},
             {"box wider than the swizzle", {1024, {72, 40}, 160, {64, 16}, 64}},
             {"swizzle", {1024, {72, 40}, 160, {64, 16}, 16}}};
  for (const auto &b : bad) ok(cpu::tensor_map_encode(b.shape, &map) != nullptr, "%s", b.what);
}

} // namespace

int main() {
  test_encode();
  for (const Case &c : cases)
    for (int number = 0; number < 8; number++) run_on(c, number, 0);
  for (int swizzle = 1; swizzle < 4; swizzle++)
    for (int number = 0; number < 4; number++)
      for (int i = 0; i < 2; i++) run_on(cases[i], number, swizzle);
  return done();
}
