//@ -- store.cu -- a part of the wgmma templates: a consumer's results, scaled if need be, into C.
//@ local swapped, reads_c, rest = swap == "yes", scale == "alpha_beta", wg_cols % 64
//@ local per_unit = acc == "f16" and 2 or 4
//@ local more = ""
//@ if reads_c then more = ", const scaling &c, int m, int n" end
//@ if reads_c then
struct scaling {
  gptr<$dtype> C;
  int M, N, ldc;
  float alpha, beta;
};

// Two accumulators as they go into C: at (m, n) and the next $(swapped and "row" or "column").
LOOM_FN u32 scaled(float lo, float hi, const scaling &c, int m, int n) {
  float c_lo = 0.f, c_hi = 0.f;
  if (c.beta != 0.f && m < c.M && n < c.N) {
    const i64 i = (i64)m * c.ldc + n;
    //@ if swapped then
    c_lo = to_float(ldg<$dtype>(c.C, i));
    c_hi = to_float(ldg<$dtype>(c.C, i + c.ldc));
    //@ else
    const u32 both = ldg_words<1, $dtype>(c.C, i).w[0];
    c_lo = unpack_lo<$dtype>(both);
    c_hi = unpack_hi<$dtype>(both);
    //@ end
  }
  return pack<$dtype>(c.alpha * lo + c.beta * c_lo, c.alpha * hi + c.beta * c_hi);
}

//@ end
// The thread's two results in 64-row block i, unit u of 8 columns; half: rows 0..7 or 8..15 of its warp's.
template <int w> LOOM_FN u32 result(const accumulators<w> &acc, int i, int u, int half$more) {
  const auto &f = acc[i][8 * u / piece(w)];
  const int at = 8 * u % piece(w) / 8 * $per_unit;
  //@ if acc == "f16" and reads_c then
  const u32 both = f[at + half];
  return scaled(unpack_lo<$dtype>(both), unpack_hi<$dtype>(both), c, m, n);
  //@ elseif acc == "f16" then
  return f[at + half];
  //@ elseif reads_c then
  return scaled(f[at + 2 * half], f[at + 2 * half + 1], c, m, n);
  //@ else
  return pack<$dtype>(f[at + 2 * half], f[at + 2 * half + 1]);
  //@ end
}

//@ -- The text of a result: its place in C is only said where C is read.
//@ local function value(u, half)
//@   local text = "result<w>(acc, i, " .. u .. ", " .. half
//@   if reads_c then
//@     local row, unit = " + 64 * i + 16 * warp + lane / 4 + 8 * " .. half, " + 8 * (" .. u .. ") + lane % 4 * 2"
//@     text = text .. ", c, m" .. (swapped and unit or row) .. ", n" .. (swapped and row or unit)
//@   end
//@   return text .. ")"
//@ end
//@ local turn = swapped and "_trans" or ""
//@ local scale_param = reads_c and ", const scaling &c" or ""
//@ if epilogue == "tma" then
//@   local row, column = "16 * warp + lane % 16", "UNIT + lane / 16"
//@   if swapped then row, column = "8 * (UNIT + lane / 16) + lane % 8", "2 * warp + lane / 8 % 2" end
//@   local function place(u)
//@     return row:gsub("UNIT", u), (column:gsub("UNIT", u))
//@   end
// Stores w columns of this consumer's rows of a tile, those from (m, n) on, chunk by chunk: stmatrix
// puts 16-byte pieces where the row swizzles them. `next` counts chunk buffers.
template <int w>
LOOM_FN void store_tile(const accumulators<w> &acc, $(wg_cols >= 64 and "const tensor_map *tmap_c, " or "")$(rest > 0 and "const tensor_map *tmap_rest, " or "")u32 chunks,
                        int &next, int m, int n, int consumer$scale_param) {
  const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  UNROLL
  for (int i = 0; i < row_blocks; ++i) {
    UNROLL
    for (int j = 0; j < w; j += 64) {
      const u32 chunk = chunks + next * chunk_bytes;
      next = (next + 1) % chunk_buffers;
      if (thread == 0)
        tma_store_wait_read<chunk_buffers - 1>(); // the chunk's last store has read it
      named_sync(1 + consumer, 128);
      UNROLL
      for (int p = 0; p < 8; p += 2) {
        //@ local at_row, at_column = place "p"
        const int row = $at_row, column = $at_column;
        const u32 to = chunk + 128 * row + 16 * (column ^ (row & 7));
        if (8 * p + 8 < w - j)
          stmatrix_x4$turn(to, $(value("j / 8 + p", 0)), $(value("j / 8 + p", 1)),
                           $(value("j / 8 + p + 1", 0)), $(value("j / 8 + p + 1", 1)));
        else if (8 * p < w - j)
          stmatrix_x2$turn(to, $(value("j / 8 + p", 0)), $(value("j / 8 + p", 1)));
      }
      fence_proxy_async();
      named_sync(1 + consumer, 128);
      if (thread == 0) {
        //@ local x, y = "n + j", "m + 64 * i"
        //@ if swapped then x, y = "n + 64 * i", "m + j" end
        //@ if wg_cols >= 64 and rest > 0 then
        tma_store_2d(w - j < 64 ? tmap_rest : tmap_c, chunk, $x, $y);
        //@ else
        tma_store_2d($(rest > 0 and "tmap_rest" or "tmap_c"), chunk, $x, $y);
        //@ end
        tma_store_commit();
      }
    }
  }
}

//@ else
// Turns a 4 x 4 square of words, a row in each of four neighbouring lanes.
LOOM_FN void turn_square(u32 (&v)[4], int lane) {
  const bool odd = lane & 1, high = lane & 2;
  const u32 a = shfl_xor(odd ? v[0] : v[1], 1), b = shfl_xor(odd ? v[2] : v[3], 1);
  v[0] = odd ? a : v[0], v[1] = odd ? v[1] : a;
  v[2] = odd ? b : v[2], v[3] = odd ? v[3] : b;
  const u32 c = shfl_xor(high ? v[0] : v[2], 2), d = shfl_xor(high ? v[1] : v[3], 2);
  v[0] = high ? c : v[0], v[1] = high ? d : v[1];
  v[2] = high ? v[2] : c, v[3] = high ? v[3] : d;
}

// Stores w columns of this consumer's rows of a tile, those from (m, n) on. Four lanes have two columns
// each of every unit of 8; they swap, so that each has a unit of its own: 16 bytes.
template <int w>
LOOM_FN void store_tile(const accumulators<w> &acc, gptr<$dtype> C, int M, int N, int ldc, int m, int n$scale_param) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
  UNROLL
  for (int i = 0; i < row_blocks; ++i) {
    UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = m + 64 * i + 16 * warp + lane / 4 + 8 * half;
      UNROLL
      for (int u = 0; u < w / 8; u += 4) {
        u32 v[4];
        UNROLL
        for (int q = 0; q < 4; ++q) v[q] = u + q < w / 8 ? $(value("(u + q < w / 8 ? u + q : 0)", "half")) : 0;
        turn_square(v, lane);
        const int q = lane % 4, column = n + 8 * (u + q);
        if (u + q < w / 8 && row < M && column < N)
          stg_words<4>(C, (i64)row * ldc + column, words<4>{v[0], v[1], v[2], v[3]});
      }
    }
  }
}

//@ end
