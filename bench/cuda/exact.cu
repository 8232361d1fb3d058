// exact.cu - the families on the device: operands, right results, comparison, noise
//
// An element is a function of the family and of its place. Sums are of integers
// that a float holds exactly (or of one number and zeros), so one plain loop
// over k is the reference for every order of summation.

#include "families.h"
#include "kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace {

using u16 = unsigned short;
using u64 = unsigned long long;

constexpr int threads = 256, blocks = 528, side = 16;
enum { A, B, C, HALVES }; // what a draw is for

__device__ u64 mix(u64 z) { // splitmix64's finalizer
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

__device__ u64 draw(u64 seed, int what, int i, int j) {
  return mix(mix(seed + what * 0x9e3779b97f4a7c15ull) ^ ((u64)(unsigned)i << 32 | (unsigned)j));
}

__device__ size_t first_index() { return blockIdx.x * (size_t)blockDim.x + threadIdx.x; }
__device__ size_t index_step() { return gridDim.x * (size_t)blockDim.x; }

// Numbers

__device__ u16 bits_of(int dtype, double v) {
  return dtype ? __bfloat16_as_ushort(__double2bfloat16(v)) : __half_as_ushort(__double2half(v));
}

__device__ u16 bits_of(int dtype, float v) {
  return dtype ? __bfloat16_as_ushort(__float2bfloat16(v)) : __half_as_ushort(__float2half(v));
}

__device__ float value_of(int dtype, u16 bits) {
  return dtype ? __bfloat162float(__ushort_as_bfloat16(bits))
               : __half2float(__ushort_as_half(bits));
}

__device__ u16 nan_of(int dtype) { return dtype ? 0x7fc0 : 0x7e00; }
__device__ u16 infinity_of(int dtype) { return dtype ? 0x7f80 : 0x7c00; }
__host__ __device__ u16 mark_of(int dtype) { return dtype ? KERNELS_MARK_BF16 : KERNELS_MARK_F16; }

// Elements

__device__ float ternary_of(u64 h) { return (float)(int)((h >> 32) * 3 >> 32) - 1; }

__device__ float ternary(const family &f, int what, int i, int j) {
  u64 other = f.change ? draw(f.change, what, i, j) : 1;
  return ternary_of(other % 64 == 0 ? mix(other) : draw(f.seed, what, i, j));
}

__device__ float cancel_a(const family &f, int m, int k) {
  float large = f.narrow ? 16 : 128;
  for (int i = 0; i < f.pairs; i++)
    if (k == f.k1[i] || k == f.k2[i]) return m % f.pairs != i ? 0 : k == f.k1[i] ? large : -large;
  return ternary(f, A, m, k);
}

__device__ float cancel_b(const family &f, int k, int n) {
  for (int i = 0; i < f.pairs; i++)
    if (k == f.k1[i] || k == f.k2[i]) return f.narrow ? 16 : 64;
  return ternary(f, B, k, n);
}

// All k in another order: row m of A has ones for the next 'each' of them.
__device__ float onehot_a(const family &f, int m, int k) {
  u64 place = (f.first + (u64)k * f.step) % f.k, begin = (u64)m * f.each % f.k;
  return (place + f.k - begin) % f.k < f.each ? 1 : 0;
}

// A normal number of any exponent; or, where rows of B are added, an integer.
__device__ u16 any_number(const family &f, int k, int n) {
  u64 h = draw(f.seed, B, k, n);
  int digits = f.dtype ? 7 : 10, exponents = f.dtype ? 254 : 30;
  if (f.each > 1) {
    int most = max((f.dtype ? 256 : 2048) / f.each, 1);
    return bits_of(f.dtype, (float)((int)((h >> 32) % (2 * most + 1)) - most));
  }
  return (u16)((1 + (h >> 32) % exponents) << digits | (h & ((1 << digits) - 1)) |
               (h >> 16 & 1) << 15);
}

// Magnitudes from 1/16 to 16: nothing overflows, and sums round.
__device__ u16 random_number(const family &f, int what, int i, int j) {
  u64 h = draw(f.seed, what, i, j);
  int digits = f.dtype ? 7 : 10, one = f.dtype ? 127 : 15;
  return (u16)((one - 4 + (h >> 32) % 8) << digits | (h & ((1 << digits) - 1)) |
               (h >> 16 & 1) << 15);
}

__device__ float slice_a(const family &f, int m, int k) {
  if (k / f.width != (m + f.first) % f.slices) return 0;
  return draw(f.seed, A, m, k) & 1 ? 1 : -1;
}

__device__ u16 a_of(const family &f, int m, int k) {
  switch (f.kind) {
  case FAMILY_CANCEL:
    return bits_of(f.dtype, cancel_a(f, m, k));
  case FAMILY_ONEHOT:
    return bits_of(f.dtype, onehot_a(f, m, k));
  case FAMILY_SLICE:
    return bits_of(f.dtype, slice_a(f, m, k));
  case FAMILY_RANDOM:
    return random_number(f, A, m, k);
  default:
    break;
  }
  if (f.kind == FAMILY_SPECIAL && m == f.nan_m && k == f.nan_k) return nan_of(f.dtype);
  return bits_of(f.dtype, ternary(f, A, m, k));
}

__device__ u16 b_of(const family &f, int k, int n) {
  switch (f.kind) {
  case FAMILY_CANCEL:
    return bits_of(f.dtype, cancel_b(f, k, n));
  case FAMILY_ONEHOT:
    return any_number(f, k, n);
  case FAMILY_RANDOM:
    return random_number(f, B, k, n);
  default:
    break;
  }
  if (f.kind == FAMILY_SPECIAL && k == f.inf_k && n == f.inf_n) return infinity_of(f.dtype);
  return bits_of(f.dtype, ternary(f, B, k, n));
}

__device__ float number_at(const family &f, int m, int n) { // of C, before a launch with beta
  return 2 * ternary_of(draw(f.seed, C, m, n));
}

// As stored: the element of A or B at a place in memory, or the NaN between two rows.
__device__ u16 stored(const family &f, int operand, size_t at) {
  int row = (int)(at / f.ld[operand]), column = (int)(at % f.ld[operand]);
  bool swapped = f.swapped[operand];
  int length = operand == A ? (swapped ? f.m : f.k) : (swapped ? f.k : f.n);
  if (column >= length) return nan_of(f.dtype);
  int i = swapped ? column : row, j = swapped ? row : column;
  return operand == A ? a_of(f, i, j) : b_of(f, i, j);
}

__device__ void write_stored(const family &f, int operand, u16 *out, size_t n) {
  for (size_t i = first_index(); i < n; i += index_step()) out[i] = stored(f, operand, i);
}

// Kernels

__global__ void fill(family f, int operand, u16 *out, size_t n) {
  write_stored(f, operand, out, n);
}

__global__ void intact(family f, int operand, const u16 *in, size_t n, family_diff *diff) {
  for (size_t i = first_index(); i < n; i += index_step())
    if (in[i] != stored(f, operand, i)) atomicAdd(&diff->inputs[operand], 1);
}

// side x side elements of C per block
__global__ void want_all(family f, u16 *want) {
  __shared__ float a[side][side], b[side][side + 1];
  int x = threadIdx.x, y = threadIdx.y, m = blockIdx.y * side + y, n = blockIdx.x * side + x;
  float sum = 0;
  for (int k0 = 0; k0 < f.k; k0 += side) {
    a[y][x] = m < f.m && k0 + x < f.k ? value_of(f.dtype, a_of(f, m, k0 + x)) : 0;
    b[y][x] = n < f.n && k0 + y < f.k ? value_of(f.dtype, b_of(f, k0 + y, n)) : 0;
    __syncthreads();
    for (int k = 0; k < side && k0 + k < f.k; k++) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  if (m >= f.m || n >= f.n) return;
  double v = (double)f.alpha * (double)sum;
  if (f.beta != 0) v += (double)f.beta * (double)number_at(f, m, n);
  want[(size_t)m * f.n + n] = bits_of(f.dtype, v);
}

// Where the i-th element of the guard and C lies in C; false: beside it.
__device__ bool place(const family &f, size_t i, int *m, int *n) {
  if (i < FAMILY_GUARD) return false;
  *m = (int)((i - FAMILY_GUARD) / f.ld[C]);
  *n = (int)((i - FAMILY_GUARD) % f.ld[C]);
  return *n < f.n;
}

__global__ void start_all(family f, int start, const u16 *want, u16 *c, size_t n) {
  for (size_t i = first_index(); i < n; i += index_step()) {
    int row, column;
    u16 v = mark_of(f.dtype);
    if (start != START_MARK && place(f, i, &row, &column)) {
      if (start == START_NUMBERS)
        v = bits_of(f.dtype, number_at(f, row, column));
      else
        v = want[(size_t)row * f.n + column] ^ (draw(f.seed, HALVES, row, column) & 1 ? 0x8001 : 0);
    }
    c[i] = v;
  }
}

__device__ bool right(int dtype, u16 got, u16 wanted) {
  u16 infinite = infinity_of(dtype);
  if (got == wanted || ((got | wanted) & 0x7fff) == 0) return true;
  return (wanted & 0x7fff) > infinite && (got & 0x7fff) > infinite && got != mark_of(dtype);
}

__global__ void compare(family f, const u16 *c, const u16 *want, size_t n, family_diff *diff) {
  u16 mark = mark_of(f.dtype);
  for (size_t i = first_index(); i < n; i += index_step()) {
    int row, column;
    if (!place(f, i, &row, &column)) {
      if (c[i] != mark) atomicAdd(&diff->beside, 1);
      continue;
    }
    size_t at = (size_t)row * f.n + column;
    if (c[i] != mark && right(f.dtype, c[i], want[at])) continue;
    atomicAdd(&diff->bad, 1);
    atomicMax(&diff->last, (u64)at + 1);
    if (c[i] == mark) atomicAdd(&diff->unwritten, 1);
  }
}

__global__ void keep(family f, const u16 *c, u16 *want, size_t n) {
  for (size_t i = first_index(); i < n; i += index_step()) want[i] = c[i / f.n * f.ld[C] + i % f.n];
}

__device__ u64 nanoseconds() {
  u64 ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// Ends also where the timer stands still.
__device__ void pass(u64 ns) {
  u64 start = nanoseconds();
  long long cycles = clock64();
  while (nanoseconds() - start < ns && (u64)(clock64() - cycles) < 4 * ns) {}
}

__global__ void late(family f, u16 *a, size_t a_n, u16 *b, size_t b_n, u64 ns) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
  pass(ns);
  write_stored(f, A, a, a_n);
  write_stored(f, B, b, b_n);
}

__global__ void noise(u64 seed) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  u64 h = mix(seed + sm);
  if (h & 1) pass(10000 + (h >> 32) % 30000);
}

} // namespace

