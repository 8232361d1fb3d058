// known.cu - a right kernel, and with PLANT=n the same with the fault that a tool of compute-sanitizer is there for
//
// lua/sanitize.lua has the worker run it under each tool: a tool counts only where it passes the right
// kernel and finds its own fault in the other. One thread an element, tiles of A and B through shared
// memory. The faults are such that the result stays right, or as good as: it is the tool that must see them.

#include <cuda_fp16.h>

#ifndef PLANT
#define PLANT 0
#endif
enum { RIGHT, MEMCHECK, RACECHECK, SYNCCHECK, INITCHECK, TILE = 16 };

extern "C" __global__ void __launch_bounds__(TILE *TILE)
    loom_kernel(const __half *A, const __half *B, __half *C, int M, int N, int K, int lda, int ldb,
                int ldc, float *ws) {
  __shared__ float a[TILE][TILE + 1], b[TILE][TILE + 1];
  int across = (N + TILE - 1) / TILE, y = threadIdx.x / TILE, x = threadIdx.x % TILE;
  int m = blockIdx.x / across * TILE + y, n = blockIdx.x % across * TILE + x;
  float sum = 0;
  if (PLANT == MEMCHECK) sum += ws[250] == 12345;              // the workspace has 250 numbers
  if (PLANT == INITCHECK) sum += __half2float(A[-8]) == 12345; // before the first row
  for (int k0 = 0; k0 < K; k0 += TILE) {
    a[y][x] = m < M && k0 + x < K ? __half2float(A[(long long)m * lda + k0 + x]) : 0;
    b[y][x] = n < N && k0 + y < K ? __half2float(B[(long long)(k0 + y) * ldb + n]) : 0;
    if (PLANT == SYNCCHECK) { // half a warp here, the other half there
      if (threadIdx.x % 32 < 16)
        __syncthreads();
      else
        __syncthreads();
    } else if (PLANT != RACECHECK) {
      __syncthreads();
    }
    for (int k = 0; k < TILE; ++k) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  if (m < M && n < N) C[(long long)m * ldc + n] = __float2half(sum);
}
