// The steps of a BERT between its products: rows to bytes, norms, activations, softmax. All of them are fixed sequences
// of IEEE operations in float32, so that every instruction set gives the same bits.
#pragma once
#include "bert/int8_products_simd.h"
#include "vectors/similarity_simd.h"

namespace pychunk {
namespace {

inline F32x16 load16(const float* x) {
  F32x16 v;
  memcpy(&v, x, sizeof(v));
  return v;
}
inline void store16(float* x, const F32x16& v) { memcpy(x, &v, sizeof(v)); }

// Rounds to the nearest whole number, to an even one from the middle. |x| must be below 2^22.
inline I32x16 rounded(const F32x16& x) {
  const F32x16 shifted = x + 12582912.0f;  // 1.5 * 2^23: the last bits of the sum are the whole number
  I32x16 bits;
  memcpy(&bits, &shifted, sizeof(bits));
  return bits - 0x4B400000;
}

// Combines sixteen lanes, half by half, by an operation that gives the same in any order. (The intrinsics for this make
// g++ 12 warn of values that are not initialized.) Types that a template deduces lose the alignment of F32x16, so the
// lanes are copied to vectors of their natural alignment.
template <typename Number, typename Combine>
inline Number combined_lanes(const void* lanes, Combine combine) {
  typedef Number Half __attribute__((vector_size(8 * sizeof(Number))));
  typedef Number Quarter __attribute__((vector_size(4 * sizeof(Number))));
  Half halves[2];
  memcpy(halves, lanes, sizeof(halves));
  const Half half = combine(halves[0], halves[1]);
  Quarter quarters[2];
  memcpy(quarters, &half, sizeof(quarters));
  const Quarter four = combine(quarters[0], quarters[1]);
  const Number lower = combine(Number{four[0]}, Number{four[2]}), upper = combine(Number{four[1]}, Number{four[3]});
  return combine(lower, upper);
}
inline float highest16(const F32x16& v) {
  return combined_lanes<float>(&v, [](const auto& a, const auto& b) { return a > b ? a : b; });
}
inline int32_t total16(const I32x16& v) {
  return combined_lanes<int32_t>(&v, [](const auto& a, const auto& b) { return a + b; });
}
inline F32x16 higher(const F32x16& a, const F32x16& b) { return a > b ? a : b; }
inline F32x16 magnitude(const F32x16& v) { return v > F32x16{} ? v : -v; }

// Writes x[c] * factors[c], or x[c] without factors, as bytes, with a scale and a sum for each group. `size` is a
// multiple of 16.
void quantize_row(const float* x, const float* factors, size_t size, int8_t* bytes, float* scales, int32_t* sums) {
  for (size_t begin = 0, group = 0; begin < size; begin += kGroupBytes, ++group) {
    const size_t end = size - begin < kGroupBytes ? size : begin + kGroupBytes;
    F32x16 scaled[kGroupBytes / 16], highest = {};
    for (size_t c = begin; c < end; c += 16) {
      F32x16 v = load16(x + c);
      if (factors != nullptr) v *= load16(factors + c);
      scaled[(c - begin) / 16] = v;
      highest = higher(magnitude(v), highest);
    }
    const float most = highest16(highest);
    const float inverse = most > 1e-30f ? 127.0f / most : 0.0f;
    scales[group] = most > 1e-30f ? most / 127.0f : 0.0f;
    I32x16 sum = {};
    for (size_t c = begin; c < end; c += 16) {
      const I32x16 whole = rounded(scaled[(c - begin) / 16] * inverse);
      sum += whole;
#if defined(__AVX512BW__)
      __m512i lanes;
      memcpy(&lanes, &whole, sizeof(lanes));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + c), _mm512_maskz_cvtepi32_epi8(0xFFFF, lanes));
#else
      for (size_t i = 0; i < 16; ++i) bytes[c + i] = static_cast<int8_t>(whole[i]);
#endif
    }
    sums[group] = total16(sum);
  }
}

