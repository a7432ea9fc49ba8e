// log2 by a fixed sequence of IEEE operations: the same bits everywhere, unlike that of the library.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace pychunk {

// log2(1 + n) between powers of two by a straight line.
inline float log_length(int64_t n) {
  const auto value = static_cast<uint64_t>(n + 1);
  const int exponent = 63 - std::countl_zero(value);
  return static_cast<float>(exponent - 1 + std::ldexp(static_cast<double>(value), -exponent));
}

}  // namespace pychunk
