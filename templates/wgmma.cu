// wgmma.cu -- C = A B on Hopper (sm_90a): TMA copies, wgmma multiplies, each by warps of its own.
//
// A CTA computes tiles of C, tile_m x tile_n each. Its first warpgroup is the producer: one thread
// asks the TMA engine for slices of A and B, tile_k deep, into a ring of `stages` slots in shared
// memory. The other warpgroups are the consumers: they multiply what has arrived and store the
// finished tile. Two mbarriers per slot keep them in step:
//
//   full[s]   the slot's bytes have landed         producer waits on empty[s], then fills
//   empty[s]  its consumers have read the slot     consumers wait on full[s], then multiply
//
// wgmma multiplies 64 rows of its first operand by up to 256 rows of its second: `r` and `s` below.
//@ if swap == "yes" then
// Swapped: r is B and s is A, so tile_n counts in 64s and tile_m in 8s; the product is C transposed,
// and turned while it is stored.
//@ else
// r is A and s is B.
//@ end
//@ if schedule == "pingpong" then
// Pingpong: the two consumers take turns, a whole tile each. While one stores its tile, the other
// has the tensor cores to itself; a pair of named barriers passes the turn.
//@ else
// Cooperative: the consumers share each tile, $wg_rows x $wg_cols for each of them.
//@ end
//@ if split_k > 1 then
// A tile's K is shared by the $split_k CTAs of a cluster, which add up their products through each other's
// shared memory and store a share of the columns each.
//@ end
//@ if cluster ~= "none" then
// Two CTAs beside each other are a cluster: each loads half of the operand that both need, for both.
//@ end
//@ if tail > 1 then
// What does not fill a last wave of whole tiles is cut into $tail parts each, where that ends sooner.
//@ end
// What lies outside of A, B or C is read as zero or not written. M, N, K: any multiple of 8.
//@ -- ---------------------------------------------------------------------------------------------
//@ -- The two operands: r in rows, s in columns. One whose rows run along k is cut into boxes of 64 k;
//@ -- one whose rows run along m or n into blocks of 64 of them, since a swizzled row has 128 bytes.
//@ local swapped = swap == "yes"
//@ local function operand(name, wide, part)
//@   local is_a = name == "a"
//@   local k_major = b_k_major
//@   if is_a then k_major = a_k_major end
//@   local o = {tmap = "tmap_" .. name, wide = wide, part = part, k_major = k_major, dim = is_a and "M" or "N"}
//@   o.shared = cluster ~= "none" and (cluster == "m") == not is_a
//@   o.box = part
//@   if k_major and o.shared then o.box = part // 2 end
//@   while o.box > 256 do o.box = o.box // 2 end
//@   return o
//@ end
//@ local r = operand(swapped and "b" or "a", rows, rows)
//@ local s = operand(swapped and "a" or "b", cols, cols // tail)
//@ local function tensor(o, name, letter)
//@   local dims, box = {"K", o.dim}, {64, o.box}
//@   if not o.k_major then dims, box = {o.dim, "K"}, {64, tile_k} end
//@   return {name = name, operand = letter, dims = dims, stride = "ld" .. letter:lower(), box = box,
//@           swizzle = 128, l2 = 256}
//@ end
//@ -- C leaves in chunks of 64 x 64; what is left of the columns that a consumer stores has a map of its own.
//@ local stored = wg_cols // split_k
//@ local rest = stored % 64
//@ local tensors = {tensor(swapped and s or r, "tmap_a", "A"), tensor(swapped and r or s, "tmap_b", "B")}
//@ local args = {"tmap_a", "tmap_b"}
//@ local params = {"const __grid_constant__ tensor_map tmap_a", "const __grid_constant__ tensor_map tmap_b"}
//@ local function chunk_map(name, wide)
//@   args[#args + 1] = name
//@   params[#params + 1] = "const __grid_constant__ tensor_map " .. name
//@   tensors[#tensors + 1] = {name = name, operand = "C", dims = {"N", "M"}, stride = "ldc",
//@     box = swapped and {64, wide} or {wide, 64}, swizzle = 128, l2 = 256}
//@ end
//@ if epilogue == "tma" then
//@   if stored >= 64 then chunk_map("tmap_c", 64) end
//@   if rest > 0 then chunk_map("tmap_rest", rest) end
//@ end
//@ local function plain(name, text)
//@   args[#args + 1], params[#params + 1] = name, text
//@ end
//@ local reads_c = scale == "alpha_beta"
//@ local loads_c = reads_c and epilogue == "tma"
//@ if epilogue ~= "tma" then plain("C", "gptr<" .. dtype .. "> C") end
//@ for _, name in ipairs {"M", "N", "K"} do plain(name, "int " .. name) end
//@ if epilogue ~= "tma" then plain("ldc", "int ldc") end
//@ if reads_c then
//@   plain("alpha", "float alpha")
//@   plain("beta", "float beta")
//@ end
//@ local paired = cluster ~= "none" and 2 or split_k
//@ local tile = {tile_m * (cluster == "m" and 2 or 1), tile_n * (cluster == "n" and 2 or 1)} -- a cluster's
//@ launch { args = args, grid = grid_rule, tile = tile, split_k = paired, block = threads, smem = smem, cluster = paired,
//@   pdl = true, tensors = tensors, legal = {m = 8, n = 8, k = 8, ld = 8, align = 16} }
#include "loom.cuh"

