// table.h -- every conformance case: how it is launched, and the primitives whose work it shows.
//
// Both runners, the comparison and (for the lists of variants) the cases read this. Who includes it
// defines ROW and ROW_MAP, or neither for the lists alone:
//   ROW(name, input, grid, block, cluster, shared bytes, words of in, words of out, primitives)
//   ROW_MAP(..., tensor of out?, offset in bytes, width, height, stride in bytes, box width, box
//           height, swizzle): with a tensor map of 16-bit elements
#ifndef CONFORM_EACH_N
// clang-format off
#define CONFORM_EACH_N(F) \
  F(8) F(16) F(24) F(32) F(40) F(48) F(56) F(64) \
  F(72) F(80) F(88) F(96) F(104) F(112) F(120) F(128) \
  F(136) F(144) F(152) F(160) F(168) F(176) F(184) F(192) \
  F(200) F(208) F(216) F(224) F(232) F(240) F(248) F(256)
// Tiles of A and B: the index that is contiguous, and the bytes of the swizzle.
#define CONFORM_EACH_TILES(F) \
  F(k128, mn128) F(mn128, k128) F(mn128, mn128) F(k64, k64) \
  F(k64, mn64) F(mn64, k64) F(mn64, mn64) F(k32, k32) \
  F(k32, mn32) F(mn32, k32) F(mn32, mn32) F(k0, k0) \
  F(k0, mn0) F(mn0, k0) F(mn0, mn0) F(k128, mn64) \
  F(mn32, k0) F(k64, k128) F(mn0, mn128)
#define CONFORM_EACH_B(F) F(k64) F(k32) F(k0) F(mn128) F(mn64) F(mn32) F(mn0)
#define CONFORM_EACH_BLOCKS(F) F(8) F(40) F(88) F(136) F(176) F(200) F(248)
#define CONFORM_EACH_BF16(F) F(8) F(48) F(104) F(256)
// clang-format on
#endif

#ifdef ROW

// numbers.cu
ROW(to_float__f16, IN_BITS, 1, 256, 1, 0, 4, 65536, "to_float stg gptr_at")
ROW(to_float__bf16, IN_BITS, 1, 256, 1, 0, 4, 65536, "to_float stg gptr_at")
ROW(unpack__f16, IN_BITS, 1, 256, 1, 0, 512, 1024, "unpack_lo unpack_hi")
ROW(unpack__bf16, IN_BITS, 1, 256, 1, 0, 512, 1024, "unpack_lo unpack_hi")
ROW(pack__f16, IN_NEAR_F16, 1, 256, 1, 0, 2048, 1024, "pack")
ROW(pack__bf16, IN_NEAR_BF16, 1, 256, 1, 0, 2048, 1024, "pack")
ROW(from_float__f16, IN_NEAR_F16, 1, 256, 1, 0, 1024, 1024, "from_float")
ROW(from_float__bf16, IN_NEAR_BF16, 1, 256, 1, 0, 1024, 1024, "from_float")
ROW(float_bits__values, IN_NEAR_F16, 1, 256, 1, 0, 1024, 1024, "float_bits")
ROW(bits_float__values, IN_NEAR_BF16, 1, 256, 1, 0, 1024, 1024, "bits_float")

