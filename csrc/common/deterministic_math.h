// A log2 computed by a fixed sequence of IEEE operations. It gives the same bits everywhere, unlike the log2 of the
// standard library.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace pychunk {

// Returns log2(1 + n), interpolated linearly between powers of two.
inline float log_length(int64_t n) {
  const auto value = static_cast<uint64_t>(n + 1);
  const int exponent = 63 - std::countl_zero(value);
  return static_cast<float>(exponent - 1 + std::ldexp(static_cast<double>(value), -exponent));
}

}  // namespace pychunk
