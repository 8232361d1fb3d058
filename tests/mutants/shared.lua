-- shared.lua -- bugs in what CTAs share, a part of list.lua: plain memory, a workspace, the memory of a cluster.

local bug = ...

-- plain memory ----------------------------------------------------------------------------------------

bug("no barrier before the slice is read", "simt",
  [[    cta_sync();
    for (int k = 0; k < tile_k; ++k) {]],
  "    for (int k = 0; k < tile_k; ++k) {",
  "race uninitialised", "other warps have not written it")
bug("no barrier before the slice is replaced", "simt",
  [[    cta_sync();
  }
  UNROLL]],
  [[  }
  UNROLL]],
  "race", "other warps still read it")
bug("barrier in a divergent branch", "simt",
  [[    cta_sync();
    for (int k = 0; k < tile_k; ++k) {]],
  [[    if (m0 + row < M) cta_sync();
    for (int k = 0; k < tile_k; ++k) {]],
  "deadlock diverged race barrier uninitialised", "threads outside of C do not come")
bug("part of the slice not written", "simt",
  "for (int i = tid; i < tile_m * tile_k; i += threads) {",
  "for (int i = tid + threads; i < tile_m * tile_k; i += threads) {",
  "uninitialised", "shared memory is read before it is written")
bug("clipping along m lost", "simt",
  "if (m < M && n < N) stg",
  "if (n < N) stg",
  "out-of-bounds", "writes rows beyond the last")
bug("clipping of A lost", "simt",
  "m < M && k < K ?",
  "m < M ?",
  "out-of-bounds uninitialised wrong-result", "reads beyond the row's end")
bug("leading dimension ignored", "simt",
  "(i64)m * lda + k",
  "(i64)m * K + k",
  "wrong-result uninitialised", "rows are lda apart, not K")
bug("result written over A", "simt",
  "stg(C, (i64)m * ldc + n,",
  "stg(gptr_at<f16>(A, 0), (i64)m * ldc + n,",
  "input-written out-of-bounds", "inputs are not the kernel's to write")
bug("rows of a fragment not clipped", "mma tn",
  "if (m + 8 < M) stg_pair",
  "if (m < M) stg_pair",
  "out-of-bounds", "writes rows beyond the last")
bug("columns not clipped", "mma nn",
  [[      if (n >= N) continue;
]],
  "",
  "padding-written out-of-bounds written-twice", "writes columns beyond the last")
bug("last column one too far", "mma tn",
  "if (n >= N) continue;",
  "if (n > N) continue;",
  "padding-written out-of-bounds written-twice", "n == N is outside")
bug("last rows forgotten", "mma nn",
  "if (m < M) stg_pair",
  "if (m < M - 8) stg_pair",
  "unwritten", "elements of C keep what they held")
bug("tiles overlap", "mma tn",
  "n0 = in_group / rows * tile_n;",
  "n0 = in_group / rows * (tile_n - 8);",
  "written-twice unwritten", "tiles stand closer than they are wide")
bug("last slice of k lost", "cooperative tn",
  "all_k = (K + tile_k - 1) / tile_k;",
  "all_k = K / tile_k;",
  "wrong-result", "K is no multiple of 64")
bug("one slice of k too many", "cooperative tn",
  "k < (k_first + k_tiles) * tile_k;",
  "k < (k_first + k_tiles + 1) * tile_k;",
  "deadlock race wrong-result remote-after-exit", "the consumers never read it")
bug("pair at an odd element", "registers 128",
  "k0 + 16 * s + lane % 4 * 2;",
  "k0 + 16 * s + lane % 4 * 2 + 1;",
  "misaligned", "two elements at once want an even place")

-- split-K through the workspace -----------------------------------------------------------------------

bug("relaxed counter", "splitk acq_rel",
  "atom_inc_acq_rel(ws, at, splits - 1)",
  "atom_inc(ws, at, splits - 1)",
  "race", "nothing orders the partial tiles before the count")
bug("no fence before the count", "splitk fence",
  [[    fence_gpu();
    const u32 before]],
  "    const u32 before",
  "race", "the partial tile is not released")
bug("fence before the barrier", "splitk fence",
  "  cta_sync(); // the whole partial tile is written, and the arrival releases it\n"
    .. "  if (threadIdx.x == 0) {\n    fence_gpu();\n",
  "  fence_gpu();\n  cta_sync(); // the whole partial tile is written, and the arrival releases it\n"
    .. "  if (threadIdx.x == 0) {\n",
  "race", "it comes before what other warps have written is known")
bug("counted by every warp", "splitk acq_rel",
  "  if (threadIdx.x == 0) {\n    const u32 before",
  "  if (threadIdx.x % 32 == 0) {\n    const u32 before",
  "race wrong-result unwritten written-twice", "one CTA counts for four")
bug("no fence after the count", "splitk fence",
  [[splits - 1);
    fence_gpu();]],
  "splits - 1);",
  "race", "the other partial tiles are not acquired")
bug("no barrier before the count", "splitk acq_rel",
  [[  cta_sync(); // the whole partial tile is written, and the arrival releases it
]],
  "",
  "race", "other warps have not written their part")
bug("no barrier before the flag is read", "splitk acq_rel",
  [[  cta_sync();
  if (lds_words]],
  "  if (lds_words",
  "race uninitialised", "the flag is not written yet")
bug("counter never reset", "splitk acq_rel",
  "atom_inc_acq_rel(ws, at, splits - 1)",
  "atom_add_acq_rel(ws, at, 1)",
  "unwritten wrong-result", "the second launch finds it counted up")
bug("counter with a wrong limit", "splitk fence",
  "atom_inc(ws, at, splits - 1)",
  "atom_inc(ws, at, splits)",
  "unwritten wrong-result", "the second launch finds it counted up")
bug("first to arrive adds up", "splitk acq_rel",
  ".w[0] != splits - 1) return;",
  ".w[0] != 0) return;",
  "race uninitialised wrong-result", "the other partial tiles are not there yet")
bug("waits for other CTAs", "splitk acq_rel",
  [[  if (lds_words<1>(flag).w[0] != splits - 1) return;
]],
  [[  if (split != 0) return;
  while (ld_acquire(ws, at) != 0) {
  }
]],
  "not-resident deadlock", "they may not run before this one ends")
bug("partial tiles overlap", "splitk acq_rel",
  "(at * splits + s) * threads",
  "(at + s) * threads",
  "race wrong-result", "two tiles share a place in the workspace")
bug("partial tiles over the counters", "splitk fence",
  "gptr_at<float>(ws, partials_at)",
  "gptr_at<float>(ws, 0)",
  "race wrong-result unwritten", "the counters are overwritten")
bug("words off 16 bytes", "splitk acq_rel",
  "return 8 * ((at",
  "return 6 * ((at",
  "misaligned", "four words at once want multiples of 16")
bug("share of k rounded down", "splitk acq_rel",
  "((K + tile_k - 1) / tile_k + splits - 1) / splits * tile_k",
  "(K + tile_k - 1) / tile_k / splits * tile_k",
  "wrong-result", "what is left over is nobody's")
bug("partial sums rounded to 16 bits", "splitk acq_rel",
  "acc[j][i] += number(w.w[i]);",
  "acc[j][i] += to_float(from_float<f16>(number(w.w[i])));",
  "wrong-result", "large sums of opposite sign no longer cancel")
bug("rounded before C is added", "splitk acq_rel",
  "float v = alpha * acc[j][i];",
  "float v = to_float(from_float<f16>(alpha * acc[j][i]));",
  "wrong-result", "two roundings where there is one")
bug("C read with beta 0", "splitk acq_rel",
  "if (beta != 0.f) v +=",
  "v +=",
  "wrong-result uninitialised", "C may hold anything, NaN as well")
bug("flag read without acquire", "splitk wait",
  "ld_acquire(",
  "ld_relaxed(",
  "race", "the partial tile is not ordered before its flag")
bug("flag set without release", "splitk wait",
  "st_release(ws, flags + split, 1)",
  "stg<u32>(ws, flags + split, 1)",
  "race", "an ordinary store orders nothing")
bug("flag never taken back", "splitk wait",
  "      st_release(ws, flags + s, 0); // for the next launch\n",
  "",
  "race wrong-result uninitialised", "the second launch finds it set")
bug("waits for a flag that nobody sets", "splitk wait",
  "ld_acquire(ws, flags + s) == 0",
  "ld_acquire(ws, flags + s - 1) == 0",
  "deadlock not-resident", "the first share has no flag")
bug("nobody waits for the flags' reader", "splitk wait",
  "      st_release(ws, flags + s, 0); // for the next launch\n    }\n  }\n  cta_sync();\n",
  "      st_release(ws, flags + s, 0); // for the next launch\n    }\n  }\n",
  "race", "other warps have not seen the flags")
bug("one counter for all tiles", "splitk acq_rel",
  "atom_inc_acq_rel(ws, at, splits - 1)",
  "atom_inc_acq_rel(ws, 0, splits - 1)",
  "unwritten written-twice race wrong-result", "it counts other tiles' shares")
bug("all shares at one place", "splitk acq_rel",
  "part_of(split) + 4 * j",
  "part_of(0) + 4 * j",
  "race wrong-result", "the shares overwrite each other")
bug("alpha ignored", "splitk fence",
  "alpha * acc[j][i]",
  "acc[j][i]",
  "wrong-result", "C = alpha A B + beta C")

-- clusters --------------------------------------------------------------------------------------------

bug("cluster not met at the entry", "dsmem st_async",
  "  cluster_sync(); // the other CTA runs",
  "  cta_sync(); // the other CTA runs",
  "barrier race remote-after-exit not-resident", "the other CTA's barrier may not be initialised")
bug("pushed to its own memory", "dsmem st_async",
  "st_async<4>(map_shared(place(j), 0), w,",
  "st_async<4>(map_shared(place(j), 1), w,",
  "barrier race uninitialised aligned-operands out-of-bounds", "barrier and data lie in different CTAs")
bug("pushed sums not waited for", "dsmem st_async",
  [[    mbar_wait_cluster(pushed, 0);
]],
  "",
  "race uninitialised", "the sums may not have come")
bug("half of the pushed bytes expected", "dsmem st_async",
  "mbar_expect_tx(pushed, sums_bytes);",
  "mbar_expect_tx(pushed, sums_bytes / 2);",
  "barrier race uninitialised", "the phase ends before all sums are there")
bug("no proxy fence before the push", "dsmem bulk",
  [[    fence_proxy_async();
]],
  "",
  "race", "the copy engine reads what threads have not made visible")
bug("no barrier before the push", "dsmem bulk",
  [[    fence_proxy_async();
    cta_sync();]],
  "    fence_proxy_async();",
  "race uninitialised", "other warps have not written their sums")
bug("source ends before the push", "dsmem bulk",
  [[  cluster_sync(); // CTA 1's memory must outlive what reads it
]],
  "",
  "remote-after-exit race", "CTA 1's memory goes away under the copy")
bug("sums read without the cluster barrier", "dsmem stc",
  "  cluster_sync(); // the sums are written",
  "  cta_sync(); // the sums are written",
  "race uninitialised", "CTA 1 may not have stored them")
bug("cluster barrier in two branches", "dsmem stc",
  "  cluster_sync(); // the sums are written",
  "  if (threadIdx.x % 32 < 16)\n    cluster_sync();\n  else\n    cluster_sync(); // the sums are written",
  "diverged", "it is one instruction for a whole warp")
bug("cluster barrier without a wait", "dsmem stc",
  "  cluster_sync(); // the sums are written",
  "  cluster_arrive(); // the sums are written",
  "race uninitialised barrier deadlock", "arriving is not waiting")
bug("stored in its own memory", "dsmem stc",
  "stc_words<4>(map_shared(place(j), 0), w);",
  "stc_words<4>(map_shared(place(j), 1), w);",
  "uninitialised", "CTA 0 reads what nobody wrote")
bug("CTA 1 ends while it is read", "dsmem ldc",
  [[  cluster_sync(); // CTA 1's memory must outlive what reads it
]],
  "",
  "remote-after-exit race", "its memory goes away")
bug("reads its own memory", "dsmem ldc",
  "map_shared(place(j), 1)",
  "map_shared(place(j), 0)",
  "uninitialised", "the sums are in CTA 1")
bug("both CTAs take the even slices", "dsmem ldc",
  "(2 * i + rank) * tile_k",
  "2 * i * tile_k",
  "wrong-result", "the odd slices are lost")
bug("cluster not met before multicast", "multicast",
  "  cluster_sync(); // the other CTA's barriers are ready",
  "  cta_sync(); // the other CTA's barriers are ready",
  "barrier race remote-after-exit not-resident", "copies arrive at barriers that do not exist yet")
bug("exit before the other CTA's copies", "multicast",
  "  cluster_sync(); // and what",
  "  // and what",
  "remote-after-exit race", "the other CTA still arrives here")
bug("slot freed by one CTA", "multicast",
  "mbar_init(empty + 8 * s, 2);",
  "mbar_init(empty + 8 * s, 1);",
  "barrier race", "the other CTA's slot is overwritten")
bug("slot freed for its own CTA alone", "multicast",
  "if (threadIdx.x < 2) mbar_arrive_cluster(map_shared(empty + 8 * s, threadIdx.x));",
  "if (threadIdx.x < 1) mbar_arrive(empty + 8 * s);",
  "deadlock", "the other CTA waits for it")
bug("slot freed twice for one CTA", "multicast",
  "map_shared(empty + 8 * s, threadIdx.x)",
  "map_shared(empty + 8 * s, 0)",
  "deadlock barrier race", "arrivals at the wrong CTA")
bug("no wait for both CTAs' slots", "multicast",
  [[        mbar_wait_cluster(empty + 8 * s, (i / stages & 1) ^ 1);
]],
  "",
  "race barrier", "the multicast overwrites what is still read")
bug("halves of B at one place", "multicast",
  "b + rank * half_bytes,",
  "b,",
  "race wrong-result uninitialised", "both CTAs write the first half")
bug("same half of B twice", "multicast",
  "n0 + rank * 32, bar",
  "n0, bar",
  "wrong-result", "columns 32 to 63 are never loaded")
bug("multicast to one CTA", "multicast",
  "bar, 3);",
  "bar, 1);",
  "deadlock uninitialised barrier", "the mask leaves CTA 1 out")
bug("only its own bytes expected", "multicast",
  "mbar_expect_tx(bar, slot_bytes);",
  "mbar_expect_tx(bar, a_bytes + half_bytes);",
  "barrier race uninitialised", "the other CTA's half may be missing")
bug("elect_one by one lane", "multicast",
  "if (elect_one()) {",
  "if (lane == 1 && elect_one()) {",
  "diverged deadlock", "elect.sync names all lanes")
bug("cluster left without a wait", "multicast",
  "  cluster_sync(); // and what",
  "  cluster_arrive(); // and what",
  "remote-after-exit barrier race", "arriving says that it may end, not that the other has")
bug("slot not released to the CTA beside", "cluster",
  "mbar_arrive_peer(map_shared(bar, cluster_rank() ^ 1));",
  "",
  "deadlock", "it waits for this CTA before it loads for both")
bug("slot released twice here", "cluster",
  "mbar_arrive_peer(map_shared(bar, cluster_rank() ^ 1));",
  "mbar_arrive_peer(map_shared(bar, cluster_rank()));",
  "deadlock barrier race", "arrivals at the wrong CTA")
bug("arrivals of the CTA beside not counted", "cluster",
  "mbar_init(empty + 8 * s, 2);",
  "mbar_init(empty + 8 * s, 1);",
  "barrier race", "its slot is overwritten while it is read")
bug("two of four arrivals counted", "cluster swap",
  "mbar_init(empty + 8 * s, 4);",
  "mbar_init(empty + 8 * s, 2);",
  "barrier race", "two consumers in each of two CTAs read the slot")
bug("half of a slot to its own CTA alone", "cluster",
  "bar, 3);",
  "bar, 1 << cluster_rank());",
  "deadlock uninitialised barrier", "the mask leaves the CTA beside out")
bug("half of a slot to the CTA beside alone", "cluster swap",
  "bar, 3);",
  "bar, 2 >> cluster_rank());",
  "deadlock uninitialised barrier race wrong-result", "the mask leaves its own CTA out")
bug("same half of a slot loaded twice", "cluster",
  "const int half = cluster_rank();",
  "const int half = 0;",
  "race wrong-result uninitialised", "the other half is nobody's")
bug("both halves of a slot at one place", "cluster swap",
  "slot + r_bytes + (half * (w / 24) / 2 + j)",
  "slot + r_bytes + (j)",
  "race wrong-result uninitialised", "both CTAs write the first half")
bug("bytes of the CTA beside not expected", "cluster",
  "mbar_expect_tx(bar, r_bytes + 2 * tile_k * w);",
  "mbar_expect_tx(bar, r_bytes + tile_k * w);",
  "barrier race uninitialised", "its half may be missing")
bug("no wait for the slot of the CTA beside", "cluster",
  "mbar_wait(empty + 8 * at.slot, at.parity ^ 1);",
  "",
  "race barrier", "the multicast overwrites what is still read")
bug("both CTAs of a cluster store the same tile", "cluster",
  "to.m = 2 * to.m + cluster_rank(); to.m *= tile_m, to.n *= tile_n; {",
  "to.m = 2 * to.m * tile_m, to.n *= tile_n; {",
  "written-twice unwritten", "the tile beside is never written")
bug("last tile without one beside it lost", "cluster",
  "pairs = (tiles_m + 1) / 2;",
  "pairs = tiles_m / 2;",
  "unwritten", "three tiles are two pairs")
bug("cluster not met before the first slot", "cluster",
  "cluster_sync(); grid_dep_launch();",
  "cta_sync(); grid_dep_launch();",
  "barrier race remote-after-exit not-resident", "copies arrive at barriers that do not exist yet")
bug("exit before the CTA beside has ended", "cluster",
  "cluster_sync(); // the CTA beside may still write here",
  "",
  "remote-after-exit race", "it still loads and arrives here")
