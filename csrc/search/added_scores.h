// The scores from other sources, such as BM25, that the scan of vectors adds to a chunk's score, and the limits that
// follow from them.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "search/scan.h"

namespace pychunk {

constexpr float kBelowAll = -std::numeric_limits<float>::infinity();

inline float with_beside(const ScoredBeside* beside, int64_t q, int64_t chunk, float score) {
  return beside == nullptr ? score : score + beside->weight * beside->scores.row(q)[chunk];
}

// Return the limit that a row's score must exceed if its sum with `added`, or with less, is to exceed `limit`. It
// allows for two roundings, of the sum and its parts, each at most 2^-24 of them, and for one rounding of the result.
inline float limit_without(double added, float limit) {
  if (limit == kBelowAll || !std::isfinite(added)) return kBelowAll;
  const double least = static_cast<double>(limit) - added;
  return static_cast<float>(least - 1e-6 * (std::fabs(static_cast<double>(limit)) + std::fabs(added)) - 1e-37);
}

// Return the score that at least `count` chunks reach, including their added scores. The search for query q begins with
// this limit.
float least_with_beside(const Scan& scan, const float* query, int64_t q, int64_t count, const bool* allowed,
                        const ScoredBeside& beside);

}  // namespace pychunk
