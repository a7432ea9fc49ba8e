// Rows times a matrix in float32, with one order of additions for every instruction set: each output adds its products
// one after the other, and outputs lie in the lanes of a register. Contraction into fused multiply-add is off for the
// whole build (CMakeLists.txt).
//
// Floor: n * in * outs multiplications and as many additions; registers of 16 lanes take 16 of each a cycle where two
// pipes do 256 bits each, so 256 x 32 for one row takes 512 cycles. Eight sums run side by side, as an addition waits
// four cycles for the one before.
#pragma once
#include "vectors/similarity_simd.h"

namespace pychunk {
namespace {

// kRows rows by kRegisters registers of outputs. Loops are unrolled and registers moved one by one: what is copied as
// an array stays in memory, and takes three times as long.
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

// y[t, o] += sum over c of x[t, c] * w[c, o], in the order of c; x has rows `stride` apart, outs is a multiple of 16.
void add_products(const float* x, size_t n, size_t stride, size_t in, const float* w, size_t outs, float* y) {
  size_t o = 0;
  // 16 or 8 sums side by side: instruction sets of 512 bits have 32 registers, the others 16.
  constexpr size_t kRows = kLanes == 16 ? 8 : 4;
  for (; o + 2 * kLanes <= outs; o += 2 * kLanes) products_panel<kRows, 2>(x, n, stride, in, w + o, outs, y + o);
  if constexpr (kLanes == 16)
    for (; o < outs; o += kLanes) products_panel<8, 1>(x, n, stride, in, w + o, outs, y + o);
}

}  // namespace
}  // namespace pychunk
