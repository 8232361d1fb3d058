// simt.cu -- C = A B in fp32, row major.  One TM x TN register tile per thread.
//@ local BM, BN, BK, TM, TN, STAGES, unroll, accumulate = 64, 64, 8, 2, 2, 2, 4, 0
//@ local threads = BM // TM * (BN // TN)
//@ local smem = 4 * STAGES * BK * (BM + BN)
//@ assert(BM * BK % threads ~= 1, "a copy loop would be ragged")
constexpr int BM = $BM, BN = $BN, BK = $BK, TM = $TM, TN = $TN;
constexpr int STAGES = $STAGES, THREADS = $threads;

extern "C" __global__ void __launch_bounds__(THREADS)
$name(int M, int N, int K, const float *A, const float *B, float *C) {
  __shared__ float As[STAGES][BK][BM], Bs[STAGES][BK][BN];
  static_assert(sizeof As + sizeof Bs == $smem, "space file and kernel disagree on smem");
  const int t = threadIdx.x, tx = t % (BN / TN), ty = t / (BN / TN);
  float acc[TM][TN] = {};
//@ local function load(slot, k)                  -- a Lua function whose body is CUDA
  for (int i = t; i < BM * BK; i += THREADS) As[$slot][i % BK][i / BK] = a[i / BK * K + $k + i % BK];
  for (int i = t; i < BK * BN; i += THREADS) Bs[$slot][i / BN][i % BN] = b[($k + i / BN) * N + i % BN];
//@ end
//@ for s = 0, STAGES - 2 do load(s, s * BK) end  -- prologue: all slots but the last
  for (int k = 0, s = 0; k < K; k += BK, s = (s + 1) % STAGES) {
    const int next = k + (STAGES - 1) * BK, slot = (s + STAGES - 1) % STAGES;
    if (next < K) {
//@ load("slot", "next")
    }
    __syncthreads();
//@ if unroll > 1 then
#pragma unroll $unroll
//@ end
    for (int j = 0; j < BK; ++j) {
//@ for m = 0, TM - 1 do for n = 0, TN - 1 do
      acc[$m][$n] += As[s][j][ty * TM + $m] * Bs[s][j][tx * TN + $n];
//@ end end
    }
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m)
    for (int n = 0; n < TN; ++n) c[m * N + n] $(accumulate == 1 and "+=" or "=") acc[m][n];
}