constexpr int tile_m = $tile_m, tile_n = $tile_n, tile_k = $tile_k, stages = $stages;
constexpr int rows = $rows, cols = $cols;             // of a tile, as wgmma sees it
constexpr int wg_rows = $wg_rows, wg_cols = $wg_cols; // of them one consumer's,
constexpr int row_blocks = wg_rows / 64;              // 64 rows to a wgmma
constexpr int consumers = $consumers, threads = 128 * (1 + consumers);
constexpr int split_k = $split_k; // CTAs of a cluster that share a tile's K
constexpr int group = $group_m; // tiles walked together, so that what they share is met again in L2
constexpr u32 r_bytes = $r_bytes, slot_bytes = r_bytes + $s_bytes;
constexpr int chunk_buffers = $chunk_buffers; // chunks of C in flight, per consumer
constexpr u32 chunk_bytes = 2 * 64 * 64;
static_assert(wg_rows % 64 == 0 && wg_cols % 8 == 0 && stages >= 2, "not a tile for this template");

// Shared memory: the ring, the chunks, the barriers.
constexpr u32 chunks_at = stages * slot_bytes;
constexpr u32 full_at = chunks_at + $chunks * chunk_bytes;
constexpr u32 empty_at = full_at + 8 * stages;
constexpr u32 arrived_at = empty_at + 8 * stages; // with split_k: one per consumer, and one for all
constexpr u32 chunk_full_at = arrived_at + (split_k > 1 ? 8 * (consumers + 1) : 0);
constexpr u32 smem_end = chunk_full_at$(loads_c and " + 8 * consumers * chunk_buffers" or "");
static_assert(threads == $threads && smem_end == $smem, "space and kernel differ");

//@ include "wgmma/multiply.cu"

//@ if split_k > 1 then
//@   include "wgmma/exchange.cu"
//@ end

//@ include "wgmma/store.cu"

//@ local s_bytes_of = s.k_major and "2 * tile_k * w" or "2 * tile_k * ((w + 63) / 64 * 64)"
// Asks for one slot: rows of r from r0 on, w rows of s from s0 on, tile_k of them from k on.
template <int w>
LOOM_FN void load_slot(u32 slot, const tensor_map *tmap_a, const tensor_map *tmap_b, int k, int r0,
                       int s0, u32 bar) {
  mbar_expect_tx(bar, r_bytes + $s_bytes_of);
  //@ if cluster ~= "none" then
  const int half = cluster_rank();
  //@ end
  //@ -- One operand's boxes of a slot, into `to`, from row `from` of it on.
  //@ local function load(o, to, from, wide)
  //@   local parts = wide .. " / " .. o.box
  //@   if not o.k_major then parts = "(" .. wide .. " + 63) / 64" end
  //@   local at, load_2d, mask = "(j)", "tma_load_2d", ""
  //@   if o.shared then
  //@     at, load_2d, mask = "(half * (" .. parts .. ") / 2 + j)", "tma_load_2d_multicast", ", 3"
  //@     parts = parts .. " / 2"
  //@   end
  //@   local box, tmap = o.box, o.tmap
  //@   if o.k_major and tile_k > 64 then
  UNROLL
  for (int b = 0; b < tile_k / 64; ++b) {
    UNROLL
    for (int j = 0; j < $parts; ++j)
      $load_2d($to + b * (128 * $wide) + $at * (128 * $box), $tmap, k + 64 * b, $from + $at * $box,
               bar$mask);
  }
  //@   elseif o.k_major then
  UNROLL
  for (int j = 0; j < $parts; ++j)
    $load_2d($to + $at * (128 * $box), $tmap, k, $from + $at * $box, bar$mask);
  //@   else
  UNROLL
  for (int j = 0; j < $parts; ++j)
    $load_2d($to + $at * (128 * tile_k), $tmap, $from + 64 * $at, k, bar$mask);
  //@   end
  //@ end
  //@ load(r, "slot", "r0", "rows")
  //@ load(s, "slot + r_bytes", "s0", "w")
}

