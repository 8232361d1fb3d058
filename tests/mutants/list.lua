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

-- the other parts; a bug goes by its name, so that their order is no matter -----------------------------

for _, part in ipairs { "hopper", "shared" } do
  assert(loadfile(host.root .. "/tests/mutants/" .. part .. ".lua"))(bug)
end

return { bases = bases, bugs = bugs }