cudaError_t family_fill(const struct family *f, int operand, void *out, cudaStream_t s) {
  fill<<<blocks, threads, 0, s>>>(*f, operand, (u16 *)out, family_extent(f, operand));
  return cudaGetLastError();
}

cudaError_t family_intact(const struct family *f, int operand, const void *in,
                          struct family_diff *diff, cudaStream_t s) {
  size_t n = family_extent(f, operand);
  intact<<<blocks, threads, 0, s>>>(*f, operand, (const u16 *)in, n, diff);
  return cudaGetLastError();
}

cudaError_t family_want(const struct family *f, void *want, cudaStream_t s) {
  dim3 grid((f->n + side - 1) / side, (f->m + side - 1) / side);
  want_all<<<grid, dim3(side, side), 0, s>>>(*f, (u16 *)want);
  return cudaGetLastError();
}

cudaError_t family_start(const struct family *f, int start, const void *want, void *c,
                         cudaStream_t s) {
  size_t n = FAMILY_GUARD + family_extent(f, C);
  start_all<<<blocks, threads, 0, s>>>(*f, start, (const u16 *)want, (u16 *)c - FAMILY_GUARD, n);
  return cudaGetLastError();
}

cudaError_t family_compare(const struct family *f, const void *c, const void *want,
                           struct family_diff *diff, cudaStream_t s) {
  size_t n = FAMILY_GUARD + family_extent(f, C);
  compare<<<blocks, threads, 0, s>>>(*f, (const u16 *)c - FAMILY_GUARD, (const u16 *)want, n, diff);
  return cudaGetLastError();
}

cudaError_t family_keep(const struct family *f, const void *c, void *want, cudaStream_t s) {
  keep<<<blocks, threads, 0, s>>>(*f, (const u16 *)c, (u16 *)want, (size_t)f->m * f->n);
  return cudaGetLastError();
}

cudaError_t family_late(const struct family *f, void *a, void *b, unsigned us, cudaStream_t s) {
  late<<<32, threads, 0, s>>>(*f, (u16 *)a, family_extent(f, A), (u16 *)b, family_extent(f, B),
                              1000ull * us);
  return cudaGetLastError();
}

cudaError_t family_noise(uint64_t seed, int sms, cudaStream_t s) {
  noise<<<2 * sms, 2 * threads, 40 << 10, s>>>(seed);
  return cudaGetLastError();
}
