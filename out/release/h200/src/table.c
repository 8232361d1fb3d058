/* table.c - the problems of this release, their kernels and the hash table
**
** Written by `loom release`. The cubins are taken in by the assembler, which
** finds them in the folder given by -Wa,-I.
*/
#include "lookup.h"

#define CUBIN(i, stem)                                                                             \
  extern const unsigned char table_cubin_##i[] __attribute__((visibility("hidden")));              \
  extern const unsigned char table_end_##i[] __attribute__((visibility("hidden")));                \
  __asm__(".section .rodata\n.balign 64\ntable_cubin_" #i ":\n.incbin \"" stem ".cubin\"\n"        \
          "table_end_" #i ":\n.byte 0\n.previous\n")

CUBIN(0, "hopper-29db84661c06");
CUBIN(1, "hopper-49aee13f9891");
CUBIN(2, "hopper-6308cee9181c");
CUBIN(3, "hopper-680281f2853b");
CUBIN(4, "hopper-7b3347a32377");
CUBIN(5, "hopper-800aea1ba2f7");
CUBIN(6, "hopper-96682041934d");
CUBIN(7, "hopper-a1a4f66892bb");
CUBIN(8, "hopper-c63dadba02ae");
CUBIN(9, "hopper-f75fd6b38a02");

static const struct lookup_kernel kernels[] = {
    {"hopper-29db84661c06",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=64,tile_n=128,schedule=cooperative,consumers=1,chunk_buffers=2,stages=8,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[64,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":256,\"cluster\":1,\"smem\":213120,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_0, table_end_0},
    {"hopper-49aee13f9891",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_1, table_end_1},
    {"hopper-6308cee9181c",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_2, table_end_2},
    {"hopper-680281f2853b",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=6,group_m=8\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":229472,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_3, table_end_3},
    {"hopper-7b3347a32377",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=192,schedule=pingpong,consumers=2,chunk_buffers=2,stages=4,group_m=16\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,192],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196672,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,192],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_4, table_end_4},
    {"hopper-800aea1ba2f7",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=6,group_m=8\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":229472,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_5, table_end_5},
    {"hopper-96682041934d",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=64,tile_n=128,schedule=cooperative,consumers=1,chunk_buffers=2,stages=8,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[64,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":256,\"cluster\":1,\"smem\":213120,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_6, table_end_6},
    {"hopper-a1a4f66892bb",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_7, table_end_7},
    {"hopper-c63dadba02ae",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_8, table_end_8},
    {"hopper-f75fd6b38a02",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=192,schedule=pingpong,consumers=2,chunk_buffers=2,stages=4,group_m=16\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,192],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196672,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_9, table_end_9},
};

/* layout, type, m, n, k, kernel, us, us_pdl, cublas_us, ratio, lo, hi, ratio_pdl, strict */
static const struct lookup_row rows[] = {
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 512, 4096, 1024, "hopper-c63dadba02ae", 9.43088, 8.58384, 9.41792, 0.998146, 0.996182, 0.998714, 1.09749, 0}, 8},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 512, 4096, 1024, "hopper-6308cee9181c", 9.64672, 8.84256, 9.40736, 0.974477, 0.972525, 0.975196, 1.06268, 0}, 2},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 1024, 1024, 1024, "hopper-96682041934d", 5.9093, 5.29488, 5.90896, 0.998682, 0.997334, 1.00002, 1.11712, 0}, 6},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 1024, 1024, 1024, "hopper-29db84661c06", 6.03405, 5.41953, 5.9009, 0.976192, 0.975039, 0.97709, 1.08851, 0}, 0},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 2048, 2048, 2048, "hopper-a1a4f66892bb", 27.9935, 27.1404, 28.7916, 1.0274, 1.02672, 1.02821, 1.06073, 0}, 7},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 2048, 2048, 2048, "hopper-49aee13f9891", 28.1393, 27.2673, 28.6676, 1.01899, 1.01732, 1.02001, 1.05203, 0}, 1},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 4096, 4096, 512, "hopper-800aea1ba2f7", 28.7242, 27.7375, 36.3657, 1.26606, 1.2639, 1.26701, 1.31035, 0}, 5},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 4096, 4096, 512, "hopper-680281f2853b", 28.7623, 27.6987, 36.3314, 1.26364, 1.262, 1.26437, 1.31247, 0}, 3},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 4096, 4096, 4096, "hopper-800aea1ba2f7", 207.195, 206.592, 214.867, 1.03451, 1.03399, 1.03498, 1.04082, 0}, 5},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 4096, 4096, 4096, "hopper-680281f2853b", 210.429, 209.403, 217.6, 1.03327, 1.03219, 1.03392, 1.03926, 0}, 3},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 8192, 8192, 8192, "hopper-f75fd6b38a02", 1630.76, 1630.08, 1728.83, 1.05994, 1.05858, 1.06038, 1.05962, 0}, 9},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 8192, 8192, 8192, "hopper-7b3347a32377", 1630.36, 1629.82, 1729.17, 1.05965, 1.05878, 1.06048, 1.05985, 0}, 4},
};

static const uint32_t slots[] = {
    0, 6, 11, 0, 0, 0, 0, 0, 10, 2, 0, 0, 0, 0, 7, 0,
    0, 9, 1, 12, 5, 0, 8, 0, 0, 3, 0, 0, 0, 4, 0, 0};

const struct lookup lookup_table = {rows, kernels, slots, 12, 10, 31};