extern "C" __global__ void __launch_bounds__(threads, 1)
    loom_kernel($(table.concat(params, ",\n                "))) {
  const u32 ring = smem_base(), full = ring + full_at, empty = ring + empty_at;
  const int tiles_m = (M + tile_m - 1) / tile_m, tiles_n = (N + tile_n - 1) / tile_n;
  //@ local across_m, across_n, number, count = "tiles_m", "tiles_n", "blockIdx.x", "gridDim.x"
  //@ if cluster ~= "none" then
  //@   number, count = "blockIdx.x / 2", "gridDim.x / 2"
  //@   if cluster == "m" then across_m = "pairs" else across_n = "pairs" end
  const int pairs = (tiles_$cluster + 1) / 2; // of tiles, along $cluster
  //@ end
  //@ if split_k > 1 then number, count = "blockIdx.x / split_k", "gridDim.x / split_k" end
  const int worker = $number, workers = $count;
  const int tiles = $across_m * $across_n, all_k = (K + tile_k - 1) / tile_k;
  //@ if split_k > 1 then
  // One without a share of a short K takes a slice behind its end: zeros.
  const int rank = cluster_rank(), from = all_k * rank / split_k,
            count = all_k * (rank + 1) / split_k - from;
  const int k_first = count > 0 ? from : all_k, k_tiles = count > 0 ? count : 1;
  //@ else
  const int k_first = 0, k_tiles = all_k;
  //@ end
  //@ if tail > 1 then
  // Whole tiles, then the parts of those that would not fill a wave.
  const int left = tiles % workers, cut = (left * $tail + workers - 1) / workers < $tail ? left : 0;
  const int whole = tiles - cut, items = whole + $tail * cut;
  //@ else
  const int items = tiles;
  //@ end
  const int warpgroup = warpgroup_index();

  if (threadIdx.x == 0) {
    prefetch_tensor_map(&tmap_a);
    prefetch_tensor_map(&tmap_b);
    ROLLED
    for (int s = 0; s < stages; ++s) {
      mbar_init(full + 8 * s, 1);
      //@ local readers = (cluster ~= "none" and 2 or 1) * (schedule == "pingpong" and 1 or consumers)
      mbar_init(empty + 8 * s, $readers);
    }
    //@ if loads_c then
    ROLLED
    for (int b = 0; b < consumers * chunk_buffers; ++b) mbar_init(ring + chunk_full_at + 8 * b, 1);
    //@ end
    //@ if split_k > 1 then
    ROLLED
    for (int c = 0; c < consumers; ++c) mbar_init(ring + arrived_at + 8 * c, 1);
    mbar_init(ring + arrived_at + 8 * consumers, consumers * (split_k - 1));
    //@ end
    fence_mbar_init();
  }
  //@ if paired > 1 then
  cluster_sync();
  //@ else
  cta_sync();
  //@ end
  //@ if launch_next == "early" then
  grid_dep_launch();
  //@ end

  //@ -- The loop over items, with `body(w)` for whole tiles and for parts of one.
  //@ local function each_item(first, step, body)
  //@   local own = "to"
  for (int item = $first; item < items; item += $step) {
    //@ local tile = "item"
    //@ if tail > 1 then
    const int part = item < whole ? 0 : (item - whole) % $tail;
    const int tile = item < whole ? item : whole + (item - whole) / $tail;
    //@   tile = "tile"
    //@ end
    tile_origin to = locate($tile, $across_m, $across_n);
    //@ if cluster ~= "none" then
    to.$cluster = 2 * to.$cluster + cluster_rank();
    //@ end
    to.m *= tile_m, to.n *= tile_n;
    //@ if tail > 1 then
    if (item < whole) {
      //@ body("wg_cols", "cols")
    } else {
      to.$(swapped and "m" or "n") += part * (cols / $tail);
      //@ body("wg_cols / " .. tail, "cols / " .. tail)
    }
    //@ else
    //@ body("wg_cols", "cols")
    //@ end
  }
  //@ end
  //@ local function apart(k_major, count) -- bytes from one row of an operand to the one `count` further on
  //@   if k_major then return count .. " * 128" end
  //@   return count .. " / 64 * (128 * tile_k)"
  //@ end
  //@ local release = cluster ~= "none" and "release_slot" or "mbar_arrive"
  //@ local to_r, to_s = swapped and "to.n" or "to.m", swapped and "to.m" or "to.n"
  if (warpgroup == 0) { // ---- the producer
    //@ if producer_regs > 0 then
    setmaxnreg_dec<$producer_regs>();
    //@ end
    if (threadIdx.x == 0) {
      grid_dep_wait();
      ring_position at = {0, 0};
      //@ each_item("worker", "workers", function(_, w)
      ROLLED
      for (int k = k_first * tile_k; k < (k_first + k_tiles) * tile_k; k += tile_k, at.step()) {
        mbar_wait(empty + 8 * at.slot, at.parity ^ 1);
        load_slot<$w>(ring + at.slot * slot_bytes, &tmap_a, &tmap_b, k, $to_r, $to_s,
                      full + 8 * at.slot);
      }
      //@ end)
      //@ if launch_next == "late" then
      grid_dep_launch();
      //@ end
    }
  } else { // ---- the consumers
    //@ if consumer_regs > 0 then
    setmaxnreg_inc<$consumer_regs>();
    //@ end
    const int consumer = warpgroup - 1;
    const bool leader = threadIdx.x % 128 == 0;
    //@ local maps_given = (stored >= 64 and "&tmap_c, " or "") .. (rest > 0 and "&tmap_rest, " or "") .. "chunks,"
    //@ if reads_c then
    const scaling by = {alpha, beta};
    grid_dep_wait(); // C is read
    //@ end
    //@ if epilogue == "tma" then
    //@   local bars = loads_c and "0, ring + chunk_full_at + 8 * consumer * chunk_buffers, 0" or "0"
    chunk_ring chunks = {ring + chunks_at + consumer * chunk_buffers * chunk_bytes, $bars};
    //@ end
    ring_position at = {0, 0};
    //@ local first, step = "worker", "workers"
    //@ if schedule == "pingpong" then
    //@ first, step = "worker + consumer * workers", "2 * workers"
    constexpr int turn = 5; // named barriers 5 and 6: it is consumer 0's, consumer 1's turn
    if (consumer == 1) {
      named_arrive(turn, 256);
      at.advance(k_tiles); // the first tile is the other consumer's
    }
    //@ end
    //@ each_item(first, step, function(w)
    {
      accumulators<$w> acc;
      u32 r = ring, s = ring + r_bytes;
      //@ if schedule == "pingpong" then
      named_sync(turn + consumer, 256);
      //@ elseif split == "cols" then
      //@ local beyond = apart(s_k_major, "(" .. w .. ")")
      s += consumer * ($beyond);
      $to_s += consumer * ($w);
      //@ else
      //@ local below = apart(r_k_major, "wg_rows")
      r += consumer * ($below);
      $to_r += consumer * wg_rows;
      //@ end
      //@ if loads_c then
      //@   local beside = split_k > 1 and " + rank * share" or ""
      //@   local c_m, c_n = "to.m" .. (swapped and beside or ""), "to.n" .. (swapped and "" or beside)
      //@   local c_wide = split_k > 1 and "share" or w
      if (leader && beta != 0.f) load_chunks<$c_wide>($maps_given $c_m, $c_n);
      //@ end
      //@ if split_k > 1 then
      multiply_tile<$w>(acc, r, s, full, empty, at, k_tiles, leader);
      //@ else
      const int slot = multiply_tile<$w>(acc, r, s, full, empty, at, k_tiles, leader);
      //@ end
      //@ if schedule == "pingpong" then
      named_arrive(turn + (consumer ^ 1), 256);
      at.advance(k_tiles); // past the other consumer's tile
      //@ end
      wgmma_wait<0>();
      //@ if split_k > 1 then
      accumulators<share> own;
      const u32 parts = ring + consumer * ((split_k - 1) * 256 * row_blocks * share);
      exchange(own, acc, parts, ring + arrived_at + 8 * consumers, ring + arrived_at + 8 * consumer,
               leader);
      $to_s += rank * share;
      //@ else
      if (leader) $release(empty + 8 * slot);
      //@ end
      //@ local sums, wide, factors = "acc", w, reads_c and ", by" or ""
      //@ if split_k > 1 then sums, wide = "own", "share" end
      //@ if epilogue == "tma" then
      store_tile<$wide>($sums, $maps_given to.m, to.n, consumer$factors);
      //@ else
      store_tile<$wide>($sums, C, M, N, ldc, to.m, to.n$factors);
      //@ end
    }
    //@ end)
    //@ if epilogue == "tma" then
    if (leader) tma_store_wait_read<0>(); // shared memory must outlive the stores' reads
    //@ end
  }
  //@ if cluster ~= "none" then
  cluster_sync(); // the CTA beside may still write here
  //@ end
}
