// Rows times a matrix in float32, with the same order of additions for every instruction set. Each output adds its
// products one after the other, and the lanes of a register hold different outputs. Contraction to fused multiply-add
// is off for the whole build (CMakeLists.txt).
//
// Lower bound on the cost: n * in * outs multiplications and as many additions. With two pipes of 256 bits for each
// kind of operation, 16 products are computed and added up per cycle. One row of 256 numbers with 32 outputs thus takes
// 512 cycles. Eight sums run in parallel, because an addition waits four cycles for the previous one.
#pragma once
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

}  // namespace
}  // namespace pychunk
