// numbers.cu -- conversions between floats and the 16-bit types, floats and their bits.
#include "case.h"

template <class T> LOOM_FN void all_to_float(gptr<u32> out) {
  ROLLED
  for (int i = thread(); i < 65536; i += threads()) put(out, i, to_float(T{(u16)i}));
}
CASE(to_float__f16) { all_to_float<f16>(out); }
CASE(to_float__bf16) { all_to_float<bf16>(out); }

template <class T> LOOM_FN void unpack_words(gptr<const u32> in, gptr<u32> out) {
  ROLLED
  for (int i = thread(); i < 512; i += threads()) {
    u32 v = ldg<u32>(in, i);
    put(out, 2 * i, unpack_lo<T>(v));
    put(out, 2 * i + 1, unpack_hi<T>(v));
  }
}
CASE(unpack__f16) { unpack_words<f16>(in, out); }
CASE(unpack__bf16) { unpack_words<bf16>(in, out); }

// 16 bits as they are; all NaNs are one.
template <class T> LOOM_FN u32 known(u32 bits) {
  float v = unpack_lo<T>(bits);
  return v == v ? bits & 0xffff : 0x7fff;
}
template <class T> LOOM_FN void pack_floats(gptr<const u32> in, gptr<u32> out) {
  gptr<const float> x = gptr_at<const float>(in, 0);
  ROLLED
  for (int i = thread(); i < 1024; i += threads()) {
    u32 v = pack<T>(ldg<float>(x, 2 * i), ldg<float>(x, 2 * i + 1));
    stg<u32>(out, i, known<T>(v) | known<T>(v >> 16) << 16);
  }
}
CASE(pack__f16) { pack_floats<f16>(in, out); }
CASE(pack__bf16) { pack_floats<bf16>(in, out); }

template <class T> LOOM_FN void from_floats(gptr<const u32> in, gptr<u32> out) {
  gptr<const float> x = gptr_at<const float>(in, 0);
  ROLLED
  for (int i = thread(); i < 1024; i += threads())
    stg<u32>(out, i, known<T>(from_float<T>(ldg<float>(x, i)).bits));
}
CASE(from_float__f16) { from_floats<f16>(in, out); }
CASE(from_float__bf16) { from_floats<bf16>(in, out); }

CASE(float_bits__values) {
  gptr<const float> x = gptr_at<const float>(in, 0);
  ROLLED
  for (int i = thread(); i < 1024; i += threads()) stg<u32>(out, i, float_bits(ldg<float>(x, i)));
}
// Twice the float whose bits these are.
CASE(bits_float__values) {
  ROLLED
  for (int i = thread(); i < 1024; i += threads()) put(out, i, 2.f * bits_float(ldg<u32>(in, i)));
}
