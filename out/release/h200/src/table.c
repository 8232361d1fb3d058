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

CUBIN(0, "hopper-0a987f065b95");
CUBIN(1, "hopper-29db84661c06");
CUBIN(2, "hopper-49aee13f9891");
CUBIN(3, "hopper-5a2d5f1f1fb0");
CUBIN(4, "hopper-6308cee9181c");
CUBIN(5, "hopper-680281f2853b");
CUBIN(6, "hopper-800aea1ba2f7");
CUBIN(7, "hopper-96682041934d");
CUBIN(8, "hopper-a1a4f66892bb");
CUBIN(9, "hopper-c63dadba02ae");

static const struct lookup_kernel kernels[] = {
    {"hopper-0a987f065b95",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=192,schedule=pingpong,consumers=2,chunk_buffers=1,stages=5,group_m=8\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,192],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":221264,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,192],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_0, table_end_0},
    {"hopper-29db84661c06",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=64,tile_n=128,schedule=cooperative,consumers=1,chunk_buffers=2,stages=8,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[64,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":256,\"cluster\":1,\"smem\":213120,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_1, table_end_1},
    {"hopper-49aee13f9891",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_2, table_end_2},
    {"hopper-5a2d5f1f1fb0",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=192,schedule=pingpong,consumers=2,chunk_buffers=1,stages=5,group_m=8\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,192],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":221264,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_3, table_end_3},
    {"hopper-6308cee9181c",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_4, table_end_4},
    {"hopper-680281f2853b",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=tn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=6,group_m=8\",\"arch\":\"sm_90a\",\"layout\":\"tn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":229472,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"K\",\"N\"],\"stride\":\"ldb\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_5, table_end_5},
    {"hopper-800aea1ba2f7",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=6,group_m=8\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":229472,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_6, table_end_6},
    {"hopper-96682041934d",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=64,tile_n=128,schedule=cooperative,consumers=1,chunk_buffers=2,stages=8,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[64,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":256,\"cluster\":1,\"smem\":213120,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_7, table_end_7},
    {"hopper-a1a4f66892bb",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=pingpong,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_8, table_end_8},
    {"hopper-c63dadba02ae",
     "{\"loom\":1,\"kernel\":\"loom_kernel\",\"key\":\"hopper:layout=nn,dtype=f16,acc=f32,tile_m=128,tile_n=128,schedule=cooperative,consumers=2,chunk_buffers=2,stages=5,group_m=1\",\"arch\":\"sm_90a\",\"layout\":\"nn\",\"dtype\":\"f16\",\"acc\":\"f32\",\"args\":[\"tmap_a\",\"tmap_b\",\"tmap_c\",\"M\",\"N\",\"K\"],\"grid\":{\"rule\":\"persistent\",\"tile\":[128,128],\"split_k\":1,\"ctas_per_sm\":1},\"block\":384,\"cluster\":1,\"smem\":196688,\"cooperative\":false,\"pdl\":true,\"tensors\":[{\"name\":\"tmap_a\",\"operand\":\"A\",\"dims\":[\"K\",\"M\"],\"stride\":\"lda\",\"box\":[64,128],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_b\",\"operand\":\"B\",\"dims\":[\"N\",\"K\"],\"stride\":\"ldb\",\"box\":[64,64],\"swizzle\":128,\"l2\":256},{\"name\":\"tmap_c\",\"operand\":\"C\",\"dims\":[\"N\",\"M\"],\"stride\":\"ldc\",\"box\":[64,64],\"swizzle\":128,\"l2\":256}],\"workspace\":{\"bytes\":0,\"init\":\"none\"},\"legal\":{\"m\":8,\"n\":8,\"k\":8,\"ld\":8,\"align\":16,\"M\":0,\"N\":0,\"K\":0,\"resident\":false}}",
     table_cubin_9, table_end_9},
};

/* layout, type, m, n, k, kernel, us, us_pdl, cublas_us, ratio, lo, hi, ratio_pdl, strict */
static const struct lookup_row rows[] = {
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 512, 4096, 1024, "hopper-c63dadba02ae", 9.52816, 8.67824, 9.5226, 1.00009, 0.998305, 1.00068, 1.09794, 0}, 9},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 512, 4096, 1024, "hopper-6308cee9181c", 9.74624, 8.91584, 9.492, 0.974376, 0.973775, 0.974975, 1.0642, 0}, 4},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 1024, 1024, 1024, "hopper-96682041934d", 5.98149, 5.32037, 5.95405, 0.998823, 0.997662, 0.99958, 1.12086, 0}, 7},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 1024, 1024, 1024, "hopper-29db84661c06", 6.09144, 5.44316, 5.93191, 0.975024, 0.973826, 0.976161, 1.0897, 0}, 1},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 2048, 2048, 2048, "hopper-a1a4f66892bb", 28.4244, 27.5862, 29.2145, 1.02677, 1.02592, 1.02777, 1.06012, 0}, 8},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 2048, 2048, 2048, "hopper-49aee13f9891", 28.6782, 27.8189, 29.2407, 1.01891, 1.01815, 1.01969, 1.05095, 0}, 2},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 4096, 4096, 512, "hopper-800aea1ba2f7", 28.7785, 27.7627, 36.2258, 1.2569, 1.25546, 1.25946, 1.30311, 0}, 6},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 4096, 4096, 512, "hopper-680281f2853b", 29.0465, 27.947, 36.6277, 1.2577, 1.25409, 1.26027, 1.30837, 0}, 5},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 4096, 4096, 4096, "hopper-800aea1ba2f7", 209.701, 208.568, 217.083, 1.0352, 1.03488, 1.03541, 1.04107, 0}, 6},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 4096, 4096, 4096, "hopper-680281f2853b", 210.44, 209.269, 217.405, 1.03302, 1.03119, 1.03363, 1.03904, 0}, 5},
    {{LOOM_LAYOUT_NN, LOOM_TYPE_F16, 8192, 8192, 8192, "hopper-5a2d5f1f1fb0", 1616.77, 1614.74, 1710.64, 1.0589, 1.05803, 1.05917, 1.05938, 0}, 3},
    {{LOOM_LAYOUT_TN, LOOM_TYPE_F16, 8192, 8192, 8192, "hopper-0a987f065b95", 1629.94, 1629.7, 1728.54, 1.05992, 1.05854, 1.06051, 1.06066, 0}, 0},
};

static const uint32_t slots[] = {
    0, 6, 11, 0, 0, 0, 0, 0, 10, 2, 0, 0, 0, 0, 7, 0,
    0, 9, 1, 12, 5, 0, 8, 0, 0, 3, 0, 0, 0, 4, 0, 0};

const struct lookup lookup_table = {rows, kernels, slots, 12, 10, 31};
