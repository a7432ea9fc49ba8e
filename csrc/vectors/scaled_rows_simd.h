// The caller's rows of float32 or float16, read in place: their squares, sums and products. Each number is scaled when
// it is read, and the scaled number is rounded, as if it were stored. Products add up by the tree of similarity_simd.h.
//
// Lower bound: a document's rows come from memory once, for the squares, and then from the cache. A register of 8
// numbers takes 3 loads, 4 multiplications and 3 additions in all, so a processor with two pipes of each kind needs 2
// cycles for the 32 bytes that it reads from memory in 9 (10 GB/s at 3 GHz). Of float16 it needs 2 conversions and a
// store more, for half of the bytes.
#pragma once
#include "vectors/stored_numbers_simd.h"

namespace pychunk {
namespace {

// Returns register r of the last n < kTree numbers of a row, followed by zeros.
inline F32 last_numbers(const float* x, size_t n, size_t r) {
  if (n >= (r + 1) * kLanes) return load_numbers(x + r * kLanes);
  return n <= r * kLanes ? F32{} : last_of(x, n, r);
}
inline F32 last_numbers(const uint16_t* x, size_t n, size_t r) {
  if (n >= (r + 1) * kLanes) return load_numbers(x + r * kLanes);
  if (n <= r * kLanes) return F32{};
  const uint16_t* const from = x + r * kLanes;
  const size_t count = n - r * kLanes;
#if defined(__AVX512BW__)
  const __m256i some = _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), from);
  return reinterpret_cast<F32>(_mm512_maskz_cvtph_ps(kEveryLane, some));
#elif defined(__F16C__)
  uint64_t words[2] = {};
  for (size_t i = 0; i < count; ++i) words[i / 4] |= uint64_t{from[i]} << i % 4 * 16;
  return reinterpret_cast<F32>(
      _mm256_cvtph_ps(_mm_set_epi64x(static_cast<int64_t>(words[1]), static_cast<int64_t>(words[0]))));
#else
  uint16_t rest[kLanes] = {};
  for (size_t i = 0; i < count; ++i) rest[i] = from[i];
  return load_numbers(rest);
#endif
}

// Stores the first n < kLanes numbers of a register.
inline void store_first(float* to, F32 numbers, size_t n) {
#if defined(__AVX512BW__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << n) - 1), reinterpret_cast<__m512>(numbers));
#else
  for (size_t i = 0; i < n; ++i) to[i] = numbers[i];
#endif
}

// Calls step(r, j) for register r of each kTree numbers of a row that begin at j, and last(r, j) for the rest.
template <typename Step, typename Last>
inline void for_each_register(size_t dim, Step step, Last last) {
  size_t j = 0;
  for (; j + kTree <= dim; j += kTree) {
#pragma GCC unroll 8
    for (size_t r = 0; r < kTree / kLanes; ++r) step(r, j);
  }
  if (j == dim) return;
#pragma GCC unroll 8
  for (size_t r = 0; r < kTree / kLanes; ++r) last(r, j);
}

// Sets out[i] = dot(rows[i], rows[i]) for rows that are `stride` numbers apart.
void squares_of_rows(const float* rows, size_t stride, size_t n, size_t dim, float* out) {
  for (size_t i = 0; i < n; ++i) {
    const float* const row = rows + i * stride;
    F32 partial[kTree / kLanes] = {};
    for_each_register(
        dim,
        [&](size_t r, size_t j) {
          if (r == 0) prefetch_step(row + j, kAheadBytes);
          const F32 u = load_numbers(row + j + r * kLanes);
          partial[r] += u * u;
        },
        [&](size_t r, size_t j) {
          const F32 u = last_numbers(row + j, dim - j, r);
          partial[r] += u * u;
        });
    out[i] = sum_of_tree(partial);
  }
}

// Does the same for rows of float16, and writes them to `wide` as float32, without gaps.
void squares_of_halves(const uint16_t* rows, size_t stride, size_t n, size_t dim, float* wide, float* out) {
  for (size_t i = 0; i < n; ++i) {
    const uint16_t* const row = rows + i * stride;
    float* const to = wide + i * dim;
    F32 partial[kTree / kLanes] = {};
    for_each_register(
        dim,
        [&](size_t r, size_t j) {
          if (r == 0) prefetch_step(row + j, kAheadBytes);
          const F32 u = load_numbers(row + j + r * kLanes);
          memcpy(to + j + r * kLanes, &u, sizeof(u));
          partial[r] += u * u;
        },
        [&](size_t r, size_t j) {
          const F32 u = last_numbers(row + j, dim - j, r);
          const size_t at = j + r * kLanes, left = at < dim ? dim - at : 0;
          if (left >= kLanes) memcpy(to + at, &u, sizeof(u));
          if (left > 0 && left < kLanes) store_first(to + at, u, left);
          partial[r] += u * u;
        });
    out[i] = sum_of_tree(partial);
  }
}

