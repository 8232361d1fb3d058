//@ -- multiply.cu -- a part of the wgmma templates: accumulators, the ring, the walk over tiles, a tile's products.
//@ -- Reads the space's rows, cols, wg_rows, wg_cols, r_k_major, s_k_major, split, schedule, cluster, tile_k.
// w columns as wgmmas of at most 256, all alike.
__device__ constexpr int pieces(int w) { return (w + 255) / 256; }
__device__ constexpr int piece(int w) { return w / pieces(w); }
//@ local acc_type, per_unit = "float", 4
//@ if acc == "f16" then acc_type, per_unit = "u32", 2 end
// The accumulators of 64 rows and 8 columns: $per_unit registers a thread.
template <int w> using accumulators = $acc_type[row_blocks][pieces(w)][piece(w) / 8 * $per_unit];

// A position in the ring: the slot, and the parity of the round, which the barriers count by.
struct ring_position {
  int slot;
  u32 parity;
  __device__ void advance(int steps) {
    const int next = slot + steps;
    parity ^= next / stages & 1;
    slot = next % stages;
  }
  __device__ void step() {
    if (++slot == stages) slot = 0, parity ^= 1;
  }
};

struct tile_origin {
  int m, n;
};

//@ local along, across = "m", "n"
//@ if raster == "n" then along, across = "n", "m" end
// Tiles in groups of `group` along $along; inside a group that index changes fastest.
LOOM_FN tile_origin locate(int tile, int tiles_m, int tiles_n) {
  const int big = tile / (group * tiles_$across), in_group = tile % (group * tiles_$across);
  const int wide = min(group, tiles_$along - big * group);
  const int $along = big * group + in_group % wide, $across = in_group / wide;
  return {m, n};
}

//@ -- The descriptor of an operand that begins at `at`, and where things lie in it, in units of 16 bytes.
//@ local function description(k_major, at)
//@   if k_major then return "smem_desc(" .. at .. ", 16, 1024)" end
//@   return "smem_desc(" .. at .. ", 128 * tile_k, 1024)"
//@ end
//@ local function k_step(k_major, wide)
//@   if not k_major then return "k * (2048 / 16)" end -- 16 k: 16 rows of 128 bytes
//@   if tile_k == 64 then return "k * (32 / 16)" end -- 16 k: 32 bytes along the row
//@   return "k / 4 * (128 * " .. wide .. " / 16) + k % 4 * (32 / 16)"
//@ end
//@ local function apart(k_major, count) -- bytes from one to the one `count` rows further on
//@   if k_major then return count .. " * 128" end
//@   return count .. " / 64 * (128 * tile_k)"
//@ end
//@ local call = "wgmma<" .. dtype .. ", piece(w), "
//@ if acc == "f16" then call = "wgmma_f16<piece(w), " end
//@ local majors = (r_k_major and "K_MAJOR" or "MN_MAJOR") .. ", " .. (s_k_major and "K_MAJOR" or "MN_MAJOR")
//@ local s_wide = schedule == "cooperative" and split == "cols" and "consumers * w" or "w"
// Queues the multiplications of one slot: this consumer's rows of r by its w columns, rows of s.
template <int w> LOOM_FN void multiply_slot(accumulators<w> &acc, u32 r, u32 s, bool add) {
  const u64 desc_r = $(description(r_k_major, "r")), desc_s = $(description(s_k_major, "s"));
  wgmma_fence();
  UNROLL
  for (int k = 0; k < tile_k / 16; ++k) {
    UNROLL
    for (int i = 0; i < row_blocks; ++i) {
      UNROLL
      for (int j = 0; j < pieces(w); ++j)
        $call$majors>(acc[i][j], desc_r + i * ($(apart(r_k_major, "64")) / 16) + $(k_step(r_k_major, "rows")),
                      desc_s + j * ($(apart(s_k_major, "piece(w)")) / 16) + $(k_step(s_k_major, s_wide)), add || k > 0);
    }
  }
  wgmma_commit();
}

//@ local release = cluster ~= "none" and "release_slot" or "mbar_arrive"
//@ if cluster ~= "none" then
// The slot is free here, and in the CTA beside, which fills it too.
LOOM_FN void release_slot(u32 bar) {
  mbar_arrive(bar);
  mbar_arrive_peer(map_shared(bar, cluster_rank() ^ 1));
}

//@ end
// One tile's w columns of this consumer, all of K; r and s are its parts of slot 0. Returns the slot
// that the multiplications still in flight read.
template <int w>
LOOM_FN int multiply_tile(accumulators<w> &acc, u32 r, u32 s, u32 full, u32 empty,
                          ring_position &at, int k_tiles, bool leader) {
  int slot = 0;
  ROLLED
  for (int k_tile = 0; k_tile < k_tiles; ++k_tile) {
    mbar_wait(full + 8 * at.slot, at.parity);
    multiply_slot<w>(acc, r + at.slot * slot_bytes, s + at.slot * slot_bytes, k_tile > 0);
    wgmma_wait<1>(); // all but the newest are done, so the slot before this one is free
    if (leader && k_tile > 0) $release(empty + 8 * slot);
    slot = at.slot;
    at.step();
  }
  return slot;
}
