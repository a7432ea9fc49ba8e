// Dot products of float32 vectors as one fixed tree of partial sums, so that every instruction set rounds
// alike: lane k of 32 adds the products k, k + 32, k + 64, ... in order; then the upper half of the lanes is
// added to the lower half, five times. Contraction into fused multiply-add is off for the whole build
// (CMakeLists.txt).
#pragma once
#include "simd.h"

namespace pychunk {
namespace {

constexpr size_t kLanes = kVectorBytes / 4;
constexpr size_t kTree = 32;

typedef float F32 __attribute__((vector_size(kVectorBytes), may_alias));

float dot(const float* a, const float* b, size_t dim) {
  constexpr size_t kRegisters = kTree / kLanes;
  F32 partial[kRegisters] = {};
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
    float x[kTree] = {}, y[kTree] = {};
    memcpy(x, a + i, (dim - i) * sizeof(float));
    memcpy(y, b + i, (dim - i) * sizeof(float));
    step(x, y);
  }
  float lanes[kTree];
  memcpy(lanes, partial, sizeof(lanes));
  for (size_t half = kTree / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) lanes[k] += lanes[k + half];
  return lanes[0];
}

// out[i] = dot(rows[i], v)
void dot_rows(const float* rows, size_t n, size_t dim, const float* v, float* out) {
  for (size_t i = 0; i < n; ++i) out[i] = dot(rows + i * dim, v, dim);
}

// sum[j] += weight * x[j]
void add_scaled(const float* x, size_t dim, float weight, float* sum) {
  for (size_t j = 0; j < dim; ++j) sum[j] += weight * x[j];
}

}  // namespace
}  // namespace pychunk
