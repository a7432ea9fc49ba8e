// The sources of a sentence's vector: hidden states, token ids, or a given vector. One warp makes one vector.
#pragma once
#include "common/arithmetic.h"
#include "cuda/warp.cuh"

namespace pychunk::cuda {

// Compute x / |x| in place, by one warp, as normalize() in csrc/vectors/similarity.cc does, bit for bit. `squares` is x
// . x.
__device__ inline void normalize(float* x, int dim, float squares) {
  if (!is_plain(squares)) {  // rescale by a power of two, which rounds nothing
    float most = 0.0f;
    for (int j = lane(); j < dim; j += kWarp) most = fmaxf(most, fabsf(x[j]));
    most = largest(most);
    if (most == 0.0f) return;
    const int exponent = ilogbf(most);
    for (int j = lane(); j < dim; j += kWarp) x[j] = ldexpf(x[j], -exponent);
    __syncwarp();
    squares = dot(x, x, dim);
  }
  const float scale = unit_scale(static_cast<double>(squares));
  for (int j = lane(); j < dim; j += kWarp) x[j] *= scale;
}

// Unit vectors that are given.
struct Given {
  __device__ void make(int64_t, float*, int) const {}
};

// The mean or the first hidden state of a sentence's tokens. 2 (float16) or 4 bytes are read once for each value, and 4
// bytes written for each dimension. With 25 tokens for each sentence, the states are 93 % of the bytes.
template <typename T>
struct States {
  const uint64_t* first;  // the address of each sentence's first state
  const int32_t* tokens;  // the states that count, including special tokens
  bool mean, unit;

  __device__ void make(int64_t row, float* out, int dim) const {
    pool(reinterpret_cast<const T*>(first[row]), mean ? tokens[row] : 1, out, dim);
  }
  // Add the tokens in their order, in float32, as csrc/vectors/pooling.cc does.
  __device__ void pool(const T* states, int count, float* out, int dim) const {
    constexpr int kColumns = 4;  // columns of a lane at a time, so that as many loads are in flight for each token
    float squares = 0.0f;
    const int last = (dim + kWarp - 1) / kWarp * kWarp;
    for (int base = lane(); base < last; base += kColumns * kWarp) {
      float sum[kColumns] = {};
#pragma unroll 4
      for (int t = 0; t < count; ++t) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) {
          const int j = base + c * kWarp;
          if (j < dim) sum[c] += to_float(states[static_cast<int64_t>(t) * dim + j]);
        }
      }
#pragma unroll
      for (int c = 0; c < kColumns; ++c) {
        const int j = base + c * kWarp;
        if (j >= dim) continue;
        if (!unit && count > 1) sum[c] /= static_cast<float>(count);
        out[j] = sum[c];
        squares += sum[c] * sum[c];
      }
    }
    if (!unit) return;
    __syncwarp();
    normalize(out, dim, tree_sum(squares));
  }
};

// The sum of rows of an int8 table, exact in integers and scaled to unit length (csrc/vectors/embedding_bag_simd.h).
// `dim` bytes are read for each token, from the L2 cache, which holds the table (8 MB). 4 bytes are written for each
// dimension.
struct Bag {
  const int8_t* table;
  const int32_t* ids;
  const int64_t* offsets;

  __device__ void make(int64_t row, float* out, int dim) const {
    const int32_t* own = ids + offsets[row];
    const int64_t count = offsets[row + 1] - offsets[row];
    long long squares = 0;
    for (int base = 8 * lane(); base < dim; base += 8 * kWarp) {
      int sum[8] = {};
      if (base + 8 <= dim && dim % 8 == 0) {
#pragma unroll 4
        for (int64_t t = 0; t < count; ++t) {
          const int2 eight = *reinterpret_cast<const int2*>(table + static_cast<int64_t>(own[t]) * dim + base);
#pragma unroll
          for (int c = 0; c < 8; ++c) sum[c] += static_cast<int8_t>((c < 4 ? eight.x : eight.y) >> 8 * (c % 4));
        }
      } else {
        for (int64_t t = 0; t < count; ++t)
          for (int c = 0; c < 8 && base + c < dim; ++c) sum[c] += table[static_cast<int64_t>(own[t]) * dim + base + c];
      }
      for (int c = 0; c < 8 && base + c < dim; ++c) {
        squares += static_cast<long long>(sum[c]) * sum[c];
        out[base + c] = static_cast<float>(sum[c]);
      }
    }
    squares = integer_sum(squares);
    const float scale = squares == 0 ? 0.0f : unit_scale(static_cast<double>(squares));
    for (int base = 8 * lane(); base < dim; base += 8 * kWarp)
      for (int c = 0; c < 8 && base + c < dim; ++c) out[base + c] *= scale;
  }
};

}  // namespace pychunk::cuda
