//@ -- exchange.cu -- a part of the wgmma templates, for split_k > 1: the CTAs of a cluster add up what each has of a tile.
// The cluster's CTAs have a share of K each, and each stores a share of the tile's columns: what it has of the
// others' shares goes straight into their shared memory, where the ring was. All of them are resident together,
// so that they may wait for each other.
constexpr int share = wg_cols / split_k; // columns that a consumer of one CTA stores
static_assert((split_k - 1) * consumers * 4 * wg_rows * share <= stages * slot_bytes, "the sums do not fit");

// Adds up this consumer's share in `own`. parts: where the others' sums arrive, each thread's registers as it has
// them. ready: the others' consumers have read their rings; arrived: all bytes are there. The order of the sum
// is always the same.
LOOM_FN void exchange(accumulators<share> &own, const accumulators<wg_cols> &acc, u32 parts, u32 ready, u32 arrived,
                      bool leader) {
  constexpr int regs = share / 2; // of a 64-row block, per thread
  constexpr u32 part_bytes = 128 * 4 * row_blocks * regs;
  const int rank = cluster_rank(), thread = threadIdx.x % 128;
  if (leader) {
    mbar_expect_tx(arrived, (split_k - 1) * part_bytes);
    UNROLL
    for (int q = 0; q < split_k; ++q)
      if (q != rank) mbar_arrive_peer(map_shared(ready, q));
  }
  mbar_wait(ready, 0);
  UNROLL
  for (int q = 0; q < split_k; ++q) {
    if (q == rank) continue;
    const u32 to = map_shared(parts + (rank < q ? rank : rank - 1) * part_bytes + 16 * thread, q);
    const u32 bar = map_shared(arrived, q);
    UNROLL
    for (int i = 0; i < row_blocks; ++i) {
      UNROLL
      for (int e = 0; e < regs; e += 4) {
        words<4> v;
        UNROLL
        for (int x = 0; x < 4; ++x) v.w[x] = float_bits(acc[i][0][q * regs + e + x]);
        st_async<4>(to + (i * regs + e) * 512, v, bar);
      }
    }
  }
  UNROLL
  for (int i = 0; i < row_blocks; ++i) {
    UNROLL
    for (int e = 0; e < regs; ++e) {
      float sum = acc[i][0][e];
      UNROLL
      for (int q = 1; q < split_k; ++q) sum = q == rank ? acc[i][0][q * regs + e] : sum;
      own[i][0][e] = sum;
    }
  }
  mbar_wait_cluster(arrived, 0);
  UNROLL
  for (int p = 0; p < split_k - 1; ++p) {
    UNROLL
    for (int i = 0; i < row_blocks; ++i) {
      UNROLL
      for (int e = 0; e < regs; e += 4) {
        const words<4> v = lds_words<4>(parts + p * part_bytes + 16 * thread + (i * regs + e) * 512);
        UNROLL
        for (int x = 0; x < 4; ++x) own[i][0][e + x] += bits_float(v.w[x]);
      }
    }
  }
}
