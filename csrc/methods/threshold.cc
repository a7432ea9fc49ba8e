#include "methods/threshold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/parallel.h"

namespace pychunk {

double percentile(std::vector<double>& values, double percent) {
  const double position = percent / 100.0 * static_cast<double>(values.size() - 1);
  const size_t below = std::min(static_cast<size_t>(position), values.size() - 1);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[below];
  if (below + 1 == values.size()) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  const double t = position - static_cast<double>(below), gap = high - low;
  return t >= 0.5 ? high - gap * (1.0 - t) : low + gap * t;  // as in NumPy, so that both ends are exact
}

void label_by_mean(std::span<const float> scores, double k, std::vector<int8_t>& labels) {
  Moments moments;
  if (k == 0.0) {  // the mean is enough, without the squares
    for (const float score : scores) moments.sum += fixed_point(score);
    moments.count = static_cast<int64_t>(scores.size());
  } else {
    for (const float score : scores) moments.add(score);
  }
  const MeanThreshold threshold(moments, k);
  labels.resize(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) labels[i] = threshold.reached(scores[i]);
}

double threshold_of(std::span<const float> scores, ThresholdKind kind, double parameter) {
  if (kind == ThresholdKind::kValue) return parameter;
  std::vector<double> values;
  values.reserve(scores.size());
  Moments moments;
  for (const float score : scores) {
    values.push_back(static_cast<double>(fixed_point(score)) * kFixedPointUnit);
    moments.add(score);
  }
  if (kind == ThresholdKind::kPercentile) return percentile(values, parameter);
  const double spread =
      kind == ThresholdKind::kStd ? moments.deviation() : percentile(values, 75.0) - percentile(values, 25.0);
  return moments.mean() - parameter * spread;
}

void cut_below(std::span<const float> scores, ThresholdKind kind, double parameter, std::vector<int8_t>& cut) {
  const size_t n = scores.size();
  cut.assign(n, 0);
  if (n == 0) return;
  std::vector<double> wide(n);
  for (size_t i = 0; i < n; ++i) wide[i] = static_cast<double>(fixed_point(scores[i])) * kFixedPointUnit;
  std::vector<double> values = wide;
  if (kind == ThresholdKind::kGradient) {
    if (n < 2) {  // two sentences have no gradient; LangChain separates them
      cut[0] = 1;
      return;
    }
    std::vector<double> slope(n);
    const auto rise = [&](size_t from, size_t to) { return (1.0 - wide[to]) - (1.0 - wide[from]); };
    for (size_t i = 1; i + 1 < n; ++i) slope[i] = rise(i - 1, i + 1) / 2.0;
    slope[0] = rise(0, 1);
    slope[n - 1] = rise(n - 2, n - 1);
    values = slope;
    const double threshold = percentile(values, parameter);
    for (size_t i = 0; i < n; ++i) cut[i] = slope[i] > threshold;
    return;
  }
  const double threshold = threshold_of(scores, kind, parameter);
  for (size_t i = 0; i < n; ++i) cut[i] = wide[i] < threshold;
}

std::vector<double> thresholds(const Plan& plan, const Ragged<float>& scores, int threads) {
  std::vector<double> out(static_cast<size_t>(scores.size()), std::numeric_limits<double>::quiet_NaN());
  parallel_for(scores.size(), threads, [&](int64_t i) {
    const std::span<const float> own = scores[i];
    double& threshold = out[static_cast<size_t>(i)];
    if (own.empty()) return;
    if (plan.method->scores == Scores::kSentences) {
      Moments moments;
      for (const float score : own) moments.add(score);
      threshold = moments.mean() + plan.k * moments.deviation();
    } else if (plan.threshold != ThresholdKind::kGradient) {
      threshold = threshold_of(own, plan.threshold, plan.threshold_value);
    }
  });
  return out;
}

}  // namespace pychunk
