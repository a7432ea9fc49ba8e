// Thresholds over scores, independent of the order in which scores are added: sums run over int64 fixed
// point.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "plan.h"

namespace pychunk {

// A score rounded to 2^-32, as an integer; sums of 2^31 cosines fit.
inline int64_t fixed_point(float score) {
  return static_cast<int64_t>(__builtin_nearbyint(static_cast<double>(score) * 4294967296.0));
}
constexpr double kFixedPointUnit = 1.0 / 4294967296.0;

struct Moments {
  int64_t sum = 0, count = 0;  // of fixed-point scores
  __int128 squares = 0;        // in units of 2^-64: exact, so that equal scores have no deviation at all
  void add(float score) {
    const int64_t value = fixed_point(score);
    sum += value;
    squares += static_cast<__int128>(value) * value;
    ++count;
  }
  double mean() const { return static_cast<double>(sum) / static_cast<double>(count) * kFixedPointUnit; }
  double deviation() const;  // of the population
};

// numpy.percentile(values, percent), linear interpolation; reorders `values`.
double percentile(std::vector<double>& values, double percent);

// Labels of scores r against mean(r) + k * std(r): 1 where r_i is at or above it (PIC, eq. 2-4). With k = 0
// the comparison is exact: n * r_i >= sum(r) in integers.
void label_by_mean(std::span<const float> scores, double k, std::vector<int8_t>& labels);

// cut[i] = 1 where adjacent score a_i falls under the threshold of `kind`:
//   value: t;  percentile: numpy.percentile(a, p);  std: mean - p std;  iqr: mean - p (q75 - q25);
//   gradient: where numpy.gradient(1 - a) is above its own percentile p (a single score is cut).
void cut_below(std::span<const float> scores, ThresholdKind kind, double parameter, std::vector<int8_t>& cut);

}  // namespace pychunk