// Sets out[i] = dot(scales[i] * rows[i], v). Rows are read one after the other: four at once took three times as long,
// and two at once as long as one. Prefetching the next document raised the rate of the whole from 53 to 58 % of a
// sum's.
template <typename Stored>
inline void dot_scaled(const Stored* rows, size_t stride, size_t n, size_t dim, const float* scales, const float* v,
                       ptrdiff_t ahead, float* out) {
  for (size_t i = 0; i < n; ++i) {
    const Stored* const row = rows + i * stride;
    const float scale = scales[i];
    F32 partial[kTree / kLanes] = {};
    for_each_register(
        dim,
        [&](size_t r, size_t j) {
          if (r == 0) prefetch_step(row + j, ahead);
          partial[r] += load_numbers(row + j + r * kLanes) * scale * load_numbers(v + j + r * kLanes);
        },
        [&](size_t r, size_t j) {
          partial[r] += last_numbers(row + j, dim - j, r) * scale * last_numbers(v + j, dim - j, r);
        });
    out[i] = sum_of_tree(partial);
  }
}

void dot_scaled_rows(const float* rows, size_t stride, size_t n, size_t dim, const float* scales, const float* v,
                     ptrdiff_t ahead, float* out) {
  dot_scaled(rows, stride, n, dim, scales, v, ahead, out);
}
void dot_scaled_halves(const uint16_t* rows, size_t stride, size_t n, size_t dim, const float* scales, const float* v,
                       ptrdiff_t ahead, float* out) {
  dot_scaled(rows, stride, n, dim, scales, v, ahead, out);
}

// Sets out[i] = dot(scales[i] * rows[i], scales[i + 1] * rows[i + 1]).
template <typename Stored>
inline void dot_pairs(const Stored* rows, size_t stride, size_t n, size_t dim, const float* scales, float* out) {
  for (size_t i = 0; i < n; ++i) {
    const Stored *const a = rows + i * stride, *const b = a + stride;
    const float to_a = scales[i], to_b = scales[i + 1];
    F32 partial[kTree / kLanes] = {};
    for_each_register(
        dim,
        [&](size_t r, size_t j) {
          partial[r] += load_numbers(a + j + r * kLanes) * to_a * (load_numbers(b + j + r * kLanes) * to_b);
        },
        [&](size_t r, size_t j) {
          partial[r] += last_numbers(a + j, dim - j, r) * to_a * (last_numbers(b + j, dim - j, r) * to_b);
        });
    out[i] = sum_of_tree(partial);
  }
}

void dot_scaled_pairs(const float* rows, size_t stride, size_t n, size_t dim, const float* scales, float* out) {
  dot_pairs(rows, stride, n, dim, scales, out);
}
void dot_half_pairs(const uint16_t* rows, size_t stride, size_t n, size_t dim, const float* scales, float* out) {
  dot_pairs(rows, stride, n, dim, scales, out);
}

// Adds scales[i] * rows[i] to sum, in the order of i.
void add_scaled_rows(const float* rows, size_t stride, size_t n, size_t dim, const float* scales, float* sum) {
  constexpr size_t kTogether = 4;  // one load and one store of the sum for so many rows
  size_t i = 0;
  for (; i + kTogether <= n; i += kTogether) {
    const float* const x = rows + i * stride;
    const float* const scale = scales + i;
    size_t j = 0;
    for (; j + kLanes <= dim; j += kLanes) {
      F32 total;
      memcpy(&total, sum + j, sizeof(total));
#pragma GCC unroll 4
      for (size_t k = 0; k < kTogether; ++k) {
        F32 u;
        memcpy(&u, x + k * stride + j, sizeof(u));
        total += scale[k] * u;
      }
      memcpy(sum + j, &total, sizeof(total));
    }
    for (; j < dim; ++j) {
      float total = sum[j];
      for (size_t k = 0; k < kTogether; ++k) total += scale[k] * x[k * stride + j];
      sum[j] = total;
    }
  }
  for (; i < n; ++i)
    for (size_t j = 0; j < dim; ++j) sum[j] += scales[i] * rows[i * stride + j];
}

}  // namespace
}  // namespace pychunk
