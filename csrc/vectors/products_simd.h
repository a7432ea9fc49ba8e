// Rows times a matrix in float32, with the same order of additions for every instruction set. Each output adds its
// products one after the other, and the lanes of a register hold different outputs. Contraction to fused multiply-add
// is off for the whole build (CMakeLists.txt).
//
// Lower bound on the cost: n * in * outs multiplications and as many additions. With two pipes of 256 bits for each
// kind of operation, 16 products are computed and added up per cycle. One row of 256 numbers with 32 outputs thus takes
// 512 cycles. Eight sums run in parallel, because an addition waits four cycles for the previous one.
#pragma once
#include "common/kernels.h"
#include "vectors/similarity_simd.h"

namespace pychunk {
namespace {

// Computes kRows rows by kRegisters registers of outputs. Loops are unrolled and registers moved one by one, because a
// copied array stays in memory and takes three times as long.
template <size_t kRows, size_t kRegisters>
inline void products_tile(const float* x, size_t stride, size_t in, const float* w, size_t outs, float* y) {
  F32 sums[kRows][kRegisters];
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t k = 0; k < kRegisters; ++k) memcpy(&sums[r][k], y + r * outs + k * kLanes, sizeof(F32));
#pragma GCC unroll 2
  for (size_t c = 0; c < in; ++c) {
    F32 weights[kRegisters];
#pragma GCC unroll 2
    for (size_t k = 0; k < kRegisters; ++k) memcpy(&weights[k], w + c * outs + k * kLanes, sizeof(F32));
#pragma GCC unroll 8
    for (size_t r = 0; r < kRows; ++r) {
      const float value = x[r * stride + c];
#pragma GCC unroll 2
      for (size_t k = 0; k < kRegisters; ++k) sums[r][k] += value * weights[k];
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t k = 0; k < kRegisters; ++k) memcpy(y + r * outs + k * kLanes, &sums[r][k], sizeof(F32));
}

template <size_t kRows, size_t kRegisters>
inline void products_panel(const float* x, size_t n, size_t stride, size_t in, const float* w, size_t outs, float* y) {
  size_t t = 0;
  for (; t + kRows <= n; t += kRows)
    products_tile<kRows, kRegisters>(x + t * stride, stride, in, w, outs, y + t * outs);
  for (; t < n; ++t) products_tile<1, kRegisters>(x + t * stride, stride, in, w, outs, y + t * outs);
}

// Sets out[o] = x . w[o] for `outs` rows of `size` numbers, a multiple of 32. The sums must fit in 32 bits, so they are
// the same in any order. Four are computed at once, so that each number of x is read once for them. The compiler
// multiplies 8, 16 or 32 numbers by one instruction.
template <size_t kCount>
inline void short_products(const int16_t* x, const int16_t* w, size_t size, int32_t* out) {
  int32_t sums[kCount] = {};
  for (size_t c = 0; c < size; ++c) {
#pragma GCC unroll 4
    for (size_t k = 0; k < kCount; ++k) sums[k] += int32_t{x[c]} * int32_t{w[k * size + c]};
  }
  for (size_t k = 0; k < kCount; ++k) out[k] = sums[k];
}

void dot_shorts(const int16_t* x, const int16_t* w, size_t size, size_t outs, int32_t* out) {
  size &= ~size_t{31};
  size_t o = 0;
  for (; o + 4 <= outs; o += 4) short_products<4>(x, w + o * size, size, out + o);
  for (; o < outs; ++o) short_products<1>(x, w + o * size, size, out + o);
}

// Adds the sum over c of x[t, c] * w[c, o] to y[t, o], in the order of c. Rows of x are `stride` numbers apart, and
// `outs` is a multiple of 16.
void add_products(const float* x, size_t n, size_t stride, size_t in, const float* w, size_t outs, float* y) {
  size_t o = 0;
  // 16 or 8 sums run in parallel, since 512-bit instruction sets have 32 registers and the others 16.
  constexpr size_t kRows = kLanes == 16 ? 8 : 4;
  for (; o + 2 * kLanes <= outs; o += 2 * kLanes) products_panel<kRows, 2>(x, n, stride, in, w + o, outs, y + o);
  if constexpr (kLanes == 16)
    for (; o < outs; o += kLanes) products_panel<8, 1>(x, n, stride, in, w + o, outs, y + o);
}

// Computes kRows rows by kRegisters registers of outputs of convolve(), from column `o` on. The sums stay in registers
// for all taps.
template <size_t kRows, size_t kRegisters>
inline void convolution_tile(const float* in, size_t o, size_t width, const float* w, size_t taps, size_t dilation,
                             const float* bias, float* out) {
  F32 sums[kRows][kRegisters];
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t k = 0; k < kRegisters; ++k) memcpy(&sums[r][k], bias + o + k * kLanes, sizeof(F32));
  const float* x = in - taps / 2 * dilation * width;
  for (size_t tap = 0; tap < taps; ++tap, x += dilation * width, w += width * width) {
#pragma GCC unroll 2
    for (size_t c = 0; c < width; ++c) {
      F32 weights[kRegisters];
#pragma GCC unroll 2
      for (size_t k = 0; k < kRegisters; ++k) memcpy(&weights[k], w + c * width + o + k * kLanes, sizeof(F32));
#pragma GCC unroll 8
      for (size_t r = 0; r < kRows; ++r) {
        const float value = x[r * width + c];
#pragma GCC unroll 2
        for (size_t k = 0; k < kRegisters; ++k) sums[r][k] += value * weights[k];
      }
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (size_t k = 0; k < kRegisters; ++k) {
      F32 own;
      memcpy(&own, in + r * width + o + k * kLanes, sizeof(own));
      own += sums[r][k] > F32{} ? sums[r][k] : F32{};
      memcpy(out + r * width + o + k * kLanes, &own, sizeof(own));
    }
}

// Sets out[t] = in[t] + max(0, bias + sum of in[t + (tap - taps / 2) * dilation, c] * w[tap * width + c]) for t < n, in
// the order of the taps and then of c. Rows that taps read before row 0 and after row n must be there, as must the rows
// of `out` up to the next multiple of kConvolvedRows (kernels.h), which it overwrites.
//
// Budget: 3,072 products of a layer of 32 channels with three taps take 192 cycles of two 256-bit pipes, 1,270
// instructions. A row of 128 bytes is read four times, from the first-level cache.
void convolve(const float* in, size_t n, size_t width, const float* w, size_t taps, size_t dilation, const float* bias,
              float* out) {
  constexpr size_t kRows = kLanes == 16 ? 8 : 4;
  static_assert(kConvolvedRows % kRows == 0);
  size_t o = 0;
  for (; o + 2 * kLanes <= width; o += 2 * kLanes)
    for (size_t t = 0; t < n; t += kRows)
      convolution_tile<kRows, 2>(in + t * width, o, width, w, taps, dilation, bias, out + t * width);
  if constexpr (kLanes == 16)
    for (; o < width; o += kLanes)
      for (size_t t = 0; t < n; t += kRows)
        convolution_tile<kRows, 1>(in + t * width, o, width, w, taps, dilation, bias, out + t * width);
}

}  // namespace
}  // namespace pychunk
