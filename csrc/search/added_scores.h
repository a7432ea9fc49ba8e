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

// Return the limit that a row's score must exceed for its sum with an added score to exceed `limit`, if the added score
// is at most `added`. The limit is low enough for all rounding errors: two of at most 2^-24 of the sum and of its
// parts, and that of the result.
inline float limit_without(double added, float limit) {
  if (limit == kBelowAll || !std::isfinite(added)) return kBelowAll;
  const double least = static_cast<double>(limit) - added;
  return static_cast<float>(least - 1e-6 * (std::fabs(static_cast<double>(limit)) + std::fabs(added)) - 1e-37);
}

// Return a score that at least `count` chunks reach, including their added scores. The search for query q begins with
// it as its limit.
float least_with_beside(const Scan& scan, const float* query, int64_t q, int64_t count, const bool* allowed,
                        const ScoredBeside& beside);

}  // namespace pychunk
