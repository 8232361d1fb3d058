//@ -- gather.cu -- a part of wgmma_any.cu: slices of A and B from any address into slots that wgmma reads.
//@ -- Reads the space's rows, cols, r_k_major, s_k_major, producers.
// An operand as the producers see it. Elements are counted from `base`, the multiple of 16 bytes at or
// before the first one: the operand's own are those from `first` to `end`, and no other is ever read.
struct source {
  gptr<const $dtype> base;
  i64 end;
  int first, ld, lines, length; // a line is contiguous: a row of what is stored
};

LOOM_FN source source_of(gptr<const $dtype> p, int ld, int lines, int length) {
  const int first = gptr_past_16(p) / 2;
  const i64 end = first + (i64)(lines - 1) * ld + length;
  return {gptr_at<const $dtype>(p, -2 * first), end, first, ld, lines, length};
}

// A slice is made of segments, 64 elements of a line each: a swizzled row of the slot. They do not begin
// at multiples of 16 bytes but `shift` elements later, so that one lies in nine words of 16 bytes. Lines that are
// 8 apart have the same shift: a warp takes segments q, q + 8, q + 16 ..., and its shift is a constant.
// It loads four of them in one go, eight lanes each. In step i lane c of the eight has word (c - i) % 8;
// lane i, which has word 0, has the ninth too, as nobody else needs word 0: one load brings the ninth
// words of all steps.
template <int steps> struct batch { words<4> word[steps], ninth; };

// Of lane c of the eight in step i: its word of the segment. Of a step: how many lines and elements its
// segments are further on.
LOOM_FN int chunk_of(int c, int i) { return (c - i) & 7; }
template <bool k_major> LOOM_FN int lines_to(int i) { return k_major ? 32 * i : i % 2 * 32; }
template <bool k_major> LOOM_FN int along_to(int i) { return k_major ? 0 : i / 2 * 64; }

// The word at element i of the source, which may stick out of it; elements from `keep` on are to be zero.
LOOM_FN words<4> edge_word(const source &o, i64 i, int keep) {
  words<4> v = {0, 0, 0, 0};
  const int first = i == 0 ? o.first : 0;
  if (first == 0 && i + 8 <= o.end && keep > 0) {
    v = ldg_words<4, $dtype>(o.base, i);
    UNROLL
    for (int j = 0; j < 4; ++j)
      v.w[j] = keep >= 2 * j + 2 ? v.w[j] : keep == 2 * j + 1 ? v.w[j] & 0xffff : 0;
  } else if (i < o.end && keep > 0) {
    keep = min(keep, o.end - i < 8 ? (int)(o.end - i) : 8);
    UNROLL
    for (int e = 0; e < 8; ++e)
      if (e >= first && e < keep) v.w[e / 2] |= (u32)ldg<$dtype>(o.base, i + e).bits << e % 2 * 16;
  }
  return v;
}

// Loads a warp's segments, the first at element `at` of line `line`. `whole`: all of their words lie in
// the source, and nothing beyond K.
template <bool k_major, int steps>
LOOM_FN void load_batch(batch<steps> &b, const source &o, int line, int at, int shift, bool whole) {
  const int lane = threadIdx.x % 32, c = lane % 8;
  line += lane / 8 * 8;
  const i64 begin = o.first + (i64)line * o.ld + at - shift;
  const int ninth_line = lines_to<k_major>(c);
  const i64 ninth = begin + (i64)ninth_line * o.ld + along_to<k_major>(c) + 64;
  if (whole) {
    UNROLL
    for (int i = 0; i < steps; ++i) {
      const i64 step = (i64)lines_to<k_major>(i) * o.ld + along_to<k_major>(i);
      b.word[i] = ldg_words<4, $dtype>(o.base, begin + step + 8 * chunk_of(c, i));
    }
    if (shift != 0 && c < steps) b.ninth = ldg_words<4, $dtype>(o.base, ninth);
    return;
  }
  // Elements that count, from the segment's first word on. Only what lies beyond K has to be zero: what
  // lies beyond M or N goes into elements of C that do not exist.
  const int left = k_major ? o.length - at + shift : 4096;
  UNROLL
  for (int i = 0; i < steps; ++i) {
    const i64 step = (i64)lines_to<k_major>(i) * o.ld + along_to<k_major>(i);
    const bool there = line + lines_to<k_major>(i) < o.lines;
    const int skip = 8 * chunk_of(c, i);
    b.word[i] = edge_word(o, begin + step + skip, there ? left - skip : 0);
  }
  const bool there = c < steps && line + ninth_line < o.lines;
  b.ninth = edge_word(o, ninth, there ? left - (k_major ? 64 : 0) : 0);
}

