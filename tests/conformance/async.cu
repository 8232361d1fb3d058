// async.cu -- mbarriers, and the copies by TMA and the bulk engine that complete on them.
#include "case.h"

// ---- mbarriers: thread 0 writes what it sees of the phases -----------------------------------------

CASE(mbar_arrive__phases) {
  u32 bar = smem_base();
  if (thread() != 0) return;
  mbar_init(bar, 2);
  fence_mbar_init();
  stg<u32>(out, 0, mbar_try(bar, 1)); // fresh: the phase before is complete
  stg<u32>(out, 1, mbar_try(bar, 0));
  mbar_arrive(bar);
  stg<u32>(out, 2, mbar_try(bar, 0));
  mbar_arrive(bar);
  stg<u32>(out, 3, mbar_try(bar, 0));
  stg<u32>(out, 4, mbar_try(bar, 1));
  mbar_wait(bar, 0);
  mbar_arrive(bar);
  mbar_arrive(bar);
  stg<u32>(out, 5, mbar_try(bar, 1));
  stg<u32>(out, 6, mbar_try(bar, 0));
  mbar_wait_cluster(bar, 1);
}
CASE(mbar_inval__again) {
  u32 bar = smem_base() + 8;
  if (thread() != 0) return;
  mbar_init(bar, 1);
  fence_mbar_init();
  mbar_arrive(bar);
  stg<u32>(out, 0, mbar_try(bar, 0));
  mbar_inval(bar);
  mbar_init(bar, 2); // a fresh one: its first phase is not complete
  fence_mbar_init();
  stg<u32>(out, 1, mbar_try(bar, 0));
  mbar_arrive(bar);
  stg<u32>(out, 2, mbar_try(bar, 0));
  mbar_arrive(bar);
  stg<u32>(out, 3, mbar_try(bar, 0));
}
// Bytes are announced before, with and after the arrival of the phase.
CASE(mbar_expect_tx__bytes) {
  u32 bar = smem_base(), to = smem_base() + 128;
  if (thread() != 0) return;
  mbar_init(bar, 1);
  fence_mbar_init();
  mbar_expect_tx(bar, 64);
  stg<u32>(out, 0, mbar_try(bar, 0));
  bulk_load<u32>(to, in, 0, 48, bar);
  bulk_load<u32>(to + 48, in, 12, 16, bar);
  stg<u32>(out, 1, await(bar, 0));
  for (int i = 0; i < 16; i++) stg<u32>(out, 16 + i, load(to + 4 * i));
}
CASE(mbar_add_tx__bytes) {
  u32 bar = smem_base(), to = smem_base() + 128;
  if (thread() != 0) return;
  mbar_init(bar, 1);
  fence_mbar_init();
  mbar_add_tx(bar, 32);
  mbar_add_tx(bar, 16);
  bulk_load<u32>(to, in, 4, 32, bar);
  mbar_arrive(bar);
  stg<u32>(out, 0, mbar_try(bar, 0));
  bulk_load<u32>(to + 32, in, 0, 16, bar);
  stg<u32>(out, 1, await(bar, 0));
  for (int i = 0; i < 12; i++) stg<u32>(out, 16 + i, load(to + 4 * i));
}
// Values go from warp to warp by two barriers, several times round.
CASE(mbar_wait__rounds) {
  u32 full = smem_base(), empty = full + 8, at = smem_base() + 64;
  if (thread() == 0) {
    mbar_init(full, 32);
    mbar_init(empty, 32);
    fence_mbar_init();
  }
  cta_sync();
  for (u32 round = 0; round < 5; round++) {
    if (thread() < 32) {
      mbar_wait(empty, (round & 1) ^ 1);
      store(at + 4 * lane(), ldg<u32>(in, 32 * round + lane()));
      mbar_arrive(full);
    } else {
      mbar_wait(full, round & 1);
      stg<u32>(out, 32 * round + lane(), load(at + 4 * (31 - lane())));
      mbar_arrive(empty);
    }
  }
}
CASE(cp_async_mbar_arrive__values) {
  u32 bar = smem_base(), at = smem_base() + 64;
  if (thread() == 0) {
    mbar_init(bar, 32);
    fence_mbar_init();
  }
  cta_sync();
  if (thread() < 32) {
    cp_async_16<u32>(at + 16 * lane(), in, 4 * lane(), lane() != 5);
    cp_async_mbar_arrive(bar);
  }
  bool done = await(bar, 0);
  stg<u32>(out, thread(), done);
  for (int i = 0; i < 2; i++)
    stg<u32>(out, 64 + 64 * i + thread(), load(at + 256 * i + 4 * thread()));
  if (thread() < 32) cp_async_wait<0>();
}

// ---- bulk copies -----------------------------------------------------------------------------------

CASE(bulk_load__whole) {
  u32 bar = smem_base(), to = smem_base() + 1024;
  if (thread() == 0) {
    mbar_init(bar, 1);
    fence_mbar_init();
    mbar_expect_tx(bar, 4096);
    bulk_load<f16>(to, gptr_at<const f16>(in, 32), 8, 4096, bar);
  }
  cta_sync();
  stg<u32>(out, thread(), await(bar, 0));
  dump(out, 64, to, 1024);
}
CASE(bulk_store__runs) {
  u32 at = smem_base();
  fill(at, in, 0, 512);
  fence_proxy_async();
  cta_sync();
  if (thread() != 0) return;
  bulk_store<u32>(out, 4, at + 64, 16);
  bulk_store<u32>(out, 16, at + 256, 1024);
  tma_store_commit();
  tma_store_wait_read<0>();
  bulk_store<f16>(gptr_at<f16>(out, 0), 800, at, 48);
  tma_store_commit();
  tma_store_wait<0>();
}

