// The cooperation of threads: warps that add in the engine's order, and teams (a block, or the whole grid) that share a
// document.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

namespace pychunk::cuda {

// A variable that the threads of a block share.
#if defined(PYCHUNK_CUDA_EMULATED)
#define PYCHUNK_SHARED(type, name)       \
  static const char name##_of_block = 0; \
  type& name = ::emulator::shared_variable<type>(&name##_of_block)
#else
#define PYCHUNK_SHARED(type, name) __shared__ type name
#endif

constexpr int kWarp = 32;
constexpr unsigned kAll = 0xFFFFFFFFu;
constexpr int kThreads = 256;  // of every block
constexpr int kWarps = kThreads / kWarp;

__device__ inline int lane() { return static_cast<int>(threadIdx.x) % kWarp; }
__device__ inline int warp_of_block() { return static_cast<int>(threadIdx.x) / kWarp; }

// Add the upper half of the lanes to the lower half, five times (csrc/vectors/similarity_simd.h). The exchange gives
// lane 0 exactly these sums, and every lane the sum of lane 0, because an addition has the same bits in either order.
__device__ inline float tree_sum(float partial) {
#pragma unroll
  for (int half = kWarp / 2; half > 0; half /= 2) partial += __shfl_xor_sync(kAll, partial, half);
  return partial;
}

__device__ inline long long integer_sum(long long value) {
#pragma unroll
  for (int half = kWarp / 2; half > 0; half /= 2) value += __shfl_xor_sync(kAll, value, half);
  return value;
}

// Return the largest value of the warp, in every lane.
template <typename T>
__device__ inline T largest(T value) {
#pragma unroll
  for (int half = kWarp / 2; half > 0; half /= 2) {
    const T other = __shfl_xor_sync(kAll, value, half);
    value = other > value ? other : value;
  }
  return value;
}

// Compute a . b by one warp, in the engine's order: lane k adds the products k, k + 32 and so on. 128 bytes of each
// vector are read at a time.
__device__ inline float dot(const float* a, const float* b, int dim) {
  float partial = 0.0f;
  const int last = (dim + kWarp - 1) / kWarp * kWarp;  // lanes past the end add 0, as the CPU's padding does
#pragma unroll 4
  for (int j = lane(); j < last; j += kWarp) partial += j < dim ? a[j] * b[j] : 0.0f;
  return tree_sum(partial);
}

// Compute the inner products of kTogether rows, from `rows` on, and b, in the order of dot(). Loads of as many rows are
// in flight at once. `ends` is the number of rows that exist: the others repeat the last one.
constexpr int kTogether = 4;
__device__ inline void dots(const float* rows, int ends, const float* b, int dim, float (&out)[kTogether]) {
  float partial[kTogether] = {};
#pragma unroll 2
  for (int j = lane(); j < dim; j += kWarp) {
    const float other = b[j];
#pragma unroll
    for (int r = 0; r < kTogether; ++r) partial[r] += rows[min(r, ends - 1) * dim + j] * other;
  }
#pragma unroll
  for (int r = 0; r < kTogether; ++r) out[r] = tree_sum(partial[r]);
}

// Wait until all blocks of a cooperative launch have arrived. `arrivals` counts up from 0.
__device__ inline void grid_barrier(unsigned* arrivals) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned before = atomicAdd(arrivals, 1u);
    const unsigned whole = (before / gridDim.x + 1) * gridDim.x;
    while (atomicAdd(arrivals, 0u) < whole) __nanosleep(64);
    __threadfence();
  }
  __syncthreads();
}

// The threads that work on one document. All of them call sync(), and afterwards see all earlier writes.
struct Block {
  __device__ int block() const { return 0; }
  __device__ int blocks() const { return 1; }
  __device__ void sync() const { __syncthreads(); }
};
struct Grid {
  unsigned* arrivals;
  __device__ int block() const { return static_cast<int>(blockIdx.x); }
  __device__ int blocks() const { return static_cast<int>(gridDim.x); }
  __device__ void sync() const { grid_barrier(arrivals); }
};

}  // namespace pychunk::cuda
