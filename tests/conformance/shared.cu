// shared.cu -- shared memory, cp.async, ldmatrix, stmatrix and mma.
#include "case.h"

template <int n> LOOM_FN void shared_words(gptr<const u32> in, gptr<u32> out) {
  u32 at = smem_base();
  sts_words<n>(at + 4 * n * (31 - thread()), ldg_words<n>(in, n * thread()));
  cta_sync();
  stg_words<n>(out, n * thread(), lds_words<n>(at + 4 * n * (thread() ^ 5)));
}
CASE(sts_words__1) { shared_words<1>(in, out); }
CASE(sts_words__2) { shared_words<2>(in, out); }
CASE(sts_words__4) { shared_words<4>(in, out); }
CASE(sts_f32__value) {
  gptr<const float> x = gptr_at<const float>(in, 0);
  sts_f32(smem_base() + 4 * thread(), ldg<float>(x, thread()));
  cta_sync();
  put(out, thread(), lds_f32(smem_base() + 4 * (31 - thread())));
}
CASE(atom_add_shared__old) {
  u32 at = smem_base();
  if (thread() == 0) {
    store(at, 5);
    store(at + 4, 0);
    for (int i = 0; i < 8; i++) stg<u32>(out, i, atom_add_shared(at, ldg<u32>(in, i)));
  }
  cta_sync();
  atom_add_shared(at + 4, thread() + 1);
  cta_sync();
  if (thread() == 0) stg<u32>(out, 8, load(at + 4));
}

// ---- ldmatrix and stmatrix: rows of 16 bytes in an order of their own ------------------------------

LOOM_FN u32 row_address() { return smem_base() + 16 * ((thread() * 13 + 5) % 32); }

#define CASE_LDMATRIX(name, load_matrix, count)                                                    \
  CASE(name) {                                                                                     \
    u32 r[count];                                                                                  \
    fill(smem_base(), in, 0, 128);                                                                 \
    cta_sync();                                                                                    \
    load_matrix(r, row_address());                                                                 \
    for (int i = 0; i < count; i++) stg<u32>(out, count * thread() + i, r[i]);                     \
  }
CASE_LDMATRIX(ldmatrix__x1, ldmatrix_x1, 1)
CASE_LDMATRIX(ldmatrix__x2, ldmatrix_x2, 2)
CASE_LDMATRIX(ldmatrix__x4, ldmatrix_x4, 4)
CASE_LDMATRIX(ldmatrix__x1_trans, ldmatrix_x1_trans, 1)
CASE_LDMATRIX(ldmatrix__x2_trans, ldmatrix_x2_trans, 2)
CASE_LDMATRIX(ldmatrix__x4_trans, ldmatrix_x4_trans, 4)

#define CASE_STMATRIX(name, ...)                                                                   \
  CASE(name) {                                                                                     \
    u32 r[4], at = row_address();                                                                  \
    for (int i = 0; i < 4; i++) r[i] = ldg<u32>(in, 4 * thread() + i);                             \
    clear(smem_base(), 128);                                                                       \
    cta_sync();                                                                                    \
    __VA_ARGS__;                                                                                   \
    cta_sync();                                                                                    \
    dump(out, 0, smem_base(), 128);                                                                \
  }
CASE_STMATRIX(stmatrix__x1, stmatrix_x1(at, r[0]))
CASE_STMATRIX(stmatrix__x2, stmatrix_x2(at, r[0], r[1]))
CASE_STMATRIX(stmatrix__x4, stmatrix_x4(at, r[0], r[1], r[2], r[3]))
CASE_STMATRIX(stmatrix__x1_trans, stmatrix_x1_trans(at, r[0]))
CASE_STMATRIX(stmatrix__x2_trans, stmatrix_x2_trans(at, r[0], r[1]))
CASE_STMATRIX(stmatrix__x4_trans, stmatrix_x4_trans(at, r[0], r[1], r[2], r[3]))

// ---- cp.async --------------------------------------------------------------------------------------

#define CASE_CP_ASYNC(name, copy, bytes)                                                           \
  CASE(name) {                                                                                     \
    gptr<const f16> from = gptr_at<const f16>(in, 0);                                              \
    u32 at = smem_base() + bytes * thread(), far = at + 32 * bytes;                                \
    int step = bytes / 2;                                                                          \
    copy<f16>(at, from, step * (31 - thread()), thread() % 3 != 0);                                \
    cp_async_commit();                                                                             \
    copy<f16>(far, from, step * thread(), thread() != 30);                                         \
    cp_async_commit();                                                                             \
    cp_async_wait<1>();                                                                            \
    for (int i = 0; i < bytes / 4; i++) stg<u32>(out, bytes / 4 * thread() + i, load(at + 4 * i)); \
    cp_async_wait<0>();                                                                            \
    for (int i = 0; i < bytes / 4; i++)                                                            \
      stg<u32>(out, bytes / 4 * (32 + thread()) + i, load(far + 4 * i));                           \
  }
CASE_CP_ASYNC(cp_async__16, cp_async_16, 16)
CASE_CP_ASYNC(cp_async__8, cp_async_8, 8)
CASE_CP_ASYNC(cp_async__4, cp_async_4, 4)

// ---- mma: integers, in all kinds -------------------------------------------------------------------

template <class T, int k> LOOM_FN void mma_floats(gptr<const u32> in, gptr<u32> out) {
  float d[4];
  u32 a[k / 4], b[2];
  for (int i = 0; i < k / 4; i++) a[i] = ldg<u32>(in, 32 * i + thread());
  for (int i = 0; i < 2; i++) b[i] = ldg<u32>(in, 128 + 32 * i + thread());
  for (int i = 0; i < 4; i++) d[i] = unpack_lo<T>(ldg<u32>(in, 192 + 32 * i + thread()));
  for (int round = 0; round < 2; round++) {
    if constexpr (k == 16)
      mma_m16n8k16<T>(d, a, b[0], b[1]);
    else
      mma_m16n8k8<T>(d, a, b[0]);
  }
  for (int i = 0; i < 4; i++) put(out, 32 * i + thread(), d[i]);
}
CASE(mma__m16n8k16_f16) { mma_floats<f16, 16>(in, out); }
CASE(mma__m16n8k16_bf16) { mma_floats<bf16, 16>(in, out); }
CASE(mma__m16n8k8_f16) { mma_floats<f16, 8>(in, out); }
CASE(mma__m16n8k8_bf16) { mma_floats<bf16, 8>(in, out); }

template <int k> LOOM_FN void mma_halves(gptr<const u32> in, gptr<u32> out) {
  u32 a[k / 4], b[2], d[2];
  for (int i = 0; i < k / 4; i++) a[i] = ldg<u32>(in, 32 * i + thread());
  for (int i = 0; i < 2; i++) b[i] = ldg<u32>(in, 128 + 32 * i + thread());
  for (int i = 0; i < 2; i++) d[i] = ldg<u32>(in, 192 + 32 * i + thread());
  for (int round = 0; round < 2; round++) {
    if constexpr (k == 16)
      mma_m16n8k16_f16(d, a, b[0], b[1]);
    else
      mma_m16n8k8_f16(d, a, b[0]);
  }
  for (int i = 0; i < 2; i++) stg<u32>(out, 32 * i + thread(), d[i]);
}
CASE(mma__m16n8k16_f16_sums) { mma_halves<16>(in, out); }
CASE(mma__m16n8k8_f16_sums) { mma_halves<8>(in, out); }
