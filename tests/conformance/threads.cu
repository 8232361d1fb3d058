// threads.cu -- warps, barriers of a CTA, global memory and its atomics.
#include "case.h"

// ---- warps -----------------------------------------------------------------------------------------

CASE(shfl__words) {
  u32 v = ldg<u32>(in, thread());
  stg<u32>(out, thread(), shfl(v, (lane() * 5 + 3) % 32));
  stg<u32>(out, 64 + thread(), shfl(v, 7));
  stg<u32>(out, 128 + thread(), shfl(v, lane() + 32)); // the lane is taken modulo 32
}
CASE(shfl__floats) {
  float v = ldg<float>(gptr_at<const float>(in, 0), thread());
  put(out, thread(), shfl(v, 31 - lane()));
}
CASE(shfl_xor__words) {
  u32 v = ldg<u32>(in, thread());
  for (int i = 0; i < 5; i++) stg<u32>(out, 64 * i + thread(), shfl_xor(v, 1 << i));
  stg<u32>(out, 320 + thread(), shfl_xor(v, 21));
}
CASE(shfl_xor__floats) {
  float v = ldg<float>(gptr_at<const float>(in, 0), thread());
  put(out, thread(), shfl_xor(v, 9));
}
CASE(elect_one__lane) { stg<u32>(out, thread(), elect_one() ? 1 : 0); }
CASE(warpgroup_index__value) { stg<u32>(out, thread(), (u32)warpgroup_index()); }

// Each lane reads what its neighbour wrote.
CASE(warp_sync__neighbour) {
  u32 at = smem_base() + 4 * thread();
  store(at, ldg<u32>(in, thread()));
  warp_sync();
  stg<u32>(out, thread(), load(smem_base() + 4 * (thread() ^ 1)));
}

// ---- barriers --------------------------------------------------------------------------------------

CASE(cta_sync__reverse) {
  store(smem_base() + 4 * thread(), ldg<u32>(in, thread()));
  cta_sync();
  stg<u32>(out, thread(), load(smem_base() + 4 * (threads() - 1 - thread())));
}

// Warp 0 writes and only arrives; warps 1 and 2 wait and read; warp 3 has a barrier of its own.
CASE(named_sync__values) {
  u32 at = smem_base();
  if (thread() < 32) {
    store(at + 4 * thread(), ldg<u32>(in, thread()));
    named_arrive(1, 96);
  } else if (thread() < 96) {
    named_sync(1, 96);
    stg<u32>(out, thread(), load(at + 4 * (31 - lane())));
  } else {
    store(at + 4 * thread(), ldg<u32>(in, thread()));
    named_sync(15, 32);
    stg<u32>(out, thread(), load(at + 4 * (thread() ^ 3)));
  }
}

// Two warps hand a word back and forth, by two barriers.
CASE(named_arrive__turns) {
  u32 at = smem_base() + 4 * lane();
  u32 v = ldg<u32>(in, thread());
  if (thread() < 32) {
    store(at, v);
    named_arrive(2, 64);
    named_sync(3, 64);
    stg<u32>(out, thread(), load(at));
  } else {
    named_sync(2, 64);
    u32 got = load(at);
    stg<u32>(out, thread(), got);
    store(at, got + v);
    named_arrive(3, 64);
  }
}

// Registers keep their values when a warpgroup gives some back and another takes them.
CASE(setmaxnreg__values) {
  u32 v[16];
  UNROLL
  for (int i = 0; i < 16; i++) v[i] = ldg<u32>(in, 16 * thread() + i);
  if (warpgroup_index() == 0)
    setmaxnreg_dec<40>();
  else
    setmaxnreg_inc<232>();
  UNROLL
  for (int i = 0; i < 16; i++) stg<u32>(out, 16 * thread() + i, v[i] ^ v[15 - i] * 3);
}

CASE(grid_dep__ordinary) {
  grid_dep_launch();
  grid_dep_wait();
  stg<u32>(out, thread(), ldg<u32>(in, thread()));
}

CASE(indices__all) {
  i64 i = blockIdx.x * blockDim.x + threadIdx.x;
  stg<u32>(out, i, blockIdx.x << 16 | threadIdx.x << 8 | gridDim.x << 4 | blockDim.x / 32);
}

// ---- global memory ---------------------------------------------------------------------------------

template <class T> LOOM_FN void move_single(gptr<const u32> in, gptr<u32> out, int count) {
  gptr<const T> from = gptr_at<const T>(in, 0);
  gptr<T> to = gptr_at<T>(out, 0);
  ROLLED
  for (int i = thread(); i < count; i += threads()) stg<T>(to, i, ldg<T>(from, count - 1 - i));
}
CASE(ldg__f16) { move_single<f16>(in, out, 128); }
CASE(ldg__bf16) { move_single<bf16>(in, out, 128); }
CASE(ldg__float) { move_single<float>(in, out, 64); }
CASE(ldg__u32) { move_single<u32>(in, out, 64); }
CASE(stg_pair__both) {
  gptr<f16> to = gptr_at<f16>(out, 0);
  gptr<bf16> far = gptr_at<bf16>(out, 256);
  stg_pair<f16>(to, 2 * (31 - thread()), ldg<u32>(in, thread()));
  stg_pair<bf16>(far, 2 * thread(), ldg<u32>(in, thread() ^ 1));
}

