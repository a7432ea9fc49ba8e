// The arithmetic that decides where a text is cut, shared by CPU and GPU code. Both compile this one source and so
// compute the same bits.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__) && !defined(__CUDA_ARCH__)
#include <emmintrin.h>
#endif

// Marks functions that nvcc compiles for host and device. For every other compiler they are plain functions.
#if defined(__CUDACC__)
#define PYCHUNK_BOTH __host__ __device__
#else
#define PYCHUNK_BOTH
#endif

namespace pychunk {

// Returns a score as an integer multiple of 2^-32, rounded. Sums of 2^31 cosines fit in 64 bits, and do not depend on
// the order of additions.
PYCHUNK_BOTH inline int64_t fixed_point(float score) {
#if defined(__SSE2__) && !defined(__CUDA_ARCH__)  // one instruction, where std::nearbyint calls a function
  return _mm_cvtsd_si64(_mm_set_sd(static_cast<double>(score) * 4294967296.0));
#else
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(score) * 4294967296.0));
#endif
}
constexpr double kFixedPointUnit = 1.0 / 4294967296.0;

// Returns 1 / sqrt(squares), the factor that scales a vector to unit length. CPU and GPU compute it in IEEE double and
// round once.
PYCHUNK_BOTH inline float unit_scale(double squares) { return static_cast<float>(1.0 / std::sqrt(squares)); }

// Returns whether a float32 sum of squares is far from overflow and underflow.
PYCHUNK_BOTH inline bool is_plain(float squares) { return squares > 1e-30f && squares < 1e30f; }

// The sums of the fixed-point scores of one document. They are integers, so the order of additions does not matter.
struct Moments {
  int64_t sum = 0, count = 0;
  // The sum of squares in units of 2^-64, as high * 2^32 + low, since one square may need 65 bits.
  int64_t squares_high = 0, squares_low = 0;

  PYCHUNK_BOTH void add(float score) { add_fixed(fixed_point(score)); }
  PYCHUNK_BOTH void add_fixed(int64_t value) {
    const __int128 square = static_cast<__int128>(value) * value;
    sum += value;
    squares_high += static_cast<int64_t>(square >> 32);
    squares_low += static_cast<int64_t>(square & 0xFFFFFFFF);
    ++count;
  }
  PYCHUNK_BOTH double mean() const { return static_cast<double>(sum) / static_cast<double>(count) * kFixedPointUnit; }
  // The standard deviation of the population. It is 0 if all scores are equal, since the difference below is exact.
  PYCHUNK_BOTH double deviation() const {
    const __int128 squares = (static_cast<__int128>(squares_high) << 32) + squares_low;
    const __int128 scaled = squares * count - static_cast<__int128>(sum) * sum;  // below 2^127 for up to 2^31 scores
    return std::sqrt(static_cast<double>(scaled)) / static_cast<double>(count) * kFixedPointUnit;
  }
};

// The threshold of PIC (equations 2 to 4) for n scores r: their mean + k standard deviations. With k = 0 a score r_i is
// compared exactly, in integers, as n * r_i >= sum(r), which is r_i >= the mean rounded up.
struct MeanThreshold {
  bool exact;
  int64_t least_fixed = 0;
  double least = 0.0;

  PYCHUNK_BOTH MeanThreshold(const Moments& moments, double k) : exact(k == 0.0) {
    if (moments.count == 0) return;
    if (exact) {
      const int64_t below = moments.sum / moments.count;  // rounded towards zero
      least_fixed = below + (moments.sum % moments.count > 0);
    } else {
      least = moments.mean() + k * moments.deviation();
    }
  }
  PYCHUNK_BOTH bool reached(float score) const {
    const int64_t value = fixed_point(score);
    return exact ? value >= least_fixed : static_cast<double>(value) * kFixedPointUnit >= least;
  }
};

// Returns how many sentences the extractive summary of a document of n sentences has.
PYCHUNK_BOTH inline int64_t summary_picks(int64_t n) { return 1 + n / 20 < 5 ? 1 + n / 20 : 5; }
// Returns the score that selects the next sentence of the summary. It is high near the mean and low near a sentence
// already chosen.
PYCHUNK_BOTH inline float pick_score(float to_mean, float highest_to_chosen) {
  return to_mean - 0.5f * highest_to_chosen;
}

// The number of rows in one running sum of vectors. A sum of more rows is the sum of such partial sums, in their order,
// so that a GPU can compute them in parallel.
constexpr int64_t kSumRows = 256;

// A float16, stored as its bits.
struct Half {
  uint16_t bits;
};

PYCHUNK_BOTH inline float to_float(Half half) {
#if defined(__CUDA_ARCH__)  // one instruction instead of about ten, exact as they are
  float converted;
  asm("cvt.f32.f16 %0, %1;" : "=f"(converted) : "h"(half.bits));
  return converted;
#else
  const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
  const uint32_t exponent = (half.bits >> 10) & 0x1Fu, fraction = half.bits & 0x3FFu;
  uint32_t bits = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13;
  float value;
  if (exponent == 0) {  // zero, or a subnormal: fraction * 2^-24
    value = static_cast<float>(fraction) * 5.9604644775390625e-8f;
    std::memcpy(&bits, &value, sizeof(bits));
    bits |= sign;
  }
  std::memcpy(&value, &bits, sizeof(value));
  return value;
#endif
}
PYCHUNK_BOTH inline float to_float(float value) { return value; }

}  // namespace pychunk