// Writes a batch that was loaded into its swizzled rows, of which the first is row q of `to`.
template <int shift, int steps> LOOM_FN void store_shifted(const batch<steps> &b, u32 to, int q) {
  const int lane = threadIdx.x % 32, c = lane % 8, right = lane / 8 * 8 + (c + 1) % 8;
  const u32 row = to + 128 * (q + lane / 8 * 8);
  UNROLL
  for (int i = 0; i < steps; ++i) {
    u32 both[8]; // this lane's word and the next one of the segment
    UNROLL
    for (int j = 0; j < 4; ++j) {
      both[j] = b.word[i].w[j];
      both[4 + j] = 0;
      if (j < (shift + 1) / 2) both[4 + j] = shfl(c == i ? b.ninth.w[j] : b.word[i].w[j], right);
    }
    words<4> v;
    UNROLL
    for (int j = 0; j < 4; ++j) {
      const u32 low = both[j + shift / 2];
      v.w[j] = shift % 2 ? low >> 16 | both[(j + shift / 2 + 1) % 8] << 16 : low;
    }
    sts_words<4>(row + 4096 * i + 16 * (chunk_of(c, i) ^ (q & 7)), v);
  }
}

template <int steps> LOOM_FN void store_batch(const batch<steps> &b, u32 to, int q, int shift) {
  switch (shift) {
  //@ for s = 0, 7 do
  case $s:
    return store_shifted<$s>(b, to, q);
    //@ end
  }
}

//@ local classes = 2 // producers
constexpr int classes = $classes; // of the eight kinds of lines, that a producer warp has
// What a producer thread holds of one operand's slice of `wide` segments.
template <int wide> struct held {
  batch<wide / 32> part[classes];
  int shift[classes];
};

template <int wide> LOOM_FN void begin_held(held<wide> &h, const source &o, int warp) {
  UNROLL
  for (int j = 0; j < classes; ++j) h.shift[j] = (int)(o.first + (i64)(warp + 4 * j) * o.ld) & 7;
}

// Where a slice is held, writes it to its part of a slot; where one is left, loads the one from row x of the
// operand and k on. The last part of a slot says on `bar` that this warp has written all.
template <bool k_major, bool last, int wide>
LOOM_FN void next_slice(held<wide> &h, const source &o, u32 part, u32 bar, int x, int k, int warp,
                        bool holds, bool more) {
  const int line = k_major ? x : k, at = k_major ? k : x;
  const int lines = k_major ? wide : 64, length = k_major ? 64 : wide;
  const i64 begin = (i64)line * o.ld + at, end = begin + (i64)(lines - 1) * o.ld + length;
  const bool whole = line + lines <= o.lines && (!k_major || at + 64 <= o.length) &&
                     (o.first == 0 || begin >= 8) && o.first + end + 8 <= o.end;
  UNROLL
  for (int j = 0; j < classes; ++j) {
    if (holds) store_batch(h.part[j], part, warp + 4 * j, h.shift[j]);
    if (holds && last && j == classes - 1) { // before the load: a fence may wait for loads
      fence_proxy_async();
      warp_sync();
      if (threadIdx.x % 32 == 0) mbar_arrive(bar);
    }
    if (more) load_batch<k_major>(h.part[j], o, line + warp + 4 * j, at, h.shift[j], whole);
  }
}
