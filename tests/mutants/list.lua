-- list.lua -- kernels that are right, and the bugs that are planted in them: what run.lua runs.
--
-- A bug is one substitution in the emitted text. `expect` are the kinds of finding that name its cause;
-- any other kind is a catch too, but one that deserves a look.

local bases, bugs = {}, {}

-- A good kernel: its name here, its key, the shapes it runs on: whole tiles, then clipped ones.
local function base(name, key, shapes)
  bases[#bases + 1] = { name = name, key = key, shapes = shapes }
end

local function bug(name, base_name, find, replace, expect, why)
  local kinds = {}
  for kind in expect:gmatch("%S+") do kinds[#kinds + 1] = kind end
  bugs[#bugs + 1] = { name = name, base = base_name, find = find, replace = replace, expect = kinds, why = why }
end

local TN, NN = "layout=tn,dtype=f16,acc=f32,", "layout=nn,dtype=f16,acc=f32,"

base("simt", "simt:" .. NN .. "tile_m=16,tile_n=32,tile_k=8,thread_m=2,thread_n=4", { { 32, 64, 24 }, { 19, 37, 13 } })
base("mma tn", "mma:" .. TN .. "tile_m=32,tile_n=32,tile_k=32,stages=3,warps_m=2,warps_n=1,group_m=1",
  { { 64, 32, 160 }, { 40, 56, 136 } })
base("mma nn", "mma:" .. NN .. "tile_m=64,tile_n=64,tile_k=32,stages=3,warps_m=2,warps_n=2,group_m=1",
  { { 64, 64, 160 }, { 72, 56, 136 } })
base("cooperative tn", "hopper:" .. TN .. "tile_m=64,tile_n=128,schedule=cooperative,consumers=1,chunk_buffers=1,stages=3",
  { { 128, 256, 320 }, { 200, 136, 264 } })
base("cooperative nn", "hopper:" .. NN
  .. "tile_m=128,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=2,stages=3,group_m=2",
  { { 256, 128, 320 }, { 136, 200, 264 } })
base("pingpong tn", "hopper:" .. TN .. "tile_m=64,tile_n=64,schedule=pingpong,chunk_buffers=1,stages=3",
  { { 192, 128, 192 }, { 136, 136, 136 } })
base("cluster", "hopper:" .. TN .. "tile_m=64,tile_n=64,consumers=1,cluster=m,chunk_buffers=1,stages=2",
  { { 128, 128, 320 }, { 136, 72, 264 } })
base("cluster swap", "hopper:" .. TN .. "tile_m=48,tile_n=128,swap=yes,consumers=2,cluster=n,chunk_buffers=1,stages=3",
  { { 96, 256, 192 }, { 56, 136, 264 } })
base("swap nn", "hopper:" .. NN .. "tile_m=64,tile_n=64,swap=yes,consumers=1,chunk_buffers=1,stages=3",
  { { 128, 64, 192 }, { 72, 72, 136 } })
base("tail", "hopper:" .. TN .. "tile_m=64,tile_n=128,consumers=1,chunk_buffers=2,stages=3,tail=2",
  { { 192, 384, 128 }, { 72, 136, 136 } })
base("split cols", "hopper:" .. TN .. "tile_m=64,tile_n=160,consumers=2,split=cols,chunk_buffers=1,stages=2,tile_k=128",
  { { 128, 160, 384 }, { 72, 168, 136 } })
base("direct", "hopper:" .. NN .. "tile_m=64,tile_n=64,consumers=1,epilogue=direct,chunk_buffers=1,stages=3",
  { { 128, 64, 192 }, { 72, 72, 136 } })
base("nt f16", "hopper:layout=nt,dtype=f16,acc=f16,tile_m=64,tile_n=64,consumers=1,chunk_buffers=1,stages=2",
  { { 64, 128, 192 }, { 72, 72, 136 } })
base("tt", "hopper:layout=tt,dtype=bf16,acc=f32,tile_m=64,tile_n=64,consumers=1,chunk_buffers=1,stages=2",
  { { 64, 128, 192 }, { 72, 72, 136 } })
base("split_k 2", "hopper:" .. TN .. "tile_m=64,tile_n=64,consumers=1,split_k=2,chunk_buffers=1,stages=3",
  { { 128, 128, 512 }, { 72, 136, 328 }, { 64, 64, 64 } })
base("split_k 4", "hopper:" .. NN .. "tile_m=128,tile_n=64,consumers=2,split_k=4,chunk_buffers=1,stages=3",
  { { 128, 64, 512 }, { 72, 72, 648 } })
base("split_k 8", "hopper:" .. TN .. "tile_m=64,tile_n=64,swap=yes,consumers=1,split_k=8,chunk_buffers=1,stages=3",
  { { 64, 64, 1024 }, { 72, 64, 520 } })
base("scaled", "hopper_scaled:" .. TN .. "tile_m=128,tile_n=144,consumers=1,chunk_buffers=2,stages=2",
  { { 256, 288, 128 }, { 136, 152, 136 } })
base("scaled swap", "hopper_scaled:" .. NN .. "tile_m=144,tile_n=64,swap=yes,consumers=1,chunk_buffers=4,stages=2",
  { { 144, 128, 128 }, { 152, 72, 136 } })
base("scaled pingpong", "hopper_scaled:" .. TN .. "tile_m=64,tile_n=64,schedule=pingpong,chunk_buffers=1,stages=2",
  { { 192, 128, 128 }, { 136, 136, 136 } })
base("scaled split_k", "hopper_scaled:" .. TN .. "tile_m=64,tile_n=256,consumers=1,split_k=2,chunk_buffers=1,stages=3",
  { { 64, 512, 256 }, { 72, 264, 136 } })
base("scaled direct", "hopper_scaled:" .. TN .. "tile_m=64,tile_n=24,consumers=1,epilogue=direct,stages=2",
  { { 128, 48, 192 }, { 72, 40, 136 } })
base("any tn", "hopper_any:" .. TN .. "tile_m=64,tile_n=64,consumers=1,producers=1,stages=2",
  { { 65, 67, 131, job = "ldc=72" }, { 130, 65, 259 }, { 129, 141, 193, job = "shift=3" }, { 1, 3, 5 } })
base("any nn", "hopper_any:layout=nn,dtype=bf16,acc=f32,tile_m=128,tile_n=64,consumers=2,split=rows,producers=2,stages=3",
  { { 129, 71, 200 }, { 257, 129, 77 }, { 131, 197, 65, job = "shift=5" } })
base("any nt", "hopper_any:layout=nt,dtype=f16,acc=f16,tile_m=64,tile_n=128,consumers=2,split=cols,producers=1,stages=2",
  { { 63, 130, 128 }, { 129, 257, 67, job = "shift=7" } })
base("any scaled", "hopper_any_scaled:layout=tt,dtype=f16,acc=f32,tile_m=64,tile_n=64,consumers=1,producers=1,stages=2",
  { { 65, 67, 131 }, { 70, 129, 66, job = "shift=2" } })
base("splitk acq_rel", "splitk:" .. TN .. "splits=3,order=acq_rel", { { 64, 32, 160 }, { 40, 40, 168 } })
base("splitk fence", "splitk:" .. TN .. "splits=2,order=fence", { { 64, 32, 128 }, { 40, 40, 168 } })
base("splitk wait", "splitk:" .. TN .. "splits=2,order=wait", { { 64, 32, 128 }, { 40, 40, 168 } })
base("dsmem st_async", "dsmem:" .. TN .. "push=st_async", { { 64, 128, 320 }, { 72, 72, 72 } })
base("dsmem bulk", "dsmem:" .. TN .. "push=bulk", { { 64, 128, 320 }, { 72, 72, 72 } })
base("dsmem stc", "dsmem:" .. TN .. "push=stc", { { 64, 128, 320 }, { 72, 72, 72 } })
base("dsmem ldc", "dsmem:" .. TN .. "push=ldc", { { 64, 128, 320 }, { 72, 72, 72 } })
base("multicast", "multicast:" .. TN .. "stages=2", { { 128, 128, 320 }, { 200, 72, 264 } })
base("registers nn", "registers:" .. NN .. "copy=words,swizzle=128", { { 64, 64, 96 }, { 72, 72, 72 } })
base("registers 128", "registers:" .. TN .. "copy=words,swizzle=128", { { 64, 64, 192 }, { 72, 72, 72 } })
base("registers 64", "registers:layout=tn,dtype=bf16,acc=f32,copy=words,swizzle=64", { { 64, 64, 96 }, { 72, 72, 72 } })
base("registers 32", "registers:" .. TN .. "copy=words,swizzle=32", { { 64, 64, 48 }, { 72, 72, 40 } })
base("registers 0", "registers:" .. TN .. "copy=words,swizzle=0", { { 64, 64, 48 }, { 72, 72, 40 } })
base("registers cp.async", "registers:" .. TN .. "copy=cp_async,swizzle=128", { { 64, 64, 192 }, { 72, 72, 72 } })
base("registers f16", "registers:layout=nn,dtype=f16,acc=f16,copy=words,swizzle=128", { { 64, 64, 96 }, { 72, 72, 72 } })
base("producers k16", "producers:" .. TN .. "copy=cp_async,stages=2,mma_k=16", { { 64, 64, 160 }, { 72, 72, 136 } })
base("producers k8", "producers:" .. TN .. "copy=cp_async,stages=3,mma_k=8", { { 64, 64, 160 }, { 72, 72, 136 } })
base("producers bulk", "producers:" .. TN .. "copy=bulk,stages=2,mma_k=16", { { 64, 64, 160 }, { 72, 72, 136 } })

-- barriers between copies and multiplications ---------------------------------------------------------

bug("no wait for an empty slot", "cooperative tn",
  "mbar_wait(empty + 8 * at.slot, at.parity ^ 1);",
  "",
  "race barrier", "the producer overwrites a slot that is still read")
bug("full barrier at the other parity", "cooperative tn",
  "mbar_wait(full + 8 * at.slot, at.parity);",
  "mbar_wait(full + 8 * at.slot, at.parity ^ 1);",
  "race uninitialised deadlock", "the consumer reads a slot before its bytes have landed")
bug("empty barrier at the other parity", "cooperative tn",
  "mbar_wait(empty + 8 * at.slot, at.parity ^ 1);",
  "mbar_wait(empty + 8 * at.slot, at.parity);",
  "deadlock", "the producer waits for a release that follows its own load")
bug("16 bytes too few expected", "cooperative tn",
  "mbar_expect_tx(bar, r_bytes + 2 * tile_k * w);",
  "mbar_expect_tx(bar, r_bytes + 2 * tile_k * w - 16);",
  "barrier race deadlock", "the phase ends before all bytes are there")
bug("16 bytes too many expected", "cooperative tn",
  "mbar_expect_tx(bar, r_bytes + 2 * tile_k * w);",
  "mbar_expect_tx(bar, r_bytes + 2 * tile_k * w + 16);",
  "deadlock", "the phase never ends")
bug("one arrival too many counted", "cooperative tn",
  "mbar_init(empty + 8 * s, 1);",
  "mbar_init(empty + 8 * s, 2);",
  "deadlock", "a slot is never free")
bug("two arrivals at the full barrier", "cooperative tn",
  "mbar_init(full + 8 * s, 1);",
  "mbar_init(full + 8 * s, 2);",
  "deadlock", "a slot is never full")
bug("every thread releases the slot", "cooperative nn",
  "if (leader) mbar_arrive(empty + 8 * slot);",
  "mbar_arrive(empty + 8 * slot);",
  "barrier", "more arrivals than the barrier counts")
bug("one consumer's arrival is enough", "cooperative nn",
  "mbar_init(empty + 8 * s, 2);",
  "mbar_init(empty + 8 * s, 1);",
  "barrier race", "a slot is refilled while the other consumer reads it")
bug("last slot never released", "cooperative tn",
  "if (leader) mbar_arrive(empty + 8 * slot);",
  "",
  "deadlock", "the producer waits for it in the next tile")
bug("parity kept at the ring's end", "cooperative nn",
  "if (++slot == stages) slot = 0, parity ^= 1;",
  "if (++slot == stages) slot = 0;",
  "deadlock race barrier", "the second round waits for the first round's phase")
bug("barriers announced by nobody", "cooperative tn",
  [[    fence_mbar_init();
]],
  "",
  "barrier race", "TMA may meet barriers that it does not know")
bug("no barrier after mbar_init", "cooperative tn",
  [[  cta_sync();
  grid_dep_launch();]],
  "  grid_dep_launch();",
  "barrier race", "a barrier is used before it is initialised")
bug("barriers lie in the last chunk", "cooperative tn",
  "full = ring + full_at,",
  "full = ring + full_at - 8 * stages,",
  "barrier race", "the epilogue writes over the barriers")
bug("slot released one step early", "cooperative tn",
  "if (leader && k_tile > 0) mbar_arrive(empty + 8 * slot); slot = at.slot;",
  "slot = at.slot;\nif (leader && k_tile + 1 < k_tiles) mbar_arrive(empty + 8 * slot);",
  "race", "wgmma_wait<1> lets the newest multiplication read on")
bug("full barrier waited for by one thread", "cooperative tn",
  "mbar_wait(full + 8 * at.slot, at.parity);",
  "if (leader) mbar_wait(full + 8 * at.slot, at.parity);",
  "race diverged", "three warps multiply what may not be there")
bug("a whole warp produces", "cooperative tn",
  "    if (threadIdx.x == 0) {\n      grid_dep_wait();",
  "    if (threadIdx.x < 32) {\n      grid_dep_wait();",
  "barrier race", "32 threads announce and load each slot")
bug("parity never turns", "multicast",
  "mbar_wait(full + 8 * s, i / stages & 1);",
  "mbar_wait(full + 8 * s, 0);",
  "race barrier deadlock", "the second round takes the first one's phase for its own")
bug("barriers four bytes apart", "producers k16",
  "mbar_init(full + 8 * s, 64);",
  "mbar_init(full + 4 * s, 64);",
  "misaligned barrier", "an mbarrier has eight bytes")

-- wgmma -----------------------------------------------------------------------------------------------

bug("no wgmma_wait before the release", "cooperative tn",
  [[        wgmma_wait<1>(); // all but the newest are done, so the slot before this one is free
]],
  "",
  "race", "the slot is refilled under the multiplication")
bug("no wgmma_wait before the epilogue", "cooperative tn",
  [[      wgmma_wait<0>();
]],
  "",
  "registers race wrong-result", "accumulators are read while they are written")
bug("no wgmma_fence", "cooperative tn",
  [[  wgmma_fence();
]],
  "",
  "registers", "nothing orders the accumulators before the first wgmma")
bug("no wgmma_fence, A in registers", "registers nn",
  [[    wgmma_fence();
]],
  "",
  "registers", "nothing orders A's registers before wgmma reads them")
bug("accumulator cleared in flight", "cooperative tn",
  "wgmma_wait<1>(); // all",
  "acc[0][0][0] = 0.f;\nwgmma_wait<1>(); // all",
  "registers", "a register is written while wgmma owns it")
bug("A's register reused in flight", "registers nn",
  [[    wgmma_commit();
]],
  [[    wgmma_commit();
    a[0][0] = 0;
]],
  "registers", "a register is written while wgmma reads it")
bug("sum begun without a clear", "cooperative tn",
  "slot_bytes, k_tile > 0);",
  "slot_bytes, true);",
  "registers wrong-result uninitialised", "the first slice adds to what the registers held")
bug("sum begun anew for each slice", "cooperative tn",
  "add || k > 0",
  "k > 0",
  "wrong-result", "all slices but the last are lost")
bug("accumulators not cleared", "dsmem stc",
  "float acc[tile / 2] = {};",
  "float acc[tile / 2];",
  "registers wrong-result uninitialised", "adds to what the registers held")
bug("stride of A halved", "cooperative tn",
  "desc_r = smem_desc(r, 16, 1024)",
  "desc_r = smem_desc(r, 16, 512)",
  "wrong-result uninitialised", "eight rows of A are read from the wrong place")
bug("descriptor with another swizzle", "cooperative tn",
  "desc_r = smem_desc(r, 16, 1024)",
  "desc_r = smem_desc<64>(r, 16, 1024)",
  "wrong-result aligned-operands descriptor", "TMA wrote with 128")
bug("k advances by 16 bytes", "cooperative tn",
  "desc_r + i * (64 * 128 / 16) + k * (32 / 16)",
  "desc_r + i * (64 * 128 / 16) + k * (16 / 16)",
  "wrong-result aligned-operands", "8 k are multiplied twice")
bug("leading offset of B halved", "cooperative nn",
  "smem_desc(s, 128 * tile_k, 1024)",
  "smem_desc(s, 64 * tile_k, 1024)",
  "wrong-result", "the second 64 columns are read from the wrong place")
bug("k advances as if K-major", "cooperative nn",
  "k * (2048 / 16)",
  "k * (32 / 16)",
  "wrong-result", "B runs along n: 16 k are 16 rows")
bug("B called K-major", "registers nn",
  "b_major = MN_MAJOR",
  "b_major = K_MAJOR",
  "wrong-result out-of-bounds", "B is read transposed")
bug("offsets of unswizzled B swapped", "registers 0",
  "smem_desc<0>(b, 1024, 128)",
  "smem_desc<0>(b, 128, 1024)",
  "wrong-result uninitialised out-of-bounds", "leading and stride mean other things without a swizzle")
bug("rows swizzled as if 128 bytes", "registers 64",
  "turn = 48;",
  "turn = 112;",
  "wrong-result uninitialised", "writer and reader disagree")
bug("stride of 32-byte rows doubled", "registers 32",
  "smem_desc<32>(b, 16, 8 * row_bytes)",
  "smem_desc<32>(b, 16, 16 * row_bytes)",
  "wrong-result uninitialised out-of-bounds", "eight rows of B are skipped")
bug("rows of A's fragment swapped", "registers 128",
  "a[s][0] = pair_of_a(m0, k), a[s][1] = pair_of_a(m0 + 8, k);",
  "a[s][1] = pair_of_a(m0, k), a[s][0] = pair_of_a(m0 + 8, k);",
  "wrong-result", "register 0 has row g, register 1 row g + 8")
bug("second consumer's rows off", "cooperative nn",
  "r += consumer * (wg_rows * 128);",
  "r += consumer * (wg_rows * 64);",
  "wrong-result", "half of its rows are the first consumer's")
bug("setmaxnreg by one warp", "cooperative nn",
  "    setmaxnreg_dec<40>();",
  "    if (threadIdx.x < 32) setmaxnreg_dec<40>();",
  "diverged deadlock registers", "every warp of the warpgroup must execute it")
bug("no wgmma_commit", "multicast",
  "  wgmma_commit();\n",
  "",
  "registers race", "the wait waits for groups, and there is none")
bug("newest multiplication not waited for", "multicast",
  "  wgmma_wait<0>();\n",
  "  wgmma_wait<1>();\n",
  "registers race", "the slot is released under it, the last sums are read too early")

-- proxies and stores by TMA ---------------------------------------------------------------------------

bug("no proxy fence before the store", "cooperative tn",
  [[      fence_proxy_async();
]],
  "",
  "race", "TMA reads what stmatrix has not made visible")
bug("proxy fence after the barrier", "cooperative tn",
  [[      fence_proxy_async();
      named_sync(1 + consumer, 128);]],
  [[      named_sync(1 + consumer, 128);
      if (threadIdx.x % 128 >= 32) fence_proxy_async();]],
  "race", "the fence follows the store that needs it")
bug("chunk rewritten before it is read", "cooperative tn",
  "if (leader) tma_store_wait_read<chunk_buffers - 1>();",
  "",
  "race", "the last store of this chunk still reads")
bug("one store too many in flight", "cooperative tn",
  "tma_store_wait_read<chunk_buffers - 1>()",
  "tma_store_wait_read<chunk_buffers>()",
  "race", "the last store of this chunk still reads")
bug("no barrier after the wait for the chunk", "cooperative tn",
  "named_sync(1 + consumer, 128); put_chunk",
  "put_chunk",
  "race", "only one thread knows that the chunk is free")
bug("no barrier before the store", "cooperative tn",
  "named_sync(1 + consumer, 128); if (leader) {",
  "if (leader) {",
  "race uninitialised", "TMA reads what other warps have not written")
bug("exit before the store has read", "cooperative tn",
  "    if (leader) tma_store_wait_read<0>();",
  "    ",
  "race remote-after-exit", "shared memory goes away under the store")
bug("store never committed", "cooperative tn",
  [[        tma_store_commit();
]],
  "",
  "race unwritten", "the waits do not count it")
bug("stmatrix with another swizzle", "cooperative tn",
  "^ (row & 7)",
  "^ (row & 3)",
  "wrong-result", "the store's box is swizzled by eight rows")
bug("store at swapped coordinates", "cooperative tn",
  "n + j, m + 64 * i",
  "m + 64 * i, n + j",
  "unwritten written-twice wrong-result", "x runs along n")
bug("load at swapped coordinates", "cooperative tn",
  "tmap_a, k, r0 + (j) * 64, bar);",
  "tmap_a, r0 + (j) * 64, k, bar);",
  "wrong-result", "x runs along k")
bug("boxes of B overlap", "cooperative nn",
  "slot + r_bytes + (j) * (128 * tile_k)",
  "slot + r_bytes + (j) * (64 * tile_k)",
  "race wrong-result", "offsets in elements, not bytes")
bug("both consumers store the same rows", "cooperative nn",
  "to.m += consumer * wg_rows;",
  "",
  "written-twice unwritten", "the second half of the tile is never written")
bug("no proxy fence, B by threads", "registers 128",
  [[    fence_proxy_async();
]],
  "",
  "race", "wgmma reads what ordinary stores wrote")
bug("proxy fence by one warp", "registers 128",
  [[    fence_proxy_async();
]],
  [[    if (warp == 0) fence_proxy_async();
]],
  "race", "each writer must fence its own writes")
bug("no barrier after the proxy fence", "registers nn",
  [[    fence_proxy_async();
    cta_sync();]],
  "    fence_proxy_async();",
  "race uninitialised", "wgmma reads what other warps have not written")
bug("no proxy fence before a bulk store", "multicast",
  [[    fence_proxy_async();
]],
  "",
  "race", "the copy engine reads what stmatrix has not made visible")
bug("exit before the bulk store has read", "multicast",
  [[      tma_store_wait_read<0>(); // shared memory must outlive the reads
]],
  "",
  "race remote-after-exit", "shared memory goes away under the copy")
bug("bulk store past the row's end", "multicast",
  "2 * min(64, N - n0)",
  "2 * 64",
  "padding-written out-of-bounds written-twice", "columns beyond N")
bug("stmatrix off its rows of 16 bytes", "multicast",
  "+ 32 * p + lane / 16 * 16",
  "+ 24 * p + lane / 16 * 16",
  "misaligned", "stmatrix wants rows at multiples of 16")
-- The #define takes away the fence below.
bug("proxy fence before the writes", "cooperative tn",
  "for (int p = 0; p < 8; p += 2) {",
  "for (int p = 0; p < 8; p += 2) {\nif (p == 0) fence_proxy_async();\n#define fence_proxy_async()\n",
  "race", "a fence covers what was written before it")
bug("no proxy fence after cp.async", "registers cp.async",
  "    fence_proxy_async();\n",
  "",
  "race", "cp.async writes through the generic proxy")
bug("cp.async not waited for before the fence", "registers cp.async",
  "    cp_async_wait<0>();\n",
  "",
  "race uninitialised", "the copies may not have ended")
bug("proxy fence before cp.async has ended", "registers cp.async",
  "    cp_async_wait<0>();\n    fence_proxy_async();\n",
  "    fence_proxy_async();\n    cp_async_wait<0>();\n",
  "race", "a fence covers what was complete before it")
bug("another thread waits for the store", "cooperative tn",
  "if (leader) tma_store_wait_read<chunk_buffers",
  "if (threadIdx.x % 128 == 32) tma_store_wait_read<chunk_buffers",
  "race", "store groups are the thread's that committed them")
bug("consumers share their chunks", "pingpong tn",
  "ring + chunks_at + consumer * chunk_buffers * chunk_bytes",
  "ring + chunks_at",
  "race", "one writes what the other's store still reads")
bug("ring off its 1024 bytes", "multicast",
  "ring = smem_base(), rows",
  "ring = smem_base() + 512, rows",
  "misaligned descriptor out-of-bounds barrier wrong-result", "a swizzle of 128 repeats every 1024 bytes")
-- The #define takes away the fence below.
bug("proxy fence before ordinary stores", "registers 128",
  "    copy_b(b, B, ldb, k0, K, n0, N);\n",
  "    fence_proxy_async();\n    copy_b(b, B, ldb, k0, K, n0, N);\n#define fence_proxy_async()\n",
  "race", "a fence covers what was written before it")

-- named barriers --------------------------------------------------------------------------------------

bug("turn never passed", "pingpong tn",
  [[      named_arrive(turn + (consumer ^ 1), 256);
]],
  "",
  "deadlock", "the other consumer waits for ever")
bug("named barrier by halves of warps", "multicast",
  "named_sync(1, 128); // all four warps",
  "if (lane < 16) named_sync(1, 64); // all four warps",
  "diverged", "it counts whole warps")
bug("turn passed twice", "pingpong tn",
  "      named_arrive(turn + (consumer ^ 1), 256);\n",
  "      named_arrive(turn + (consumer ^ 1), 256);\n      named_arrive(turn + (consumer ^ 1), 256);\n",
  "barrier", "the second one takes the other consumer's place")
bug("turn passed to itself", "pingpong tn",
  "named_arrive(turn + (consumer ^ 1), 256)",
  "named_arrive(turn + consumer, 256)",
  "deadlock barrier race", "the other consumer waits for ever")
bug("turns swapped", "pingpong tn",
  "    if (consumer == 1) {",
  "    if (consumer == 0) {",
  "deadlock barrier race wrong-result", "both take the other's slots")
bug("turn not waited for", "pingpong tn",
  [[      named_sync(turn + consumer, 256);
]],
  "",
  "race barrier deadlock", "a full barrier two rounds behind looks complete")
bug("other consumer's slots not skipped", "pingpong tn",
  [[      at.advance(k_tiles); // past the other consumer's tile
]],
  "",
  "deadlock race wrong-result barrier", "it multiplies the other's tile")
bug("both consumers at one barrier", "cooperative nn",
  "named_sync(1 + consumer, 128); put_chunk",
  "named_sync(1, 128); put_chunk",
  "race barrier deadlock", "half of each goes on when both have half arrived")
bug("named barrier lacks a warp", "cooperative nn",
  "named_sync(1 + consumer, 128); if (leader) {",
  "named_sync(1 + consumer, 96); if (leader) {",
  "race barrier deadlock", "the store begins before the last warp has written")
bug("one number for two barriers", "pingpong tn",
  "constexpr int turn = 5;",
  "constexpr int turn = 1;",
  "barrier deadlock race", "the epilogue's barriers have it already")

-- griddepcontrol --------------------------------------------------------------------------------------

bug("no griddepcontrol.wait", "cooperative tn",
  [[      grid_dep_wait();
]],
  "",
  "before-grid-wait", "reads what the previous kernel may still write")
bug("griddepcontrol.wait by another thread", "cooperative tn",
  [[    if (threadIdx.x == 0) {
      grid_dep_wait();]],
  [[    if (threadIdx.x == 1) grid_dep_wait();
    if (threadIdx.x == 0) {]],
  "before-grid-wait", "the thread that loads has not waited")
bug("griddepcontrol.wait after the first copy", "mma tn",
  [[  grid_dep_wait();
  grid_dep_launch();
  ROLLED
  for (int k_tile = 0; k_tile < stages - 1; ++k_tile) copy_slice(k_tile);]],
  [[  ROLLED
  for (int k_tile = 0; k_tile < stages - 1; ++k_tile) copy_slice(k_tile);
  grid_dep_wait();
  grid_dep_launch();]],
  "before-grid-wait", "the first slices are read too early")
bug("workspace used before the wait", "splitk acq_rel",
  [[  grid_dep_wait();
  grid_dep_launch();
]],
  [[  if (threadIdx.x < 32) grid_dep_wait();
]],
  "before-grid-wait", "the previous launch still counts there")

-- cp.async and ldmatrix -------------------------------------------------------------------------------

bug("cp.async waits for one group less", "mma tn",
  "if (last) { // the next slice has arrived, and no warp reads the slot before this one any more cp_async_wait<stages - 2>();",
  "if (last) {\ncp_async_wait<stages - 1>();",
  "race uninitialised", "the slot may still be filled")
bug("no cp.async wait before the loop", "mma tn",
  [[  cp_async_wait<stages - 2>();
  cta_sync();
  float]],
  [[  cta_sync();
  float]],
  "race uninitialised", "the first slot may still be filled")
bug("no barrier in the loop", "mma tn",
  "cp_async_wait<stages - 2>(); cta_sync(); }",
  "cp_async_wait<stages - 2>(); }",
  "race uninitialised", "other warps' copies are not visible")
bug("barrier before the wait", "mma tn",
  "cp_async_wait<stages - 2>(); cta_sync(); }",
  "cta_sync(); cp_async_wait<stages - 2>(); }",
  "race uninitialised", "other warps' copies may not have ended")
bug("copies one slot too far ahead", "mma tn",
  "copy_slice(k_tile + stages - 1);",
  "copy_slice(k_tile + stages);",
  "race wrong-result uninitialised", "the slot that is read is overwritten")
bug("stage off by one", "mma tn",
  "ring + next_tile % stages * slot_bytes",
  "ring + (next_tile + 1) % stages * slot_bytes",
  "race wrong-result uninitialised", "another slice's slot is read")
bug("no empty groups at the end", "mma nn",
  "    cp_async_commit(); //",
  "    if (k_tile < k_tiles) cp_async_commit(); //",
  "race uninitialised", "the waits count groups that are not there")
bug("A read without its swizzle", "mma tn",
  "ldmatrix_x4(f.a[i], slot + swizzled<a_cols>(row, chunk));",
  "ldmatrix_x4(f.a[i], slot + 16 * (row * (a_cols / 8) + chunk));",
  "wrong-result", "writer and reader disagree")
bug("ldmatrix off its rows of 16 bytes", "mma tn",
  "ldmatrix_x4(f.a[i], slot + swizzled<a_cols>(row, chunk));",
  "ldmatrix_x4(f.a[i], slot + swizzled<a_cols>(row, chunk) + 8);",
  "misaligned", "ldmatrix wants rows at multiples of 16")
bug("ldmatrix by half a warp", "mma tn",
  "ldmatrix_x4(f.a[i], slot + swizzled<a_cols>(row, chunk));",
  "if (lane < 16) ldmatrix_x4(f.a[i], slot + swizzled<a_cols>(row, chunk));",
  "diverged deadlock", "all lanes must execute it")
bug("transposition forgotten", "mma nn",
  "ldmatrix_x4_trans(f.b[j],",
  "ldmatrix_x4(f.b[j],",
  "wrong-result", "B lies along n")
bug("fragments of B swapped", "mma tn",
  "f.b[j / 2][j % 2 * 2], f.b[j / 2][j % 2 * 2 + 1]",
  "f.b[j / 2][j % 2 * 2 + 1], f.b[j / 2][j % 2 * 2]",
  "wrong-result", "the first register has the low k")
bug("last 16 k not multiplied", "mma tn",
  "      const fragments &f = frag[step % 2];",
  [[      if (last && k_tile == k_tiles - 1) continue;
      const fragments &f = frag[step % 2];]],
  "wrong-result", "part of k is lost")
bug("clipping along k lost", "mma tn",
  "row0 + row + i < max_row && col < max_col",
  "row0 + row + i < max_row",
  "out-of-bounds wrong-result uninitialised", "reads beyond the row's end")
bug("copies counted for one warp", "producers k16",
  "mbar_init(full + 8 * s, 64);",
  "mbar_init(full + 8 * s, 32);",
  "race barrier uninitialised wrong-result", "the slot counts as full when half of it is")
bug("copies announced, not awaited", "producers k16",
  "cp_async_mbar_arrive(full + 8 * s);",
  "mbar_arrive(full + 8 * s);",
  "race uninitialised", "an ordinary arrival does not wait for cp.async")
bug("slot released before it is read", "producers k16",
  [[    multiply_slot(acc, ring + s * slot_bytes);
    warp_sync();
    if (lane == 0) mbar_arrive(empty + 8 * s);]],
  [[    if (lane == 0) mbar_arrive(empty + 8 * s);
    multiply_slot(acc, ring + s * slot_bytes);
    warp_sync();]],
  "race", "the copying warps overwrite it")
bug("a warp never releases", "producers k8",
  "if (lane == 0) mbar_arrive(empty + 8 * s);",
  "if (lane == 0 && warp > 0) mbar_arrive(empty + 8 * s);",
  "deadlock", "the slot is never free")
bug("both halves of k the same", "producers k16",
  "2 * k + lane / 8 % 2 * 16);",
  "2 * k);",
  "wrong-result", "ldmatrix_x2 takes addresses from lanes 0 to 15")
bug("every second 8 k", "producers k8",
  "k += 8) {",
  "k += 16) {",
  "wrong-result", "half of k is lost")
bug("cp.async off 16 bytes", "producers k16",
  "copy_row(to + b_at, B,",
  "copy_row(to + b_at + 8, B,",
  "misaligned", "cp.async of 16 bytes wants multiples of 16")
bug("clipping along n lost", "producers k8",
  "n0 + row < N, i * tile_k",
  "true, i * tile_k",
  "out-of-bounds wrong-result uninitialised", "reads rows beyond the last")
bug("bytes of B not announced", "producers bulk",
  "2 * (a_k + b_k)",
  "2 * a_k",
  "barrier race deadlock", "the phase ends before B is there")
bug("zeros written after the arrival", "producers bulk",
  "  if (k > 0) bulk_load(dst, src, from, 2 * k, bar);\n  for (; k < tile_k; k += 8)",
  "  if (k > 0) bulk_load(dst, src, from, 2 * k, bar);\n  for (; k < tile_k - 8; k += 8)",
  "uninitialised wrong-result", "8 k beyond the last hold what they held")
bug("bulk copy past the row's end", "producers bulk",
  "const int k = min(tile_k, K - i * tile_k);",
  "const int k = tile_k;",
  "out-of-bounds uninitialised wrong-result", "reads beyond the last k")
bug("bulk copy of 16 bytes more", "producers bulk",
  "bulk_load(dst, src, from, 2 * k, bar)",
  "bulk_load(dst, src, from, 2 * k + 16, bar)",
  "barrier race out-of-bounds deadlock", "more bytes come than were announced")
bug("arrival between the copies", "producers k8",
  "      copy_row(to + b_at, B, (i64)(n0 + row) * ldb, n0 + row < N, i * tile_k, K);\n      cp_async_mbar_arrive(full + 8 * s);\n",
  "      cp_async_mbar_arrive(full + 8 * s);\n      copy_row(to + b_at, B, (i64)(n0 + row) * ldb, n0 + row < N, i * tile_k, K);\n",
  "race uninitialised", "it waits for what was copied before it")

-- wgmma's operands swapped, parted, in every layout ----------------------------------------------------

bug("swapped product stored without trans", "swap nn",
  "stmatrix_x4_trans(to,",
  "stmatrix_x4(to,",
  "wrong-result", "each 8 x 8 lies in C transposed")
bug("swapped product's matrices in the other order", "swap nn",
  "row = 8 * (p + lane / 16) + lane % 8, column = 2 * warp + lane / 8 % 2;",
  "row = 8 * (p + lane / 8 % 2) + lane % 8, column = 2 * warp + lane / 16;",
  "wrong-result", "the second matrix is 8 rows of r further on, not 8 of s")
bug("swapped product stored at the other's place", "swap nn",
  "n + 64 * i, m + j",
  "m + j, n + 64 * i",
  "unwritten written-twice wrong-result", "x runs along n")
bug("no proxy fence before a transposed store", "swap nn",
  "fence_proxy_async();",
  "",
  "race", "TMA reads what stmatrix has not made visible")
bug("swapped: chunk rewritten before it is read", "cluster swap",
  "if (leader) tma_store_wait_read<chunk_buffers - 1>();",
  "",
  "race", "the last store of this chunk still reads")
bug("rows of the swapped operand called K-major", "swap nn",
  "MN_MAJOR, K_MAJOR>",
  "K_MAJOR, K_MAJOR>",
  "wrong-result out-of-bounds uninitialised", "B runs along n")
bug("both operands along m and n, one called K-major", "nt f16",
  "MN_MAJOR, MN_MAJOR>",
  "K_MAJOR, MN_MAJOR>",
  "wrong-result out-of-bounds uninitialised", "A runs along m")
bug("f16 sums of the other eight rows", "nt f16",
  "return f[at + half];",
  "return f[at + (half ^ 1)];",
  "wrong-result", "register 0 has row g, register 1 row g + 8")
bug("A along m loaded as if along k", "tt",
  "tmap_a, r0 + 64 * (j), k, bar);",
  "tmap_a, k, r0 + 64 * (j), bar);",
  "wrong-result", "x runs along m")
bug("both consumers store the same columns", "split cols",
  "to.n += consumer * (wg_cols);",
  "",
  "written-twice unwritten", "the second half of the tile is never written")
bug("second consumer's columns off", "split cols",
  "s += consumer * ((wg_cols) * 128);",
  "s += consumer * ((wg_cols) * 64);",
  "wrong-result aligned-operands descriptor", "half of its columns are the first consumer's")
bug("the rest of the columns stored as a whole chunk", "split cols",
  "w - j < 64 ? tmap_rest : tmap_c",
  "tmap_c",
  "uninitialised written-twice wrong-result race", "its box has 64 columns, and 16 are the consumer's")
bug("second 64 k over the first", "split cols",
  "slot + b * (128 * rows)",
  "slot",
  "race wrong-result uninitialised", "a slot of 128 k has two boxes")
bug("k goes on past the swizzled row", "split cols",
  "k / 4 * (128 * rows / 16) + k % 4 * (32 / 16)",
  "k * (32 / 16)",
  "wrong-result aligned-operands descriptor out-of-bounds", "64 k to a row of 128 bytes")
bug("part of a tile stored at the wrong column", "tail",
  "to.n += part * (cols / 2); {",
  "to.n += part * (cols / 4); {",
  "written-twice unwritten wrong-result", "the second part lies over the first")
bug("part of a tile loaded from the first's columns", "tail",
  "to.n += part * (cols / 2); ROLLED",
  "ROLLED",
  "wrong-result", "the second part multiplies the first one's columns")
bug("as many parts as there are tiles", "tail",
  "items = whole + 2 * cut;",
  "items = whole + cut;",
  "unwritten", "half of the parts are nobody's")
bug("last slot before a part never released", "tail",
  "if (leader) mbar_arrive(empty + 8 * slot); store_tile<wg_cols>",
  "store_tile<wg_cols>",
  "deadlock", "the producer waits for it in the part")
bug("columns from registers not clipped", "direct",
  "row < M && column < N;",
  "row < M;",
  "padding-written out-of-bounds written-twice", "writes columns beyond the last")
bug("square half turned", "direct",
  "v[2] = odd ? b : v[2], v[3] = odd ? v[3] : b;",
  "",
  "wrong-result", "two of four columns are another lane's")
bug("halves of a warp's rows exchanged", "direct",
  "lane / 4 + 8 * half;",
  "lane / 4 + 8 * (half ^ 1);",
  "wrong-result", "rows 0 to 7 are stored where 8 to 15 belong")

-- K shared by the CTAs of a cluster -------------------------------------------------------------------

bug("one of those that are ready not counted", "split_k 4",
  "consumers * (split_k - 1));",
  "consumers * (split_k - 1) - 1);",
  "race barrier", "one CTA's ring is overwritten while it is read")
bug("one more awaited than there are", "split_k 4",
  "consumers * (split_k - 1));",
  "consumers * (split_k - 1) + 1);",
  "deadlock", "nobody is ever ready")
bug("one consumer of each CTA tells that it is ready", "split_k 4",
  "if (q != rank) mbar_arrive_peer(map_shared(ready, q));",
  "if (q != rank && threadIdx.x < 256) mbar_arrive_peer(map_shared(ready, q));",
  "deadlock", "the others wait for both")
bug("own share not selected by rank", "split_k 2",
  "sum = q == rank ? acc[i][0][q * regs + e] : sum;",
  "sum = q == rank ? acc[i][0][e] : sum;",
  "wrong-result", "all CTAs add the first share of their own")
bug("the share of another CTA pushed", "split_k 4",
  "float_bits(acc[i][0][q * regs + e + x])",
  "float_bits(acc[i][0][rank * regs + e + x])",
  "wrong-result", "q adds up columns of q")
bug("bytes of one part expected", "split_k 4",
  "mbar_expect_tx(arrived, (split_k - 1) * part_bytes);",
  "mbar_expect_tx(arrived, part_bytes);",
  "barrier race uninitialised", "three parts come")
bug("parts pushed to one place", "split_k 4",
  "(rank < q ? rank : rank - 1) * part_bytes",
  "(rank < q ? rank : 0) * part_bytes",
  "race uninitialised wrong-result", "one part lies over another")
bug("sums pushed before the others are ready", "split_k 2",
  "mbar_wait(ready, 0);",
  "",
  "race", "the ring there is still read")
bug("sums of the others not waited for", "split_k 2",
  "mbar_wait_cluster(arrived, 0);",
  "",
  "race uninitialised", "they may not have come")
bug("last multiplication not waited for before the exchange", "split_k 2",
  "wgmma_wait<0>(); accumulators<share> own;",
  "accumulators<share> own;",
  "registers race wrong-result", "sums are pushed while they are written")
bug("shares of K overlap", "split_k 4",
  "from = all_k * rank / split_k,",
  "from = rank > 0 ? all_k * rank / split_k - 1 : 0,",
  "wrong-result", "a slice is multiplied by two CTAs")
bug("shares of K rounded down", "split_k 4",
  "count = all_k * (rank + 1) / split_k - from;",
  "count = all_k / split_k;",
  "wrong-result", "what is left over is nobody's")
bug("columns stored without the rank", "split_k 2",
  "to.n += rank * share;",
  "",
  "written-twice unwritten", "all CTAs store the first share")
bug("rows of the swapped tile stored without the rank", "split_k 8",
  "to.m += rank * share;",
  "",
  "written-twice unwritten", "all CTAs store the first share")
bug("nothing multiplied by one without a share of K", "split_k 2",
  "k_tiles = count > 0 ? count : 1;",
  "k_tiles = count;",
  "registers uninitialised wrong-result", "its accumulators hold what they held")
bug("consumers share the place of their parts", "split_k 4",
  "parts = ring + consumer * ((split_k - 1) * 256 * row_blocks * share);",
  "parts = ring;",
  "race wrong-result uninitialised", "one's sums lie over the other's")
bug("cluster of a split K not met before the first slot", "split_k 2",
  "cluster_sync(); grid_dep_launch();",
  "cta_sync(); grid_dep_launch();",
  "barrier race remote-after-exit not-resident", "the others' barriers may not be initialised")

-- alpha and beta ----------------------------------------------------------------------------------------

bug("beta ignored", "scaled",
  "by.alpha * lo + by.beta * unpack_lo<f16>(c)",
  "by.alpha * lo",
  "wrong-result", "C = alpha A B + beta C")
bug("C loaded under the store of what was there", "scaled",
  "tma_store_wait_read<0>(); load_chunk<w>",
  "load_chunk<w>",
  "race", "the buffer's store has not read it")
bug("C of the next tile loaded under a store", "scaled",
  "tma_store_wait_read<0>(); ROLLED",
  "ROLLED",
  "race", "the last tile's store has not read it")
bug("C waited for at the other parity", "scaled",
  "mbar_wait(chunks.full + 8 * b, chunks.parity);",
  "mbar_wait(chunks.full + 8 * b, chunks.parity ^ 1);",
  "race uninitialised deadlock", "it is added before it has come")
bug("parity of C never turns", "scaled",
  "if (chunks.next == 0) chunks.parity ^= 1;",
  "",
  "race uninitialised deadlock wrong-result", "the second round takes the first one's phase for its own")
bug("C loaded though beta is 0", "scaled",
  "if (leader && beta != 0.f) load_chunks",
  "if (leader) load_chunks",
  "uninitialised race barrier", "C may hold anything then")
bug("C added though beta is 0", "scaled pingpong",
  "if (by.beta != 0.f && 8 * p + 8 < w - j) {",
  "if (8 * p + 8 < w - j) {",
  "uninitialised wrong-result", "nobody has loaded it")
bug("C loaded before the kernel that writes it has ended", "scaled",
  "grid_dep_wait(); // C is read",
  "// C is read",
  "before-grid-wait", "a dependent launch may read C too early")
bug("a whole chunk of C expected of a narrow one", "scaled",
  "mbar_expect_tx(bar, w - j < 64 ? 128 * (w - j) : chunk_bytes);",
  "mbar_expect_tx(bar, chunk_bytes);",
  "deadlock", "the box has 16 columns")
bug("the next chunk of C for one further on", "scaled",
  "j / 64 + chunk_buffers;",
  "j / 64 + 1;",
  "wrong-result race barrier deadlock", "two buffers are in turn")
bug("buffers of C numbered anew for each tile", "scaled pingpong",
  "chunks.next = (b + 1) % chunk_buffers;",
  "chunks.next = 1;",
  "wrong-result race barrier deadlock out-of-bounds uninitialised", "the tile's chunk is another's")
bug("C of a swapped tile not transposed", "scaled swap",
  "ldmatrix_x4_trans(c, to);",
  "ldmatrix_x4(c, to);",
  "wrong-result", "the sums lie in the chunk transposed")
bug("C of the first CTA's columns", "scaled split_k",
  "to.n + rank * share);",
  "to.n);",
  "wrong-result", "the others' shares lie further on")
bug("C from registers not turned", "scaled direct",
  "turn_square(c.w, lane);",
  "",
  "wrong-result", "a lane has eight columns of C and two of each unit")
bug("C read by registers though beta is 0", "scaled direct",
  "if (by.beta != 0.f && inside) c =",
  "if (inside) c =",
  "uninitialised wrong-result", "C may hold NaN")
bug("C read by registers beyond the columns", "scaled direct",
  "if (by.beta != 0.f && inside) c =",
  "if (by.beta != 0.f && row < M) c =",
  "uninitialised out-of-bounds race", "what lies there is nobody's")

-- operands at any address -------------------------------------------------------------------------------

bug("shifted by one element more", "any tn",
  "h.shift[j] = (int)(o.first + (i64)(warp + 4 * j) * o.ld) & 7;",
  "h.shift[j] = (int)(o.first + 1 + (i64)(warp + 4 * j) * o.ld) & 7;",
  "misaligned wrong-result", "a line's words begin that much before it")
bug("pointer taken for aligned", "any tn",
  "const int first = gptr_past_16(p) / 2;",
  "const int first = 0;",
  "misaligned", "16 bytes at once want multiples of 16")
bug("halves of odd pairs exchanged", "any nn",
  "low >> 16 | both[(j + shift / 2 + 1) % 8] << 16",
  "low << 16 | both[(j + shift / 2 + 1) % 8] >> 16",
  "wrong-result", "two elements of a word each come from two")
bug("upper half of the next word forgotten", "any tn",
  "if (j < (shift + 1) / 2) both[4 + j]",
  "if (j < shift / 2) both[4 + j]",
  "wrong-result", "an odd shift takes half a word more")
bug("ninth word of another step", "any tn",
  "shfl(c == i ? b.ninth.w[j] : b.word[i].w[j], right)",
  "shfl(c == 0 ? b.ninth.w[j] : b.word[i].w[j], right)",
  "wrong-result uninitialised", "lane i has it in step i")
bug("ninth word never loaded", "any nn",
  "if (shift != 0 && c < steps) b.ninth =",
  "if (c >= steps) b.ninth =",
  "uninitialised wrong-result out-of-bounds", "a shifted segment lies in nine words")
bug("no proxy fence behind gathered words", "any tn",
  "fence_proxy_async();",
  "",
  "race", "wgmma reads what ordinary stores wrote")
bug("a slot full when half of it is", "any nn",
  "mbar_init(full + 8 * s, 4 * producers);",
  "mbar_init(full + 8 * s, 4);",
  "race barrier uninitialised deadlock", "two warpgroups write it")
bug("gathered over a slot that is read", "any tn",
  "if (holds) mbar_wait(empty + 8 * at.slot, at.parity ^ 1);",
  "",
  "race barrier deadlock", "its consumers have not released it")
bug("words behind the last row read", "any tn",
  "if (first == 0 && i + 8 <= o.end && keep > 0) {",
  "if (first == 0 && keep > 0) {",
  "out-of-bounds", "the operand ends within the word")
bug("words before the first element read", "any tn",
  "const int first = i == 0 ? o.first : 0;",
  "const int first = 0;",
  "out-of-bounds", "the operand begins within the word")
bug("a slice at the beginning called whole", "any nn",
  "(o.first == 0 || begin >= 8) &&",
  "",
  "out-of-bounds", "its first word sticks out")
bug("a slice at the end called whole", "any nt",
  "o.first + end + 8 <= o.end;",
  "true;",
  "out-of-bounds", "its ninth words stick out")
bug("K's end not cleared", "any tn",
  "const int left = k_major ? o.length - at + shift : 4096;",
  "const int left = 4096;",
  "wrong-result uninitialised out-of-bounds", "what follows a row is another one")
bug("K's end cleared one element late", "any scaled",
  "const int left = k_major ? o.length - at + shift : 4096;",
  "const int left = k_major ? o.length - at + shift + 1 : 4096;",
  "wrong-result uninitialised out-of-bounds", "what follows a row is another one")
bug("K's end cleared without the shift", "any tn",
  "o.length - at + shift :",
  "o.length - at :",
  "wrong-result", "the last elements of a row are lost")
bug("odd element of a pair kept", "any tn",
  "keep == 2 * j + 1 ? v.w[j] & 0xffff : 0;",
  "keep == 2 * j + 1 ? v.w[j] : 0;",
  "wrong-result uninitialised", "the pair's upper half lies beyond K")
bug("gathered rows of the next tile", "any nn",
  "const int m = to.m * tile_m,",
  "const int m = (to.m + 1) * tile_m,",
  "wrong-result", "they are multiplied for this one")
bug("pairs at odd addresses", "any tn",
  "const int odd = (int)(past + at) & 1,",
  "const int odd = (int)at & 1,",
  "misaligned", "C itself begins at an odd element")
bug("a row's last element not stored", "any tn",
  "int alone = first + 1 == length ? first : 64;",
  "int alone = 64;",
  "unwritten", "it has no pair")
bug("the 64th of an odd row not stored", "any tn",
  "if (odd && lane == 31 && length == 64) alone = 63, last = own[i] >> 16;",
  "",
  "unwritten", "it has no pair")
bug("the first of an odd row not stored", "any nn",
  "if (odd && lane == 0) alone = 0, last = own[i];",
  "",
  "unwritten", "it has no pair")
bug("rows of C taken for aligned", "any tn",
  "gptr_past_16(c.C) == 0 && c.ldc % 8 == 0;",
  "gptr_past_16(c.C) == 0;",
  "misaligned", "the second one begins elsewhere")
bug("aligned words beyond the columns", "any tn",
  "if (n + 8 <= c.N) {",
  "if (n < c.N) {",
  "padding-written out-of-bounds written-twice", "part of them is nobody's")
bug("single elements of C read though beta is 0", "any scaled",
  "if (c.beta != 0.f && m < c.M) {",
  "if (m < c.M) {",
  "uninitialised wrong-result", "C may hold NaN")
bug("single elements of C read beyond the columns", "any scaled",
  "if (n + 1 < c.N) c_hi =",
  "c_hi =",
  "uninitialised out-of-bounds race", "what lies there is nobody's")

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

return { bases = bases, bugs = bugs }