// threads.cu
ROW(shfl__words, IN_BITS, 1, 64, 1, 0, 64, 192, "shfl")
ROW(shfl__floats, IN_F16, 1, 32, 1, 0, 32, 32, "shfl")
ROW(shfl_xor__words, IN_BITS, 1, 64, 1, 0, 64, 384, "shfl_xor")
ROW(shfl_xor__floats, IN_F16, 1, 32, 1, 0, 32, 32, "shfl_xor")
ROW(elect_one__lane, IN_BITS, 1, 64, 1, 0, 4, 64, "elect_one")
ROW(warpgroup_index__value, IN_BITS, 1, 256, 1, 0, 4, 256, "warpgroup_index")
ROW(warp_sync__neighbour, IN_BITS, 1, 32, 1, 1024, 32, 32, "warp_sync smem_base")
ROW(cta_sync__reverse, IN_BITS, 1, 96, 1, 1024, 96, 96, "cta_sync")
ROW(named_sync__values, IN_BITS, 1, 128, 1, 1024, 128, 128, "named_sync named_arrive")
ROW(named_arrive__turns, IN_BITS, 1, 64, 1, 1024, 64, 64, "named_sync named_arrive")
ROW(setmaxnreg__values, IN_BITS, 1, 256, 1, 0, 4096, 4096, "setmaxnreg_dec setmaxnreg_inc")
ROW(grid_dep__ordinary, IN_BITS, 1, 32, 1, 0, 32, 32, "grid_dep_wait grid_dep_launch")
ROW(indices__all, IN_BITS, 3, 64, 1, 0, 4, 192, "stg")
ROW(ldg__f16, IN_BITS, 1, 32, 1, 0, 64, 64, "ldg stg gptr_at")
ROW(ldg__bf16, IN_BITS, 1, 32, 1, 0, 64, 64, "ldg stg gptr_at")
ROW(ldg__float, IN_F16, 1, 32, 1, 0, 64, 64, "ldg stg gptr_at")
ROW(ldg__u32, IN_BITS, 1, 32, 1, 0, 64, 64, "ldg stg gptr_at")
ROW(stg_pair__both, IN_BITS, 1, 32, 1, 0, 32, 96, "stg_pair")
ROW(ldg_words__1, IN_BITS, 1, 32, 1, 0, 48, 40, "ldg_words stg_words")
ROW(ldg_words__2, IN_BITS, 1, 32, 1, 0, 80, 72, "ldg_words stg_words")
ROW(ldg_words__4, IN_BITS, 1, 32, 1, 0, 144, 136, "ldg_words stg_words")
ROW(ldg_words__4_float, IN_BITS, 1, 32, 1, 0, 144, 136, "ldg_words stg_words")
ROW(ldg_words_stream__1, IN_BITS, 1, 32, 1, 0, 48, 40, "ldg_words_stream stg_words_stream")
ROW(ldg_words_stream__2, IN_BITS, 1, 32, 1, 0, 80, 72, "ldg_words_stream stg_words_stream")
ROW(ldg_words_stream__4, IN_BITS, 1, 32, 1, 0, 144, 136, "ldg_words_stream stg_words_stream")
ROW(ldg_words_stream__4_float, IN_BITS, 1, 32, 1, 0, 144, 136, "ldg_words_stream stg_words_stream")
ROW(gptr_at__back, IN_BITS, 1, 32, 1, 0, 32, 32, "gptr_at")
ROW(gptr_past_16__all, IN_BITS, 1, 32, 1, 0, 32, 64, "gptr_past_16 gptr_at")
ROW(atom_add__relaxed, IN_BITS, 1, 64, 1, 0, 16, 16, "atom_add")
ROW(atom_add__acq_rel, IN_BITS, 1, 64, 1, 0, 16, 16, "atom_add_acq_rel")
ROW(atom_inc__relaxed, IN_BITS, 1, 64, 1, 0, 4, 20, "atom_inc")
ROW(atom_inc__acq_rel, IN_BITS, 1, 64, 1, 0, 4, 20, "atom_inc_acq_rel")
ROW(red_add__float, IN_BITS, 1, 64, 1, 0, 4, 4, "red_add")
ROW(red_add__u32, IN_BITS, 1, 64, 1, 0, 64, 4, "red_add")
ROW(ld_acquire__flag, IN_BITS, 1, 64, 1, 0, 32, 68, "ld_acquire st_release")
ROW(ld_relaxed__fence, IN_BITS, 1, 64, 1, 0, 32, 68, "ld_relaxed fence_gpu atom_add")
ROW(fences__executed, IN_BITS, 1, 32, 1, 0, 32, 64,
    "fence_gpu fence_cluster fence_proxy_async fence_proxy_async_all")