template <int n, class T> LOOM_FN void move_words(gptr<const u32> in, gptr<u32> out) {
  gptr<const T> from = gptr_at<const T>(in, 64);
  gptr<T> to = gptr_at<T>(out, 32);
  constexpr int step = 4 * n / (int)sizeof(T); // elements
  stg_words<n>(to, step * thread(), ldg_words<n>(from, step * (31 - thread())));
}
CASE(ldg_words__1) { move_words<1, f16>(in, out); }
CASE(ldg_words__2) { move_words<2, bf16>(in, out); }
CASE(ldg_words__4) { move_words<4, f16>(in, out); }
CASE(ldg_words__4_float) { move_words<4, float>(in, out); }
template <int n, class T> LOOM_FN void move_stream(gptr<const u32> in, gptr<u32> out) {
  gptr<const T> from = gptr_at<const T>(in, 64);
  gptr<T> to = gptr_at<T>(out, 32);
  constexpr int step = 4 * n / (int)sizeof(T); // elements
  stg_words_stream<n>(to, step * thread(), ldg_words_stream<n>(from, step * (31 - thread())));
}
CASE(ldg_words_stream__1) { move_stream<1, f16>(in, out); }
CASE(ldg_words_stream__2) { move_stream<2, bf16>(in, out); }
CASE(ldg_words_stream__4) { move_stream<4, f16>(in, out); }
CASE(ldg_words_stream__4_float) { move_stream<4, float>(in, out); }
CASE(gptr_at__back) {
  gptr<const f16> end = gptr_at<const f16>(in, 128);
  gptr<const u32> start = gptr_at<const u32>(end, -128);
  stg<u32>(out, thread(), ldg<u32>(start, thread()) ^ (u32)ldg<f16>(end, -1 - thread()).bits);
}
CASE(gptr_past_16__all) {
  gptr<const f16> from = gptr_at<const f16>(in, 2 * thread());
  stg<u32>(out, thread(), (u32)gptr_past_16(from));
  stg<u32>(out, 32 + thread(), (u32)gptr_past_16(gptr_at<u32>(out, 4 * thread())));
}

// ---- atomics ---------------------------------------------------------------------------------------

#define CASE_ATOM(name, atom)                                                                      \
  CASE(name) {                                                                                     \
    if (thread() == 0) {                                                                           \
      stg<u32>(out, 0, 0xfffffff0u); /* one thread: the old values are known */                    \
      for (int i = 0; i < 12; i++) stg<u32>(out, 4 + i, atom(out, 0, ldg<u32>(in, i) % 7));        \
      stg<u32>(out, 1, 0);                                                                         \
    }                                                                                              \
    cta_sync();                                                                                    \
    atom(out, 1, thread() + 1); /* all: only the sum is */                                         \
  }
CASE_ATOM(atom_add__relaxed, atom_add)
CASE_ATOM(atom_add__acq_rel, atom_add_acq_rel)

#define CASE_INC(name, atom)                                                                       \
  CASE(name) {                                                                                     \
    if (thread() == 0) {                                                                           \
      stg<u32>(out, 0, 0);                                                                         \
      for (int i = 0; i < 12; i++) stg<u32>(out, 4 + i, atom(out, 0, 4)); /* 0 after 4 */          \
      stg<u32>(out, 2, 9);                                                                         \
      for (int i = 0; i < 3; i++) stg<u32>(out, 16 + i, atom(out, 2, 5)); /* above the limit */    \
      stg<u32>(out, 1, 0);                                                                         \
    }                                                                                              \
    cta_sync();                                                                                    \
    atom(out, 1, 50); /* 64 threads, modulo 51 */                                                  \
  }
CASE_INC(atom_inc__relaxed, atom_inc)
CASE_INC(atom_inc__acq_rel, atom_inc_acq_rel)

CASE(red_add__float) {
  gptr<float> sum = gptr_at<float>(out, 0);
  if (thread() == 0) stg<float>(sum, 0, 0.5f);
  cta_sync();
  red_add(sum, 0, (float)(thread() * 3 - 40));
}
CASE(red_add__u32) {
  if (thread() == 0) stg<u32>(out, 0, 0xffffff00u);
  cta_sync();
  red_add(out, 0, ldg<u32>(in, thread()));
}

// Warp 0 writes words and raises a flag, warp 1 looks at the flag until it is up.
CASE(ld_acquire__flag) {
  if (thread() == 0) stg<u32>(out, 64, 0);
  cta_sync();
  if (thread() < 32) {
    stg<u32>(out, thread(), ldg<u32>(in, thread()));
    warp_sync();
    if (thread() == 0) st_release(out, 64, 7);
  } else {
    u32 seen = 0;
    ROLLED
    for (int i = 0; i < 1 << 20 && seen != 7; i++) seen = ld_acquire(out, 64);
    stg<u32>(out, thread(), seen == 7 ? ldg<u32>(out, thread() - 32) + 1 : 0xbad);
  }
}
CASE(ld_relaxed__fence) {
  if (thread() == 0) stg<u32>(out, 64, 0);
  cta_sync();
  if (thread() < 32) {
    stg<u32>(out, thread(), ldg<u32>(in, thread()));
    warp_sync();
    fence_gpu();
    if (thread() == 0) atom_add(out, 64, 7);
  } else {
    u32 seen = 0;
    ROLLED
    for (int i = 0; i < 1 << 20 && seen != 7; i++) seen = ld_relaxed(out, 64);
    fence_gpu();
    stg<u32>(out, thread(), seen == 7 ? ldg<u32>(out, thread() - 32) + 1 : 0xbad);
  }
}
CASE(fences__executed) {
  stg<u32>(out, thread(), ldg<u32>(in, thread()));
  fence_gpu();
  fence_cluster();
  fence_proxy_async();
  fence_proxy_async_all();
  stg<u32>(out, 32 + thread(), ldg<u32>(in, thread()) + 1);
}
