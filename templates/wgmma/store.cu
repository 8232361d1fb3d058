//@ -- store.cu -- a part of the wgmma templates: a consumer's results, scaled if need be, into C.
//@ -- Reads the space's rows, wg_rows, wg_cols, swap, scale, epilogue, c_hint, dtype, acc; chunk_buffers is a constant.
//@ local swapped, reads_c, stored = swap == "yes", scale == "alpha_beta", wg_cols // split_k
//@ local rest = stored % 64
//@ local per_unit = acc == "f16" and 2 or 4
//@ local more, scale_param = "", ""
//@ if reads_c then more, scale_param = ", u32 c, const scaling &by", ", const scaling &by" end
//@ if reads_c then
// C = alpha A B + beta C; where beta is 0, C is not read.
struct scaling {
  float alpha, beta;
};

// Two accumulators as they go into C; c: what is there.
LOOM_FN u32 scaled(float lo, float hi, u32 c, const scaling &by) {
  return pack<$dtype>(by.alpha * lo + by.beta * unpack_lo<$dtype>(c), by.alpha * hi + by.beta * unpack_hi<$dtype>(c));
}

//@ end
// The thread's two results in 64-row block i, unit u of 8 columns; half: rows 0..7 or 8..15 of its warp's.
template <int w> LOOM_FN u32 result(const accumulators<w> &acc, int i, int u, int half$more) {
  const auto &f = acc[i][8 * u / piece(w)];
  const int at = 8 * u % piece(w) / 8 * $per_unit;
  //@ if acc == "f16" and reads_c then
  const u32 both = f[at + half];
  return scaled(unpack_lo<$dtype>(both), unpack_hi<$dtype>(both), c, by);
  //@ elseif acc == "f16" then
  return f[at + half];
  //@ elseif reads_c then
  return scaled(f[at + 2 * half], f[at + 2 * half + 1], c, by);
  //@ else
  return pack<$dtype>(f[at + 2 * half], f[at + 2 * half + 1]);
  //@ end
}

//@ -- The text of a result; `c`: of the word of C that it is added to.
//@ local function value(u, half, c)
//@   return "result<w>(acc, i, " .. u .. ", " .. half .. (reads_c and ", " .. c .. ", by)" or ")")
//@ end
//@ local turn = swapped and "_trans" or ""
//@ if epilogue == "tma" then
//@   local maps = (stored >= 64 and "const tensor_map *tmap_c, " or "") .. (rest > 0 and "const tensor_map *tmap_rest, " or "")
//@   local maps_given = maps:gsub("const tensor_map %*", "")
//@   local map = stored < 64 and "tmap_rest" or "tmap_c"
//@   if stored >= 64 and rest > 0 then map = "(w - j < 64 ? tmap_rest : tmap_c)" end
//@   local x, y = "n + j", "m + 64 * i"
//@   if swapped then x, y = "n + 64 * i", "m + j" end
//@   local row, column = "16 * warp + lane % 16", "UNIT + lane / 16"
//@   if swapped then row, column = "8 * (UNIT + lane / 16) + lane % 8", "2 * warp + lane / 8 % 2" end
//@   local function place(u)
//@     return row:gsub("UNIT", u), (column:gsub("UNIT", u))
//@   end
// A tile leaves in chunks of 64 x 64, by TMA; a consumer has chunk_buffers of them in turn.
struct chunk_ring {
  u32 at; // of the first
  int next;
  //@ if reads_c then
  u32 full, parity; // the barrier of the first, where C arrives; the parity of this round
  //@ end
};

//@ if reads_c then
// Asks for chunk q of w columns of C, from (m, n) on, into buffer b.
template <int w>
LOOM_FN void load_chunk($(maps)const chunk_ring &chunks, int b, int q, int m, int n) {
  constexpr int per_block = (w + 63) / 64;
  const int i = q / per_block, j = q % per_block * 64;
  const u32 bar = chunks.full + 8 * b;
  mbar_expect_tx(bar, w - j < 64 ? 128 * (w - j) : chunk_bytes);
  tma_load_2d(chunks.at + b * chunk_bytes, $map, $x, $y, bar);
}

// Before a tile's products: one thread asks for as many chunks as there are buffers.
template <int w> LOOM_FN void load_chunks($(maps)const chunk_ring &chunks, int m, int n) {
  tma_store_wait_read<0>();
  ROLLED
  for (int q = 0; q < min(chunk_buffers, row_blocks * ((w + 63) / 64)); ++q)
    load_chunk<w>($(maps_given)chunks, (chunks.next + q) % chunk_buffers, q, m, n);
}