// shared.cu
ROW(sts_words__1, IN_BITS, 1, 32, 1, 1024, 32, 32, "sts_words lds_words")
ROW(sts_words__2, IN_BITS, 1, 32, 1, 1024, 64, 64, "sts_words lds_words")
ROW(sts_words__4, IN_BITS, 1, 32, 1, 1024, 128, 128, "sts_words lds_words")
ROW(sts_f32__value, IN_F16, 1, 32, 1, 1024, 32, 32, "sts_f32 lds_f32")
ROW(atom_add_shared__old, IN_BITS, 1, 64, 1, 1024, 8, 12, "atom_add_shared")
ROW(ldmatrix__x1, IN_BITS, 1, 32, 1, 1024, 128, 32, "ldmatrix_x1")
ROW(ldmatrix__x1_trans, IN_BITS, 1, 32, 1, 1024, 128, 32, "ldmatrix_x1_trans")
ROW(ldmatrix__x2, IN_BITS, 1, 32, 1, 1024, 128, 64, "ldmatrix_x2")
ROW(ldmatrix__x2_trans, IN_BITS, 1, 32, 1, 1024, 128, 64, "ldmatrix_x2_trans")
ROW(ldmatrix__x4, IN_BITS, 1, 32, 1, 1024, 128, 128, "ldmatrix_x4")
ROW(ldmatrix__x4_trans, IN_BITS, 1, 32, 1, 1024, 128, 128, "ldmatrix_x4_trans")
ROW(stmatrix__x1, IN_BITS, 1, 32, 1, 1024, 128, 128, "stmatrix_x1")
ROW(stmatrix__x1_trans, IN_BITS, 1, 32, 1, 1024, 128, 128, "stmatrix_x1_trans")
ROW(stmatrix__x2, IN_BITS, 1, 32, 1, 1024, 128, 128, "stmatrix_x2")
ROW(stmatrix__x2_trans, IN_BITS, 1, 32, 1, 1024, 128, 128, "stmatrix_x2_trans")
ROW(stmatrix__x4, IN_BITS, 1, 32, 1, 1024, 128, 128, "stmatrix_x4")
ROW(stmatrix__x4_trans, IN_BITS, 1, 32, 1, 1024, 128, 128, "stmatrix_x4_trans")
ROW(cp_async__16, IN_BITS, 1, 32, 1, 2048, 128, 256, "cp_async_16 cp_async_commit cp_async_wait")
ROW(cp_async__8, IN_BITS, 1, 32, 1, 2048, 64, 128, "cp_async_8 cp_async_commit cp_async_wait")
ROW(cp_async__4, IN_BITS, 1, 32, 1, 2048, 32, 64, "cp_async_4 cp_async_commit cp_async_wait")
ROW(mma__m16n8k16_f16, IN_F16, 1, 32, 1, 0, 320, 128, "mma_m16n8k16")
ROW(mma__m16n8k16_bf16, IN_BF16, 1, 32, 1, 0, 320, 128, "mma_m16n8k16")
ROW(mma__m16n8k16_f16_sums, IN_F16, 1, 32, 1, 0, 256, 64, "mma_m16n8k16_f16")
ROW(mma__m16n8k8_f16, IN_F16, 1, 32, 1, 0, 320, 128, "mma_m16n8k8")
ROW(mma__m16n8k8_bf16, IN_BF16, 1, 32, 1, 0, 320, 128, "mma_m16n8k8")
ROW(mma__m16n8k8_f16_sums, IN_F16, 1, 32, 1, 0, 256, 64, "mma_m16n8k8_f16")

// async.cu
ROW(mbar_arrive__phases, IN_BITS, 1, 32, 1, 1024, 4, 8,
    "mbar_init fence_mbar_init mbar_arrive mbar_try mbar_wait mbar_wait_cluster")
ROW(mbar_inval__again, IN_BITS, 1, 32, 1, 1024, 4, 4, "mbar_inval mbar_try")
ROW(mbar_expect_tx__bytes, IN_BITS, 1, 32, 1, 1024, 16, 32, "mbar_expect_tx bulk_load")
ROW(mbar_add_tx__bytes, IN_BITS, 1, 32, 1, 1024, 16, 32, "mbar_add_tx bulk_load")
ROW(mbar_wait__rounds, IN_BITS, 1, 64, 1, 1024, 160, 160, "mbar_wait mbar_arrive")
ROW(cp_async_mbar_arrive__values, IN_BITS, 1, 64, 1, 1024, 128, 192, "cp_async_mbar_arrive")
ROW(bulk_load__whole, IN_BITS, 1, 64, 1, 8192, 1040, 1088, "bulk_load mbar_expect_tx")
ROW(bulk_store__runs, IN_BITS, 1, 64, 1, 2048, 512, 416,
    "bulk_store tma_store_commit tma_store_wait_read tma_store_wait")
ROW_MAP(tma_load_2d__plain, IN_BITS, 1, 64, 1, 34816, 488, 2368, "tma_load_2d prefetch_tensor_map",
        0, 32, 40, 20, 96, 24, 12, 0)
