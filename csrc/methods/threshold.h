// Thresholds over scores. They do not depend on the order in which scores are added, because sums use int64 fixed-point
// numbers.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "common/arithmetic.h"
#include "common/view.h"
#include "document/plan.h"

namespace pychunk {

// Returns numpy.percentile(values, percent), with linear interpolation. It reorders `values`.
double percentile(std::vector<double>& values, double percent);

// Labels each score r_i with 1 if it is at least mean(r) + k * std(r), and else with 0 (PIC, equations 2 to 4). With k
// = 0 the comparison is exact, in integers: n * r_i >= sum(r).
void label_by_mean(std::span<const float> scores, double k, std::vector<int8_t>& labels);

// Returns the threshold that cut_below() uses for these scores of adjacent pairs, of which there must be at least one.
// kGradient is not allowed, since its threshold does not apply to scores.
double threshold_of(std::span<const float> scores, ThresholdKind kind, double parameter);

// Sets cut[i] = 1 if the adjacent score a_i is below the threshold of `kind`, with p = `parameter`:
// - value: p.
// - percentile: numpy.percentile(a, p).
// - std: mean - p std.
// - iqr: mean - p (q75 - q25).
// - gradient: cuts where numpy.gradient(1 - a) is above its own percentile p. If there is only one score, there is a
//   cut.
void cut_below(std::span<const float> scores, ThresholdKind kind, double parameter, std::vector<int8_t>& cut);

// Returns the threshold for each document's scores, which are cosines to the summary (pic) or adjacent cosines
// (semantic). It is NaN for documents without scores, and for kGradient, whose threshold applies to slopes.
std::vector<double> thresholds(const Plan& plan, const Ragged<float>& scores, int threads);

}  // namespace pychunk
