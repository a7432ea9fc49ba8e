// Dot products of float32 vectors as one fixed tree of partial sums, so that every instruction set rounds alike. Lane k
// of 32 adds the products k, k + 32, k + 64 and so on, in order. Then the upper half of the lanes is added to the lower
// half, five times. Contraction to fused multiply-add is off for the whole build (CMakeLists.txt).
#pragma once
#include "common/simd.h"

namespace pychunk {
namespace {

constexpr size_t kLanes = kVectorBytes / 4;
constexpr size_t kTree = 32;

typedef float F32 __attribute__((vector_size(kVectorBytes), may_alias));

typedef float F32x2 __attribute__((vector_size(8), may_alias));
typedef float F32x4 __attribute__((vector_size(16), may_alias));
typedef float F32x8 __attribute__((vector_size(32), may_alias));

// Extracts the two halves of a register with intrinsics. If bytes of a sum are copied, g++ 12 keeps the sum in memory
// and stores it in each iteration. The masked intrinsics are used because without a mask g++'s own header leaves a
// value uninitialised, and warns.
template <typename Half, typename V>
inline void halves_of(V lanes, Half& low, Half& high) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(V) == 64) {
    low = reinterpret_cast<Half>(_mm512_maskz_extracti64x4_epi64(0xF, reinterpret_cast<__m512i>(lanes), 0));
    high = reinterpret_cast<Half>(_mm512_maskz_extracti64x4_epi64(0xF, reinterpret_cast<__m512i>(lanes), 1));
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    low = reinterpret_cast<Half>(_mm256_castsi256_si128(reinterpret_cast<__m256i>(lanes)));
    high = reinterpret_cast<Half>(_mm256_extracti128_si256(reinterpret_cast<__m256i>(lanes), 1));
    return;
  }
#endif
  memcpy(&low, &lanes, sizeof(low));
  memcpy(&high, reinterpret_cast<const char*>(&lanes) + sizeof(low), sizeof(high));
}

template <typename Half, typename V>
inline Half halved(V lanes) {
  Half low, high;
  halves_of(lanes, low, high);
  return low + high;
}

// Clears registers one by one. g++ 12 clears an array of them in memory, and with AVX2 by a `rep stos` of 128 bytes.
template <size_t kCount>
inline void clear(F32 (&registers)[kCount]) {
#pragma GCC unroll 8
  for (size_t r = 0; r < kCount; ++r) registers[r] = F32{};
}

// Adds the upper half of the lanes to the lower half until one lane is left.
inline float sum_of(F32 lanes) {
#if defined(__AVX512BW__)
  const F32x4 four = halved<F32x4>(halved<F32x8>(lanes));
#elif defined(__AVX2__)
  const F32x4 four = halved<F32x4>(lanes);
#else
  const F32x4 four = lanes;
#endif
  const F32x2 two = halved<F32x2>(four);
  return two[0] + two[1];
}

// Returns the sum of kTree lanes.
inline float sum_of_tree(F32* partial) {
  // It adds whole registers first, then halves of one. An array that goes through memory takes twice as long.
#pragma GCC unroll 4
  for (size_t half = kTree / kLanes / 2; half > 0; half /= 2)
#pragma GCC unroll 4
    for (size_t r = 0; r < half; ++r) partial[r] += partial[r + half];
  return sum_of(partial[0]);
}

// Returns register r of the last n < kTree numbers of a row, followed by zeros. A copy to a padded array takes longer:
// the processor waits until what it stored in parts can be loaded as a whole.
inline F32 last_of(const float* x, size_t n, size_t r) {
  const size_t first = r * kLanes, count = n <= first ? 0 : n - first < kLanes ? n - first : kLanes;
#if defined(__AVX512BW__)
  return reinterpret_cast<F32>(
      _mm512_maskz_loadu_ps(static_cast<__mmask16>((uint32_t{1} << count) - 1), x + (count == 0 ? 0 : first)));
#elif defined(__AVX2__)
  alignas(32) static constexpr int32_t kOnes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  const __m256i mask = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kOnes + 8 - count));
  return reinterpret_cast<F32>(_mm256_maskload_ps(x + (count == 0 ? 0 : first), mask));
#else
  F32 out = {};
  for (size_t i = 0; i < count; ++i) out[i] = x[first + i];
  return out;
#endif
}

float dot(const float* a, const float* b, size_t dim) {
  constexpr size_t kRegisters = kTree / kLanes;
  F32 partial[kRegisters];
  clear(partial);
  const auto step = [&](const float* x, const float* y) {
#pragma GCC unroll 8
    for (size_t r = 0; r < kRegisters; ++r) {
      F32 u, v;
      memcpy(&u, x + r * kLanes, sizeof(u));
      memcpy(&v, y + r * kLanes, sizeof(v));
      partial[r] += u * v;
    }
  };
  size_t i = 0;
  for (; i + kTree <= dim; i += kTree) step(a + i, b + i);
  if (i < dim) {
#pragma GCC unroll 8
    for (size_t r = 0; r < kRegisters; ++r) partial[r] += last_of(a + i, dim - i, r) * last_of(b + i, dim - i, r);
  }
  return sum_of_tree(partial);
}

// Sets sum = a + b, products[0] = dot(sum, sum) and products[1] = dot(sum, other). It reads three rows and writes one.
// Separate loops would read six and write one.
void sum_and_products(const float* a, const float* b, const float* other, size_t dim, float* sum, float* products) {
  constexpr size_t kRegisters = kTree / kLanes;
  F32 squares[kRegisters], across[kRegisters];
  clear(squares), clear(across);
  const auto step = [&](const float* x, const float* y, const float* z, float* out) {
#pragma GCC unroll 8
    for (size_t r = 0; r < kRegisters; ++r) {
      F32 u, v, w;
      memcpy(&u, x + r * kLanes, sizeof(u));
      memcpy(&v, y + r * kLanes, sizeof(v));
      memcpy(&w, z + r * kLanes, sizeof(w));
      u += v;
      memcpy(out + r * kLanes, &u, sizeof(u));
      squares[r] += u * u;
      across[r] += u * w;
    }
  };
  size_t i = 0;
  for (; i + kTree <= dim; i += kTree) step(a + i, b + i, other + i, sum + i);
  if (i < dim) {
    float x[kTree] = {}, y[kTree] = {}, z[kTree] = {}, out[kTree];
    memcpy(x, a + i, (dim - i) * sizeof(float));
    memcpy(y, b + i, (dim - i) * sizeof(float));
    memcpy(z, other + i, (dim - i) * sizeof(float));
    step(x, y, z, out);
    memcpy(sum + i, out, (dim - i) * sizeof(float));
  }
  products[0] = sum_of_tree(squares);
  products[1] = sum_of_tree(across);
}

// Sets out[i] = dot(rows[i], v).
void dot_rows(const float* rows, size_t n, size_t dim, const float* v, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = dot(rows + i * dim, v, dim);
}

// Adds weight * x[j] to sum[j].
void add_scaled(const float* x, size_t dim, float weight, float* sum) {
  for (size_t j = 0; j < dim; ++j) sum[j] += weight * x[j];
}

void add_scaled_shorts(const int16_t* x, size_t dim, float weight, float* sum) {
  for (size_t j = 0; j < dim; ++j) sum[j] += weight * static_cast<float>(x[j]);
}

}  // namespace
}  // namespace pychunk
