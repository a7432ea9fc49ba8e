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

// Four values of a lane, which it reads or writes at once.
template <typename T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

// Return whether all rows of `dim` values from `values` on can be read and written by fours.
template <typename T>
__device__ inline bool by_fours(const T* values, int dim) {
  return dim % 4 == 0 && reinterpret_cast<uintptr_t>(values) % sizeof(Four<T>) == 0;
}

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
    const bool divided = !unit && count > 1;
    if (by_fours(states, dim) && by_fours(out, dim)) {
      for (int base = 4 * lane(); base < dim; base += 4 * kWarp) {
        float sum[4] = {};
#pragma unroll(16 / sizeof(T))
        for (int t = 0; t < count; ++t) {
          const auto four = *reinterpret_cast<const Four<T>*>(states + static_cast<int64_t>(t) * dim + base);
#pragma unroll
          for (int c = 0; c < 4; ++c) sum[c] += to_float(four.at[c]);
        }
        for (float& each : sum) each = divided ? each / static_cast<float>(count) : each;
        *reinterpret_cast<Four<float>*>(out + base) = {sum[0], sum[1], sum[2], sum[3]};
      }
    } else {
      for (int j = lane(); j < dim; j += kWarp) {
        float sum = 0.0f;
#pragma unroll 8
        for (int t = 0; t < count; ++t) sum += to_float(states[static_cast<int64_t>(t) * dim + j]);
        out[j] = divided ? sum / static_cast<float>(count) : sum;
      }
    }
    if (!unit) return;
    __syncwarp();
    normalize(out, dim, dot(out, out, dim));
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
        for (int64_t first = 0; first < count; first += kTokens)
          add(own + first, min(count - first, kTokens), dim, base, sum);
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

  // Add eight columns of up to kTokens rows to `sum`. Two columns share a word: each holds the sum of bytes + 128,
  // which needs 16 bits, so that four additions add eight numbers.
  static constexpr int64_t kTokens = 257;
  __device__ void add(const int32_t* own, int64_t count, int dim, int base, int (&sum)[8]) const {
    unsigned even[2] = {}, odd[2] = {};
#pragma unroll 4
    for (int64_t t = 0; t < count; ++t) {
      const int2 eight = *reinterpret_cast<const int2*>(table + static_cast<int64_t>(own[t]) * dim + base);
      const unsigned words[2] = {static_cast<unsigned>(eight.x) ^ 0x80808080u,
                                 static_cast<unsigned>(eight.y) ^ 0x80808080u};
#pragma unroll
      for (int w = 0; w < 2; ++w) {
        even[w] += words[w] & 0x00FF00FFu;
        odd[w] += words[w] >> 8 & 0x00FF00FFu;
      }
    }
    const int shift = 128 * static_cast<int>(count);
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      sum[4 * w] += static_cast<int>(even[w] & 0xFFFFu) - shift;
      sum[4 * w + 1] += static_cast<int>(odd[w] & 0xFFFFu) - shift;
      sum[4 * w + 2] += static_cast<int>(even[w] >> 16) - shift;
      sum[4 * w + 3] += static_cast<int>(odd[w] >> 16) - shift;
    }
  }
};

}  // namespace pychunk::cuda