// Returns the sum of sixteen lanes, the upper half added to the lower one four times.
inline float sum16(const F32x16& v) {
  float lanes[16];
  memcpy(lanes, &v, sizeof(v));
  for (size_t half = 8; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
  return lanes[0];
}

// Sets row = (row + added - mean) / sqrt(variance + epsilon) * weight + bias. `dim` is a multiple of 16.
void add_and_norm(const float* added, const float* weight, const float* bias, float epsilon, size_t dim, float* row) {
  F32x16 sum = {};
  for (size_t c = 0; c < dim; c += 16) {
    const F32x16 v = load16(row + c) + load16(added + c);
    store16(row + c, v);
    sum += v;
  }
  const float mean = sum16(sum) / static_cast<float>(dim);
  F32x16 squares = {};
  for (size_t c = 0; c < dim; c += 16) {
    const F32x16 v = load16(row + c) - mean;
    squares += v * v;
  }
  const float inverse = 1.0f / __builtin_sqrtf(sum16(squares) / static_cast<float>(dim) + epsilon);
  for (size_t c = 0; c < dim; c += 16)
    store16(row + c, (load16(row + c) - mean) * inverse * load16(weight + c) + load16(bias + c));
}

// Sets x = x * (0.5 + z * P(z^2)) with z = x clipped to [-4.25, 4.25]. P was fitted so that 0.5 + z * P(z^2) is the
// normal distribution's function, or with `tanh` its approximation by tanh. The error is below 1.2e-4 for |x| <= 8, a
// hundredth of the step to which these numbers are rounded next.
void gelu(float* x, size_t size, bool tanh) {
  constexpr float kErf[] = {0.39891395f,     -0.066407986f,  0.0098899426f,   -0.0011447382f, 0.00010268495f,
                            -6.9956977e-06f, 3.4649446e-07f, -1.1630688e-08f, 2.3434071e-10f, -2.1248892e-12f};
  constexpr float kTanh[] = {0.39890856f,     -0.066729821f,  0.010122228f,    -0.0012120106f, 0.00011349392f,
                             -8.0687541e-06f, 4.1426537e-07f, -1.4292216e-08f, 2.9372443e-10f, -2.7006177e-12f};
  const float* terms = tanh ? kTanh : kErf;
  const F32x16 most = F32x16{} + 4.25f;
  for (size_t i = 0; i < size; i += 16) {
    const F32x16 v = load16(x + i);
    const F32x16 low = higher(v, -most), z = low < most ? low : most;
    const F32x16 square = z * z;
    F32x16 sum = F32x16{} + terms[9];
#pragma GCC unroll 9
    for (int k = 8; k >= 0; --k) sum = sum * square + terms[k];
    store16(x + i, v * (z * sum + 0.5f));
  }
}

// exp(x) for x <= 0, and 0 below -17, which is less than half of 2^-24.
inline F32x16 exponential(const F32x16& x) {
  const F32x16 clipped = x > F32x16{} - 17.0f ? x : F32x16{} - 17.0f;
  const F32x16 shifted = clipped * 1.44269504f + 12582912.0f;
  const F32x16 r = clipped - (shifted - 12582912.0f) * 0.693147181f;
  F32x16 sum = F32x16{} + 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  I32x16 bits;
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - 0x4B400000 + 127) << 23;
  F32x16 power;
  memcpy(&power, &bits, sizeof(power));
  const F32x16 result = sum * power;
  return x > F32x16{} - 17.0f ? result : F32x16{};
}

// Writes exp(x - highest) * 127 of the first `size` scores as bytes, zeros up to the next multiple of 16, and their
// sums by group. All groups have one scale, the inverse of the sum of all bytes. Scores may be overwritten, and must
// have room for a multiple of 16.
void softmax_row(float* x, size_t size, int8_t* bytes, float* scales, int32_t* sums) {
  const size_t padded = (size + 15) / 16 * 16;
  for (size_t i = size; i < padded; ++i) x[i] = -1e30f;
  F32x16 highest = load16(x);
  for (size_t i = 16; i < padded; i += 16) highest = higher(load16(x + i), highest);
  const float most = highest16(highest);
  int32_t all = 0;
  size_t groups = 0;
  for (size_t begin = 0; begin < padded; begin += kGroupBytes) {
    const size_t end = padded - begin < kGroupBytes ? padded : begin + kGroupBytes;
    I32x16 sum = {};
    for (size_t i = begin; i < end; i += 16) {
      const I32x16 whole = rounded(exponential(load16(x + i) - most) * 127.0f);
      sum += whole;
#if defined(__AVX512BW__)
      __m512i lanes;
      memcpy(&lanes, &whole, sizeof(lanes));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes + i), _mm512_maskz_cvtepi32_epi8(0xFFFF, lanes));
#else
      for (size_t k = 0; k < 16; ++k) bytes[i + k] = static_cast<int8_t>(whole[k]);
#endif
    }
    all += sums[groups++] = total16(sum);
  }
  for (size_t group = 0; group < groups; ++group) scales[group] = 1.0f / static_cast<float>(all);
}

// Packs rows of bytes as the columns of a matrix, with 128 added: row t becomes column t. `size` is a multiple of 4,
// and the columns after the last row, up to a multiple of 16, become zeros.
void pack_columns(const int8_t* rows, size_t count, size_t size, uint8_t* out) {
  const size_t padded = (count + kPanel - 1) / kPanel * kPanel;
  for (size_t t = 0; t < padded; ++t) {
    uint8_t* to = out + t / kPanel * kPanel * size + t % kPanel * 4;
    for (size_t c = 0; c < size; c += 4) {
      uint32_t four = 0;
      if (t < count) memcpy(&four, rows + t * size + c, 4);
      four ^= 0x80808080;
      memcpy(to + c * kPanel, &four, 4);
    }
  }
}

// Packs rows of float32 as the rows of a matrix of bytes, with one scale for each of its `size` columns, a multiple of
// 16. Rows are `stride` numbers apart; those after the last one, up to a multiple of 16, become zeros.
void pack_rows(const float* rows, size_t stride, size_t count, size_t size, float* scales, uint8_t* out) {
  const size_t padded = (count + kPanel - 1) / kPanel * kPanel;
  for (size_t c = 0; c < size; c += kPanel) {
    F32x16 highest = F32x16{} + 1e-30f;
    for (size_t t = 0; t < count; ++t) highest = higher(magnitude(load16(rows + t * stride + c)), highest);
    store16(scales + c, highest / 127.0f);
    const F32x16 inverse = 127.0f / highest;
    uint8_t* to = out + c * padded;
    for (size_t t = 0; t < padded; t += 4, to += 4 * kPanel) {
      I32x16 four = {};
      for (size_t i = 0; i < 4; ++i) {
        I32x16 whole = {};
        if (t + i < count) whole = rounded(load16(rows + (t + i) * stride + c) * inverse);
        four |= (whole + 128) << static_cast<int>(8 * i);
      }
      memcpy(to, &four, sizeof(four));
    }
  }
}

}  // namespace
}  // namespace pychunk
