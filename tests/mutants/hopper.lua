-- hopper.lua -- bugs in kernels of hopper and hopper_any, a part of list.lua: operands swapped and parted, a split of
-- K, alpha and beta, operands at any address.

local bug = ...

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