// ---- TMA -------------------------------------------------------------------------------------------

// x has to be a multiple of 16 bytes; elsewhere a load is an illegal instruction (H200).
LOOM_FN int eights(int x) { return x & ~7; }

// The boxes plainly; with policies in turn; or plainly, when they have been asked into L2.
enum : int { PLAIN, HINT, PREFETCH };
LOOM_FN u64 policy_of(int i) {
  return i % 3 == 0 ? l2_evict_first() : i % 3 == 1 ? l2_evict_last() : l2_evict_normal();
}

// Boxes inside, over each edge, over two at once, and wholly outside, each at 4 KiB of its own. What
// follows a box is looked at too.
template <int how = PLAIN>
LOOM_FN void load_boxes(const tensor_map *map, gptr<u32> out, int w, int h, int box_w, int box_h) {
  const int x[] = {0, -8, 8, eights(w - 3), 16, eights(w - 9), -box_w, 24},
            y[] = {0, 2, -3, 1, h - 4, h - 1, 0, -100};
  const int words = box_w * box_h / 2;
  u32 bar = smem_base(), at = smem_base() + 1024;
  clear(at, 8 * 1024);
  if (thread() == 0) {
    prefetch_tensor_map(map);
    mbar_init(bar, 1);
    fence_mbar_init();
  }
  fence_proxy_async();
  cta_sync();
  if (thread() == 0) {
    mbar_expect_tx(bar, 8 * 4 * words);
    UNROLL
    for (int i = 0; i < 8; i++) {
      if constexpr (how == PREFETCH) tma_prefetch_2d(map, x[i], y[i]);
      if constexpr (how == HINT)
        tma_load_2d_hint(at + 4096 * i, map, x[i], y[i], bar, policy_of(i));
      else
        tma_load_2d(at + 4096 * i, map, x[i], y[i], bar);
    }
  }
  stg<u32>(out, thread(), await(bar, 0));
  ROLLED
  for (int i = 0; i < 8; i++) dump(out, 64 + 2 * words * i, at + 4096 * i, 2 * words);
}
CASE_MAP(tma_load_2d__plain) { load_boxes(&map, out, 40, 20, 24, 12); }
CASE_MAP(tma_load_2d__swizzle_32) { load_boxes(&map, out, 40, 20, 16, 16); }
CASE_MAP(tma_load_2d__swizzle_64) { load_boxes(&map, out, 100, 20, 32, 16); }
CASE_MAP(tma_load_2d__swizzle_128) { load_boxes(&map, out, 100, 20, 64, 16); }
CASE_MAP(tma_load_2d__narrow) { load_boxes(&map, out, 40, 20, 32, 16); } // 64 bytes of 128
CASE_MAP(tma_load_2d_hint__plain) { load_boxes<HINT>(&map, out, 40, 20, 24, 12); }
CASE_MAP(tma_load_2d_hint__swizzle_128) { load_boxes<HINT>(&map, out, 100, 20, 64, 16); }
CASE_MAP(tma_prefetch_2d__plain) { load_boxes<PREFETCH>(&map, out, 40, 20, 24, 12); }
CASE_MAP(tma_prefetch_2d__swizzle_128) { load_boxes<PREFETCH>(&map, out, 100, 20, 64, 16); }
// What a policy is: the CPU device takes these alone.
CASE(l2_policy__values) {
  if (thread() != 0) return;
  const u64 policies[] = {l2_evict_first(), l2_evict_last(), l2_evict_normal()};
  UNROLL
  for (int i = 0; i < 3; i++) {
    stg<u32>(out, 2 * i, (u32)policies[i]);
    stg<u32>(out, 2 * i + 1, (u32)(policies[i] >> 32));
  }
}

// Boxes over the right and the lower edge and inside; the tensor is out. A store at a negative place
// is an illegal instruction (H200).
template <int how = PLAIN>
LOOM_FN void store_boxes(const tensor_map *map, gptr<const u32> in, int w, int h, int box_w,
                         int box_h) {
  const int x[] = {0, eights(w - 7), 8, eights(w - box_w + 9), 24};
  const int y[] = {0, 1, h - 5, h - 2, box_h};
  u32 at = smem_base();
  fill(at, in, 0, 5 * 1024);
  fence_proxy_async();
  cta_sync();
  if (thread() != 0) return;
  UNROLL
  for (int i = 0; i < 5; i++) {
    if constexpr (how == HINT)
      tma_store_2d_hint(map, at + 4096 * i, x[i], y[i], policy_of(i));
    else
      tma_store_2d(map, at + 4096 * i, x[i], y[i]);
    tma_store_commit();
  }
  tma_store_wait_read<1>();
  tma_store_wait<0>();
}
CASE_MAP(tma_store_2d__plain) { store_boxes(&map, in, 116, 48, 24, 12); }
CASE_MAP(tma_store_2d__swizzle_32) { store_boxes(&map, in, 116, 60, 16, 16); }
CASE_MAP(tma_store_2d__swizzle_64) { store_boxes(&map, in, 116, 60, 32, 16); }
CASE_MAP(tma_store_2d__swizzle_128) { store_boxes(&map, in, 196, 60, 64, 16); }
CASE_MAP(tma_store_2d_hint__plain) { store_boxes<HINT>(&map, in, 116, 48, 24, 12); }
CASE_MAP(tma_store_2d_hint__swizzle_128) { store_boxes<HINT>(&map, in, 196, 60, 64, 16); }