ROW_MAP(tma_load_2d__swizzle_32, IN_BITS, 1, 64, 1, 34816, 488, 2112,
        "tma_load_2d prefetch_tensor_map", 0, 32, 40, 20, 96, 16, 16, 32)
ROW_MAP(tma_load_2d__swizzle_64, IN_BITS, 1, 64, 1, 34816, 1048, 4160,
        "tma_load_2d prefetch_tensor_map", 0, 32, 100, 20, 208, 32, 16, 64)
ROW_MAP(tma_load_2d__swizzle_128, IN_BITS, 1, 64, 1, 34816, 1048, 8256,
        "tma_load_2d prefetch_tensor_map", 0, 32, 100, 20, 208, 64, 16, 128)
ROW_MAP(tma_load_2d__narrow, IN_BITS, 1, 64, 1, 34816, 488, 4160, "tma_load_2d prefetch_tensor_map",
        0, 32, 40, 20, 96, 32, 16, 128)
ROW_MAP(tma_load_2d_hint__plain, IN_BITS, 1, 64, 1, 34816, 488, 2368,
        "tma_load_2d_hint l2_evict_first l2_evict_last l2_evict_normal", 0, 32, 40, 20, 96, 24, 12,
        0)
ROW_MAP(tma_load_2d_hint__swizzle_128, IN_BITS, 1, 64, 1, 34816, 1048, 8256, "tma_load_2d_hint", 0,
        32, 100, 20, 208, 64, 16, 128)
ROW_MAP(tma_prefetch_2d__plain, IN_BITS, 1, 64, 1, 34816, 488, 2368, "tma_prefetch_2d", 0, 32, 40,
        20, 96, 24, 12, 0)
ROW_MAP(tma_prefetch_2d__swizzle_128, IN_BITS, 1, 64, 1, 34816, 1048, 8256, "tma_prefetch_2d", 0,
        32, 100, 20, 208, 64, 16, 128)
ROW(l2_policy__values, IN_BITS, 1, 32, 1, 0, 4, 8, "l2_evict_first l2_evict_last l2_evict_normal")
ROW_MAP(tma_store_2d__plain, IN_BITS, 1, 64, 1, 20480, 5120, 3280,
        "tma_store_2d tma_store_commit tma_store_wait_read tma_store_wait", 1, 64, 116, 48, 272, 24,
        12, 0)
ROW_MAP(tma_store_2d__swizzle_32, IN_BITS, 1, 64, 1, 20480, 5120, 4096,
        "tma_store_2d tma_store_commit tma_store_wait_read tma_store_wait", 1, 64, 116, 60, 272, 16,
        16, 32)
ROW_MAP(tma_store_2d__swizzle_64, IN_BITS, 1, 64, 1, 20480, 5120, 4096,
        "tma_store_2d tma_store_commit tma_store_wait_read tma_store_wait", 1, 64, 116, 60, 272, 32,
        16, 64)
ROW_MAP(tma_store_2d__swizzle_128, IN_BITS, 1, 64, 1, 20480, 5120, 6256,
        "tma_store_2d tma_store_commit tma_store_wait_read tma_store_wait", 1, 64, 196, 60, 416, 64,
        16, 128)
ROW_MAP(tma_store_2d_hint__plain, IN_BITS, 1, 64, 1, 20480, 5120, 3280, "tma_store_2d_hint", 1, 64,
        116, 48, 272, 24, 12, 0)
ROW_MAP(tma_store_2d_hint__swizzle_128, IN_BITS, 1, 64, 1, 20480, 5120, 6256, "tma_store_2d_hint",
        1, 64, 196, 60, 416, 64, 16, 128)

// cluster.cu
ROW(cluster_rank__all, IN_BITS, 8, 32, 4, 0, 4, 16, "cluster_rank cluster_size")
ROW(ldc_words__neighbour, IN_BITS, 8, 32, 4, 1024, 1024, 1792,
    "ldc_words map_shared cluster_arrive cluster_wait cluster_sync")
ROW(stc_words__neighbour, IN_BITS, 4, 32, 4, 2048, 512, 1024, "stc_words map_shared cluster_sync")
ROW(map_shared__own, IN_BITS, 4, 32, 2, 1024, 128, 256, "map_shared ldc_words")
ROW(mbar_arrive_cluster__all, IN_BITS, 4, 32, 4, 1024, 4, 256, "mbar_arrive_cluster")
ROW(mbar_arrive_peer__all, IN_BITS, 4, 32, 4, 1024, 4, 256, "mbar_arrive_peer")
ROW(mbar_wait_cluster__chain, IN_BITS, 4, 32, 4, 1024, 128, 128,
    "mbar_wait_cluster mbar_arrive_cluster stc_words")
