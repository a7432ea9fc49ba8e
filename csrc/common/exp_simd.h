// exp by a fixed sequence of IEEE operations: the same bits everywhere, unlike std::exp, whose last bit hangs on the
// library. Without a call, so that loops run in vectors.
#pragma once
#include "common/simd.h"

namespace pychunk {
namespace {

// exp(x), x brought to [-60, 60]: 2^k exp(r), |r| <= ln(2) / 2, by Taylor's series to r^11 / 11!, whose rest is below
// 2^-46. k is rounded by adding 1.5 * 2^52, whose last bits it then is; they make 2^k.
inline double exact_exp(double x) {
  // 1 / i!, rounded once.
  constexpr double kInverseFactorials[] = {1.0,         1.0,          1.0 / 2,       1.0 / 6,
                                           1.0 / 24,    1.0 / 120,    1.0 / 720,     1.0 / 5040,
                                           1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800};
  constexpr double kRounder = 6755399441055744.0;
  constexpr uint64_t kRounderBits = 0x4338000000000000;
  const double low = x < -60.0 ? -60.0 : x, clipped = low > 60.0 ? 60.0 : low;
  const double shifted = clipped * 1.4426950408889634 + kRounder;
  const double k = shifted - kRounder;
  const double r = clipped - k * 0.6931471805599453;
  double sum = kInverseFactorials[11];
  for (int i = 10; i >= 0; --i) sum = sum * r + kInverseFactorials[i];
  uint64_t bits;
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - kRounderBits + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof(power));
  return sum * power;
}

// x[i] = exp(x[i]). Floor: 22 operations a number in double precision, 8 lanes of 64 bytes.
inline void exponentials(float* x, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] = static_cast<float>(exact_exp(static_cast<double>(x[i])));
}

}  // namespace
}  // namespace pychunk