//@ end
// Puts block i's columns from j on into a chunk; stmatrix lays 16-byte pieces where the row swizzles them.
template <int w> LOOM_FN void put_chunk(const accumulators<w> &acc, u32 chunk, int i, int j$scale_param) {
  const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  UNROLL
  for (int p = 0; p < 8; p += 2) {
    //@ local at_row, at_column = place "p"
    const int row = $at_row, column = $at_column;
    const u32 to = chunk + 128 * row + 16 * (column ^ (row & 7));
    //@ if reads_c then
    u32 c[4] = {0, 0, 0, 0}, two[2] = {0, 0};
    if (by.beta != 0.f && 8 * p + 8 < w - j) {
      ldmatrix_x4$turn(c, to);
    } else if (by.beta != 0.f && 8 * p < w - j) {
      ldmatrix_x2$turn(two, to);
      c[0] = two[0], c[1] = two[1];
    }
    //@ end
    if (8 * p + 8 < w - j)
      stmatrix_x4$turn(to, $(value("j / 8 + p", 0, "c[0]")), $(value("j / 8 + p", 1, "c[1]")),
                       $(value("j / 8 + p + 1", 0, "c[2]")), $(value("j / 8 + p + 1", 1, "c[3]")));
    else if (8 * p < w - j)
      stmatrix_x2$turn(to, $(value("j / 8 + p", 0, "c[0]")), $(value("j / 8 + p", 1, "c[1]")));
  }
}

// Stores w columns of this consumer's rows of a tile, those from (m, n) on.
template <int w>
LOOM_FN void store_tile(const accumulators<w> &acc, $(maps)chunk_ring &chunks, int m, int n, int consumer$scale_param) {
  const bool leader = threadIdx.x % 128 == 0;
  UNROLL
  for (int i = 0; i < row_blocks; ++i) {
    UNROLL
    for (int j = 0; j < w; j += 64) {
      const int b = chunks.next;
      const u32 chunk = chunks.at + b * chunk_bytes;
      chunks.next = (b + 1) % chunk_buffers;
      //@ if reads_c then
      if (by.beta != 0.f) {
        mbar_wait(chunks.full + 8 * b, chunks.parity);
        if (chunks.next == 0) chunks.parity ^= 1;
      } else {
        if (leader) tma_store_wait_read<chunk_buffers - 1>();
        named_sync(1 + consumer, 128);
      }
      put_chunk<w>(acc, chunk, i, j, by);
      //@ else
      if (leader) tma_store_wait_read<chunk_buffers - 1>(); // the chunk's last store has read it
      named_sync(1 + consumer, 128);
      put_chunk<w>(acc, chunk, i, j);
      //@ end
      fence_proxy_async();
      named_sync(1 + consumer, 128);
      if (leader) {
        //@ if c_hint == "evict_first" then
        tma_store_2d_hint($map, chunk, $x, $y, l2_evict_first());
        //@ else
        tma_store_2d($map, chunk, $x, $y);
        //@ end
        tma_store_commit();
        //@ if reads_c then
        constexpr int per_block = (w + 63) / 64;
        const int later = i * per_block + j / 64 + chunk_buffers; // what this buffer is for next
        if (by.beta != 0.f && later < row_blocks * per_block) {
          tma_store_wait_read<0>();
          load_chunk<w>($(maps_given)chunks, b, later, m, n);
        }
        //@ end
      }
    }
  }
}

//@ else
// Turns a 4 x 4 square of words, a row in each of four neighbouring lanes; twice: as it was.
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
        const int q = lane % 4, column = n + 8 * (u + q);
        const bool inside = u + q < w / 8 && row < M && column < N;
        const i64 at = (i64)row * ldc + column;
        u32 v[4];
        //@ if reads_c then
        words<4> c = {{0, 0, 0, 0}};
        if (by.beta != 0.f && inside) c = ldg_words<4, $dtype>(C, at);
        turn_square(c.w, lane);
        //@ end
        UNROLL
        for (int e = 0; e < 4; ++e) v[e] = u + e < w / 8 ? $(value("(u + e < w / 8 ? u + e : 0)", "half", "c.w[e]")) : 0;
        turn_square(v, lane);
        if (inside)
          $(c_hint == "evict_first" and "stg_words_stream" or "stg_words")<4>(C, at, words<4>{v[0], v[1], v[2], v[3]});
      }
    }
  }
}

//@ end