ROW(st_async__1, IN_BITS, 4, 32, 2, 1024, 128, 640, "st_async")
ROW(st_async__2, IN_BITS, 4, 32, 2, 1024, 256, 640, "st_async")
ROW(st_async__4, IN_BITS, 4, 32, 2, 1024, 512, 640, "st_async")
ROW(bulk_push__neighbour, IN_BITS, 4, 32, 4, 4096, 1024, 1152, "bulk_push")
ROW_MAP(tma_load_2d_multicast__subsets, IN_BITS, 4, 32, 4, 4096, 1056, 3200,
        "tma_load_2d_multicast", 0, 32, 100, 20, 208, 64, 8, 128)
ROW_MAP(tma_load_2d_multicast_hint__subsets, IN_BITS, 4, 32, 4, 4096, 1056, 3200,
        "tma_load_2d_multicast_hint", 0, 32, 100, 20, 208, 64, 8, 128)
ROW_MAP(tma_load_2d__in_a_cluster, IN_BITS, 4, 32, 2, 2048, 1056, 1152, "tma_load_2d", 0, 32, 100,
        20, 208, 64, 8, 128)

// n_f32.cu, n_rs.cu, n_f16.cu, n_f16_rs.cu
#define ROW_N(n)                                                                                   \
  ROW(wgmma__n##n, IN_F16, 1, 128, 1, 81920, 28672, 64 * n,                                        \
      "wgmma smem_desc wgmma_fence wgmma_commit wgmma_wait")                                       \
  ROW(wgmma_rs__n##n, IN_F16, 1, 128, 1, 81920, 28672, 64 * n, "wgmma_rs")                         \
  ROW(wgmma_f16__n##n, IN_F16, 1, 128, 1, 81920, 28672, 32 * n, "wgmma_f16")                       \
  ROW(wgmma_f16_rs__n##n, IN_F16, 1, 128, 1, 81920, 28672, 32 * n, "wgmma_f16_rs")
CONFORM_EACH_N(ROW_N)
#undef ROW_N

// tiles.cu and wgmma.cu
#define ROW_TILES(a, b)                                                                            \
  ROW(wgmma__n96_##a##_##b, IN_F16, 1, 128, 1, 81920, 28672, 64 * 96, "wgmma smem_desc")           \
  ROW(wgmma__n256_##a##_##b, IN_F16, 1, 128, 1, 81920, 28672, 64 * 256, "wgmma smem_desc")
CONFORM_EACH_TILES(ROW_TILES)
#undef ROW_TILES
ROW(wgmma__n8_k128_mn128, IN_F16, 1, 128, 1, 81920, 28672, 512, "wgmma smem_desc")
ROW(wgmma__n24_k128_mn128, IN_F16, 1, 128, 1, 81920, 28672, 1536, "wgmma smem_desc")
ROW(wgmma__n200_k128_mn64, IN_F16, 1, 128, 1, 81920, 28672, 12800, "wgmma smem_desc")
#define ROW_B(b)                                                                                   \
  ROW(wgmma_rs__n64_##b, IN_F16, 1, 128, 1, 81920, 28672, 4096, "wgmma_rs smem_desc")              \
  ROW(wgmma_f16__n64_k128_##b, IN_F16, 1, 128, 1, 81920, 28672, 2048, "wgmma_f16 smem_desc")       \
  ROW(wgmma_f16__n64_mn128_##b, IN_F16, 1, 128, 1, 81920, 28672, 2048, "wgmma_f16 smem_desc")      \
  ROW(wgmma_f16_rs__n64_##b, IN_F16, 1, 128, 1, 81920, 28672, 2048, "wgmma_f16_rs smem_desc")
CONFORM_EACH_B(ROW_B)
#undef ROW_B
#define ROW_BF16(n)                                                                                \
  ROW(wgmma__bf16_n##n, IN_BF16, 1, 128, 1, 81920, 28672, 64 * n, "wgmma")                         \
  ROW(wgmma_rs__bf16_n##n, IN_BF16, 1, 128, 1, 81920, 28672, 64 * n, "wgmma_rs")
CONFORM_EACH_BF16(ROW_BF16)
#undef ROW_BF16
ROW(wgmma__bf16_mn128_mn128, IN_BF16, 1, 128, 1, 81920, 28672, 8192, "wgmma")
ROW(wgmma_rs__bf16_mn128, IN_BF16, 1, 128, 1, 81920, 28672, 8192, "wgmma_rs")
ROW(wgmma__cleared, IN_F16, 1, 128, 1, 81920, 28672, 4096, "wgmma")
ROW(wgmma_rs__cleared, IN_F16, 1, 128, 1, 81920, 28672, 4096, "wgmma_rs")
ROW(wgmma_f16__cleared, IN_F16, 1, 128, 1, 81920, 28672, 2048, "wgmma_f16")
ROW(wgmma_f16_rs__cleared, IN_F16, 1, 128, 1, 81920, 28672, 2048, "wgmma_f16_rs")
ROW(wgmma__stride_2048, IN_F16, 1, 128, 1, 81920, 28672, 4096, "wgmma smem_desc")
ROW(wgmma_wait__one_pending, IN_F16, 1, 128, 1, 81920, 28672, 8192, "wgmma_wait wgmma_commit")
ROW(wgmma__two_warpgroups, IN_F16, 1, 256, 1, 81920, 28672, 8192, "wgmma warpgroup_index")

// blocks.cu
#define ROW_F32(name, n, words) ROW(name, IN_F16, 1, 128, 1, 81920, 28672, 64 * n, words)
#define ROW_F16(name, n, words) ROW(name, IN_F16, 1, 128, 1, 81920, 28672, 32 * n, words)
#define ROW_BLOCKS(n)                                                                              \
  ROW_F32(wgmma__n##n##_blocks_b, n, "wgmma smem_desc")                                            \
  ROW_F32(wgmma__n##n##_blocks_a, n, "wgmma smem_desc")                                            \
  ROW_F32(wgmma__n##n##_blocks_ab, n, "wgmma smem_desc")                                           \
  ROW_F32(wgmma_rs__n##n##_blocks, n, "wgmma_rs smem_desc")                                        \
  ROW_F16(wgmma_f16__n##n##_blocks_b, n, "wgmma_f16 smem_desc")                                    \
  ROW_F16(wgmma_f16__n##n##_blocks_a, n, "wgmma_f16 smem_desc")                                    \
  ROW_F16(wgmma_f16__n##n##_blocks_ab, n, "wgmma_f16 smem_desc")                                   \
  ROW_F16(wgmma_f16_rs__n##n##_blocks, n, "wgmma_f16_rs smem_desc")
CONFORM_EACH_BLOCKS(ROW_BLOCKS)
#undef ROW_BLOCKS
ROW_F32(wgmma__n248_blocks_k128, 248, "wgmma smem_desc")
ROW_F16(wgmma_f16__n200_blocks_k128, 200, "wgmma_f16 smem_desc")
ROW_F32(wgmma__n136_blocks_k32, 136, "wgmma smem_desc")
ROW(wgmma__bf16_n88_blocks, IN_BF16, 1, 128, 1, 81920, 28672, 64 * 88, "wgmma smem_desc")
ROW_F32(wgmma__n88_from_block_2, 88, "wgmma smem_desc")
ROW_F32(wgmma__n136_from_block_1, 136, "wgmma smem_desc")
ROW_F32(wgmma__n248_from_k_2, 248, "wgmma smem_desc")
ROW_F32(wgmma__n40_from_block_3_k_3, 40, "wgmma smem_desc")
ROW_F32(wgmma__n176_from_a_block_1, 176, "wgmma smem_desc")
ROW_F32(wgmma__n8_from_a_block_1_k_1, 8, "wgmma smem_desc")
ROW_F32(wgmma__n88_from_both, 88, "wgmma smem_desc")
ROW_F32(wgmma_rs__n88_from_block_1_k_1, 88, "wgmma_rs smem_desc")
ROW_F16(wgmma_f16__n88_from_both, 88, "wgmma_f16 smem_desc")
ROW_F16(wgmma_f16_rs__n136_from_block_1_k_2, 136, "wgmma_f16_rs smem_desc")
ROW(wgmma__two_warpgroups_blocks, IN_F16, 1, 256, 1, 81920, 28672, 11264, "wgmma warpgroup_index")
#undef ROW_F32
#undef ROW_F16

#endif // ROW
