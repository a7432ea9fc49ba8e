// Thresholds over scores, independent of the order in which scores are added: sums run over int64 fixed
// point.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/arithmetic.h"
#include "common/view.h"
#include "document/plan.h"

namespace pychunk {

// numpy.percentile(values, percent), linear interpolation; reorders `values`.
double percentile(std::vector<double>& values, double percent);

// Labels of scores r against mean(r) + k * std(r): 1 where r_i is at or above it (PIC, eq. 2-4). With k = 0
// the comparison is exact: n * r_i >= sum(r) in integers.
void label_by_mean(std::span<const float> scores, double k, std::vector<int8_t>& labels);

// The threshold of one or more adjacent scores, as below; not for kGradient, which has none for scores.
double threshold_of(std::span<const float> scores, ThresholdKind kind, double parameter);

// cut[i] = 1 where adjacent score a_i falls under the threshold of `kind`:
//   value: t;  percentile: numpy.percentile(a, p);  std: mean - p std;  iqr: mean - p (q75 - q25);
//   gradient: where numpy.gradient(1 - a) is above its own percentile p (a single score is cut).
void cut_below(std::span<const float> scores, ThresholdKind kind, double parameter, std::vector<int8_t>& cut);

// The threshold that each document's scores are held against (pic: cosines to the summary; semantic: adjacent ones),
// NaN for documents without scores, and for the kind kGradient, whose threshold is for slopes.
std::vector<double> thresholds(const Plan& plan, const Ragged<float>& scores, int threads);

}  // namespace pychunk
